import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import RemoteContract
import SyncContract
import Testing

/// The change was dropped and the local row stayed, where the server had none.
@Suite("A row that was kept where the server has none")
struct KeptOverNothingTests {
    private let reconciling = PullOptions(order: .pullOnly, reconciles: true)

    /// A row is changed here, is not on the server any more, and is kept all the same.
    private func keep(_ world: SyncWorld, deletes: Bool) async throws {
        let laptop = world.laptop
        try await world.shareItem()
        if deletes {
            try await world.phone.table.delete("a")
            #expect(try await world.phone.context.push().pushed == 1)
        } else {
            world.emulator.reset()
        }
        try await laptop.table.update(Record(id: "a", ["text": "mine"]))
        #expect(try await laptop.context.push().conflicts.count == 1)
        try await laptop.context.resolve(try await laptop.onlyError(), with: .keepLocal())
    }

    @Test(
        "stays when a pull reconciles, and the next change makes it anew, or brings it back",
        arguments: DatasyncDialect.allCases,
        [false, true]
    )
    func reconciled(_ dialect: DatasyncDialect, deletes: Bool) async throws {
        try await SyncWorld.with(dialect) { world in
            let laptop = world.laptop
            try await keep(world, deletes: deletes)
            #expect(try await laptop.table.pull(options: reconciling).deleted == 0)
            #expect(try await laptop.text("a") == "mine")
            try await laptop.table.update(Record(id: "a", ["text": "later"]))
            #expect(try await laptop.context.push().notTaken.isEmpty)
            #expect(world.onServer() == ["a": "later"])
            // It is one like all others again.
            world.emulator.reset()
            #expect(try await laptop.table.pull(options: reconciling).deleted == 1)
        }
    }

    @Test(
        "is gone with the next pull when the change is given up instead",
        arguments: DatasyncDialect.allCases,
        [false, true]
    )
    func givenUp(_ dialect: DatasyncDialect, reverts: Bool) async throws {
        try await SyncWorld.with(dialect) { world in
            let laptop = world.laptop
            try await world.shareItem()
            world.emulator.reset()
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            #expect(try await laptop.context.push().conflicts.count == 1)
            if reverts {
                try await laptop.table.revert("a")
            } else {
                try await laptop.context.resolve(try await laptop.onlyError(), with: .discard)
            }
            try await laptop.pull()
            #expect(try await laptop.texts().isEmpty)
            #expect(try await laptop.context.operations().isEmpty)
        }
    }

