import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("Rows whose ids differ in case only, on a server that keeps both")
struct CaseCollisionTests {
    private func seed(_ ids: [String], _ world: SyncWorld) throws {
        try world.emulator.seed(ids.map { ["id": .string($0), "text": .string("of \($0)")] }, in: "TodoItem")
    }

    @Test("a page with both: each is named with the other and the remedy, and no pull merges them")
    func onePage() async throws {
        try await SyncWorld.with(.azureMobileApps, age: 60_000) { world in
            try seed(["k1", "K1", "b"], world)
            let first = try await world.laptop.pull()
            #expect(Set(first.setAside.map(\.id)) == ["k1", "K1"])
            #expect(first.setAside.allSatisfy { $0.reason.contains("idComparison: .exact and wireName: \"TodoItem\"") })
            #expect(try await world.laptop.texts() == ["b": "of b"])
            for _ in 1...3 {
                try await world.laptop.pull()
                #expect(try await world.laptop.context.setAsideRows().map(\.itemID).sorted() == ["K1", "k1"])
                for (id, text) in try await world.laptop.texts() { #expect(text == "of \(id)") }
            }
        }
    }

    @Test("are not in a log, which names no ids")
    func log() async throws {
        try await SyncWorld.with(.azureMobileApps, age: 60_000) { world in
            try seed(["k1", "K1"], world)
            var events = world.laptop.context.events.makeAsyncIterator()
            try await world.laptop.pull()
            var lines: [String] = []
            while lines.count < 2, let event = await events.next() {
                if case .rowSetAside = event { lines.append(event.logLine) }
            }
            #expect(
                lines.allSatisfy { $0.contains("the server also has another spelling, which table 'TodoItem'") },
                "\(lines)"
            )
            #expect(!lines.joined().lowercased().contains("k1"))
        }
    }

    @Test("one that comes later is named, and the row that is here stays")
    func later() async throws {
        try await SyncWorld.with(.azureMobileApps, age: 60_000) { world in
            try seed(["k1"], world)
            #expect(try await world.laptop.pull().setAside.isEmpty)
            try seed(["K1"], world)
            let report = try await world.laptop.pull()
            #expect(report.setAside.contains { $0.id == "K1" && $0.reason.contains("'k1'") })
            let listed = try await world.laptop.context.setAsideRows().map(\.itemID)
            #expect(listed == ["K1"], "\(listed)")
            #expect(try await world.laptop.texts() == ["k1": "of k1"])
        }
    }

    @Test("are named while everything is brought anew, on one page and on two", arguments: [1, 50])
    func reset(_ pageSize: Int) async throws {
        try await SyncWorld.with(.azureMobileApps, age: 60_000) { world in
            try seed(["k1", "K1", "b"], world)
            let (context, all) = (world.laptop.context, Query("TodoItem"))
            let pull = FreshPull(all, options: .init(pageSize: pageSize))
            _ = try await context.reset(onto: [pull], discardsChanges: false)
            try await context.endReset()
            let listed = Set(try await context.setAsideRows().map(\.itemID))
            let here = Set(try await world.laptop.texts().keys)
            #expect(listed.union(here) == ["k1", "K1", "b"] && here.contains("b"), "\(listed), \(here)")
            for (id, text) in try await world.laptop.texts() { #expect(text == "of \(id)") }
            #expect(try await world.laptop.store.verifyQueue().isEmpty)
        }
    }

    @Test("a row that was deleted hides none of another spelling while everything is brought anew")
    func resetOverTombstone() async throws {
        try await SyncWorld.with(.azureMobileApps, age: 60_000) { world in
            try world.emulator.seed([["id": "AB", "text": "gone", "deleted": true]], in: "TodoItem")
            try seed(["ab"], world)
            let context = world.laptop.context
            let pull = FreshPull(Query("TodoItem"), options: .init(pageSize: 1))
            _ = try await context.reset(onto: [pull], discardsChanges: false)
            #expect(try await world.laptop.texts() == ["ab": "of ab"])
            #expect(try await context.setAsideRows().isEmpty)
            try await context.endReset()
        }
    }

    @Test("one that comes while a change of the row here waits is named: the change is not taken for one of it")
    func besideAChange() async throws {
        try await SyncWorld.with(.azureMobileApps, age: 60_000) { world in
            let laptop = world.laptop
            try seed(["k1"], world)
            try await laptop.pull()
            try await laptop.table.update(Record(id: "k1", ["text": "mine"]))
            try seed(["K1"], world)
            let report = try await laptop.context.pull(laptop.table, queryID: "all", options: .init(order: .pullOnly))
            #expect(report.setAside.contains { $0.id == "K1" && $0.reason.contains("'k1'") })
            #expect(report.skipped == 0)
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["k1": "mine", "K1": "of K1"])
        }
    }