    @Test("stays when a pull reconciles while its insert may still arrive", arguments: DatasyncDialect.allCases)
    func insertUnderWay(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "mine"], id: "a")
            laptop.server.intercept(.late)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            world.emulator.inject(.respond(EmulatorResponse(422), times: 1) { $0.method == "POST" })
            #expect(try await laptop.context.push().failures.count == 1)
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepLocal())
            #expect(try await laptop.table.pull(options: reconciling).deleted == 0)
            #expect(try await laptop.text("a") == "mine")
            await laptop.server.deliver()
            try await laptop.table.update(Record(id: "a", ["text": "later"]))
            #expect(try await laptop.context.push().notTaken.isEmpty)
            #expect(world.onServer() == ["a": "later"])
        }
    }

    @Test("stays when it is asked for, because a pull had passed a row over", arguments: DatasyncDialect.allCases)
    func askedFor(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect, keepsTombstones: false) { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await world.shareItem()
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            try await phone.table.update(Record(id: "a", ["text": "theirs"]))
            #expect(try await phone.context.push().pushed == 1)
            #expect(try await laptop.table.pull(queryID: "all", options: .init(order: .pullOnly)).skipped == 1)
            try await phone.table.delete("a")
            #expect(try await phone.context.push().pushed == 1)
            #expect(try await laptop.context.push().conflicts.map(\.isMissingOnServer) == [true])
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepLocal())
            for _ in 1...2 { #expect(try await laptop.pull().deleted == 0) }
            #expect(try await laptop.text("a") == "mine")
            try await laptop.table.update(Record(id: "a", ["text": "later"]))
            #expect(try await laptop.context.push().notTaken.isEmpty)
            #expect(world.onServer() == ["a": "later"])
        }
    }

    @Test(
        "stays when the server has lost its history, unless what is only here is given up",
        arguments: [false, true],
        [false, true]
    )
    func reset(discards: Bool, showsTombstone: Bool) async throws {
        let server = HistoryServer()
        let context = SyncContext(store: try makeStore(), remote: server)
        let table = try context.table("TodoItem")
        for id in ["gone", "deleted", "there"] { server.write(id, id) }
        try await table.pull()
        server.write("deleted", nil)
        server.write("there", "theirs")
        server.remove("gone")
        for id in ["gone", "deleted", "there"] { try await table.update(Record(id: .string(id), ["text": "mine"])) }
        for conflict in try await context.push().conflicts { try await context.resolve(conflict, with: .keepLocal()) }
        #expect(try await texts(context) == ["gone": "mine", "deleted": "mine", "there": "mine"])
        server.reset(to: ["b": "b"])
        if showsTombstone { server.bury("deleted") }
        _ = try await context.reset(onto: [FreshPull(Query("TodoItem"))], discardsChanges: discards)
        try await context.endReset()
        #expect(try await texts(context) == (discards ? ["b": "b"] : ["gone": "mine", "deleted": "mine", "b": "b"]))
        guard !discards else { return }
        for id in ["gone", "deleted"] { try await table.update(Record(id: .string(id), ["text": "later"])) }
        #expect(try await context.push().notTaken.isEmpty)
        #expect(server.texts == ["gone": "later", "deleted": "later", "b": "b"])
    }

    @Test("and changed since goes on when the server has lost its history, and is made anew")
    func resetWithChange() async throws {
        let server = HistoryServer()
        let context = SyncContext(store: try makeStore(), remote: server)
        let table = try context.table("TodoItem")
        server.write("a", "a")
        try await table.pull()
        server.remove("a")
        try await table.update(Record(id: "a", ["text": "mine"]))
        let conflict = try #require(try await context.push().conflicts.first)
        try await context.resolve(conflict, with: .keepLocal())
        try await table.update(Record(id: "a", ["text": "later"]))
        server.reset(to: [:])
        let report = try await context.reset(onto: [FreshPull(Query("TodoItem"))], discardsChanges: false)
        try await context.endReset()
        #expect(report.recovered == 1 && report.waiting == 1)
        #expect(try await context.push().notTaken.isEmpty)
        #expect(server.texts == ["a": "later"])
    }

    @Test(
        "is one like all others when it was given up for the row that others have brought back",
        arguments: [true, false]
    )
    func broughtBack(_ deletes: Bool) async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await keep(world, deletes: deletes)
            try await laptop.table.update(Record(id: "a", ["text": "later"]))
            if !deletes { try await phone.table.delete("a") }
            _ = try await phone.context.push()
            try await phone.table.insert(["text": "back"], id: "a")
            #expect(try await phone.context.push().notTaken.isEmpty)
            try await laptop.context.pull(laptop.table, options: .init(order: .pullOnly))
            try await laptop.table.revert("a")
            #expect(try await laptop.text("a") == "back")
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            laptop.server.intercept(.requestLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            #expect(try await laptop.context.push().notTaken.isEmpty, "nobody has changed it")
            #expect(world.onServer() == ["a": "mine"])
            world.emulator.reset()
            #expect(try await laptop.table.pull(options: reconciling).deleted == 1)
        }
    }

    @Test(
        "is there again when its deletion, which was to be sent in vain, is taken back",
        arguments: DatasyncDialect.allCases,
        [false, true]
    )
    func deletedInVain(_ dialect: DatasyncDialect, deletes: Bool) async throws {
        try await SyncWorld.with(dialect) { world in
            let laptop = world.laptop
            try await keep(world, deletes: deletes)
            try await laptop.table.delete("a")
            world.emulator.inject(.respond(EmulatorResponse(401), times: 1) { $0.method != "GET" })
            #expect(try await syncErrorCode { _ = try await laptop.context.push() } == .pushAbortedAuthentication)
            try await laptop.table.undoDelete("a")
            #expect(try await laptop.text("a") == "mine")
            #expect(try await laptop.context.operations().isEmpty)
            #expect(try await laptop.table.pull(options: reconciling).deleted == 0)
            #expect(try await laptop.text("a") == "mine")
            try await laptop.table.update(Record(id: "a", ["text": "later"]))
            #expect(try await laptop.context.push().notTaken.isEmpty)
            #expect(world.onServer() == ["a": "later"])
        }
    }
}