    /// The phone removes k1 for good, and K1 is made.
    private func remake(_ world: SyncWorld, _ id: String = "k1", as other: String = "K1") async throws {
        try await world.phone.pull()
        try await world.phone.table.delete(id)
        _ = try await world.phone.context.push()
        try seed([other], world)
    }

    @Test("a row that was removed for good and made anew is no other one", arguments: [false, true], [false, true])
    func madeAnew(_ ignoresCase: Bool, _ reconciles: Bool) async throws {
        try await SyncWorld.with(
            .azureMobileApps,
            keepsTombstones: false,
            ignoresCase: ignoresCase,
            age: 60_000
        ) { world in
            let laptop = world.laptop
            try seed(["k1", "b"], world)
            try await laptop.pull()
            try await remake(world)
            let report = try await laptop.context.pull(laptop.table, options: .init(reconciles: reconciles))
            #expect(report.setAside.isEmpty)
            #expect(try await laptop.texts() == ["K1": "of K1", "b": "of b"])
            #expect(try await laptop.context.setAsideRows().isEmpty)
            try await laptop.table.update(Record(id: "K1", ["text": "mine"]))
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["K1": "mine", "b": "of b"])
        }
    }

    @Test("a change of a row that was removed for good and made anew is in conflict with the new one")
    func madeAnewBesideAChange() async throws {
        try await SyncWorld.with(
            .azureMobileApps,
            keepsTombstones: false,
            ignoresCase: true,
            age: 60_000
        ) { world in
            let laptop = world.laptop
            try seed(["k1"], world)
            try await laptop.pull()
            try await laptop.table.update(Record(id: "k1", ["text": "mine"]))
            try await remake(world)
            let report = try await laptop.context.pull(laptop.table, queryID: "all", options: .init(order: .pullOnly))
            #expect(report.setAside.isEmpty && report.skipped == 1)
            #expect(try await laptop.context.push().conflicts.count == 1)
            let error = try await laptop.onlyError()
            #expect(error.serverItem?["text"] == "of K1")
            #expect(world.onServer() == ["K1": "of K1"])
        }
    }

    /// In which order the server has deleted one and made the other, and whether a pull brings both on one page.
    static let changes = [(true, nil), (true, 1), (false, nil), (false, 1)] as [(Bool, Int?)]

    /// A laptop that has k1, which the phone deletes before or after K1 is made on a server that keeps both.
    private func deleted(
        _ isFirst: Bool,
        before: (SyncWorld.Device) async throws -> Void = { _ in },
        _ body: (SyncWorld, SyncWorld.Device) async throws -> Void
    ) async throws {
        try await SyncWorld.with(.azureMobileApps, age: 60_000) { world in
            try seed(["k1", "b"], world)
            try await world.laptop.pull()
            try await world.phone.pull()
            try await before(world.laptop)
            if !isFirst { try seed(["K1"], world) }
            try await world.phone.table.delete("k1")
            _ = try await world.phone.context.push()
            if isFirst { try seed(["K1"], world) }
            try await body(world, world.laptop)
        }
    }

    @Test("one that was deleted hides none that was made instead, nor keeps it away", arguments: changes)
    func deletedAndMadeAnew(_ isFirst: Bool, _ pageSize: Int?) async throws {
        for reconciles in [false, true] {
            try await deleted(isFirst) { world, laptop in
                let options = PullOptions(reconciles: reconciles, pageSize: pageSize)
                let report =
                    if reconciles {
                        try await laptop.context.pull(laptop.table, options: options)
                    } else {
                        try await laptop.context.pull(laptop.table, queryID: "all", options: options)
                    }
                #expect(report.setAside.isEmpty, "\(report.setAside)")
                #expect(try await laptop.texts() == ["K1": "of K1", "b": "of b"])
                #expect(try await laptop.context.setAsideRows().isEmpty)
                try await laptop.table.update(Record(id: "K1", ["text": "mine"]))
                #expect(try await laptop.context.push().pushed == 1)
                #expect(world.onServer() == ["K1": "mine", "b": "of b"])
            }
        }
    }

    @Test("a change of one that was deleted is in conflict, and what was made instead comes", arguments: changes)
    func deletedAndMadeAnewBesideAChange(_ isFirst: Bool, _ pageSize: Int?) async throws {
        for keepsMine in [false, true] {
            try await deleted(isFirst) { laptop in
                try await laptop.table.update(Record(id: "k1", ["text": "mine"]))
            } _: { world, laptop in
                let options = PullOptions(order: .pullOnly, pageSize: pageSize)
                let report = try await laptop.context.pull(laptop.table, queryID: "all", options: options)
                #expect(report.setAside.isEmpty && report.skipped == (pageSize == nil ? 1 : 2), "\(report.setAside)")
                #expect(try await laptop.texts()["k1"] == "mine")
                #expect(try await laptop.context.push().conflicts.count == 1)
                let error = try await laptop.onlyError()
                #expect(error.serverItem?.isDeleted == true)
                try await laptop.context.resolve(error, with: keepsMine ? .keepMine : .takeServer)
                #expect(try await laptop.context.push().notTaken.isEmpty)
                try await laptop.pull()
                #expect(
                    try await laptop.texts()
                        == ["b": "of b"].merging(keepsMine ? ["k1": "mine"] : ["K1": "of K1"]) { $1 }
                )
                // The write has shown by how much the server's stamps lag: the pull goes back, and both come on one page.
                let setAside = try await laptop.context.setAsideRows().map(\.itemID).sorted()
                #expect(setAside == (keepsMine ? ["K1", "k1"] : []))
                #expect(world.onServer().count == (keepsMine ? 3 : 2) && world.onServer()["K1"] == "of K1")
                #expect(try await laptop.pull().requests == 1, "nothing is asked for by every pull")
            }
        }
    }

    @Test("the tombstone of one that was set aside ends that, and leaves the other alone", arguments: [nil, 1])
    func setAsideAndDeleted(_ pageSize: Int?) async throws {
        try await SyncWorld.with(.azureMobileApps, age: 60_000) { world in
            let laptop = world.laptop
            try seed(["K1"], world)
            try await world.phone.pull()
            try seed(["k1"], world)
            try await laptop.context.pull(laptop.table, queryID: "all", options: .init(pageSize: 1))
            #expect(try await laptop.context.setAsideRows().map(\.itemID) == ["k1"])
            #expect(try await laptop.texts() == ["K1": "of K1"])
            try world.emulator.seed([["id": "k1", "text": "gone", "deleted": true]], in: "TodoItem")
            let options = PullOptions(pageSize: pageSize)
            let report = try await laptop.context.pull(laptop.table, queryID: "all", options: options)
            #expect(report.setAside.isEmpty && report.deleted == 0)
            #expect(try await laptop.texts() == ["K1": "of K1"])
            #expect(try await laptop.context.setAsideRows().isEmpty)
        }
    }

    @Test("the one that is left of two takes the place of the other with the next pull of everything")
    func oneLeft() async throws {
        try await SyncWorld.with(.azureMobileApps, keepsTombstones: false, age: 60_000) { world in
            let laptop = world.laptop
            try seed(["k1"], world)
            try await laptop.pull()
            try await world.phone.pull()
            try seed(["K1"], world)
            try await laptop.pull()
            #expect(try await laptop.context.setAsideRows().map(\.itemID) == ["K1"])
            try await world.phone.table.delete("k1")
            _ = try await world.phone.context.push()
            try await laptop.context.pull(laptop.table, options: .init(reconciles: true))
            #expect(try await laptop.texts() == ["K1": "of K1"])
            #expect(try await laptop.context.setAsideRows().isEmpty)
        }
    }

    @Test("one that was set aside and is gone leaves the list, though the other spelling comes")
    func gone() async throws {
        try await SyncWorld.with(.azureMobileApps, keepsTombstones: false, age: 60_000) { world in
            let laptop = world.laptop
            try seed(["K1"], world)
            try await world.phone.pull()
            try seed(["k1"], world)
            try await laptop.pull()
            #expect(try await laptop.context.setAsideRows().map(\.itemID).sorted() == ["K1", "k1"])
            try await world.phone.table.delete("K1")
            _ = try await world.phone.context.push()
            try await laptop.context.pull(laptop.table, options: .init(reconciles: true))
            #expect(try await laptop.texts() == ["k1": "of k1"])
            #expect(try await laptop.context.setAsideRows().isEmpty)
        }
    }

    @Test("a row that is only here is not another one: the server's spelling is taken")
    func ownSpelling() async throws {
        try await SyncWorld.with(.azureMobileApps) { world in
            try await world.laptop.store.write { transaction in
                try transaction.upsert([Record(id: "k1", ["text": "draft"])], into: "TodoItem")
            }
            try seed(["K1"], world)
            #expect(try await world.laptop.pull().setAside.isEmpty)
            #expect(try await world.laptop.texts() == ["K1": "of K1"])
        }
    }
}
