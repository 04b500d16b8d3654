import DatasyncHTTP
import OfflineSync
import SeededNumbers
import SyncContract
import Testing

@Suite("Pulling from a real server")
struct PullTests {
    @Test("rows come over pages, changes and deletions follow", arguments: DatasyncDialect.allCases)
    func incremental(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect, pageSize: 3, age: 60_000) { world in
            for index in 0..<10 { try await world.phone.table.insert(["text": .string("\(index)")], id: "i\(index)") }
            _ = try await world.phone.context.push()
            let first = try await world.laptop.pull()
            #expect(first.received == 10 && first.deleted == 0)
            #expect(try await world.laptop.texts() == world.onServer())

            let idle = try await world.laptop.pull()
            #expect(idle.received == 0 && idle.deleted == 0)
            #expect(idle.requests == 1)

            try await world.phone.table.update(Record(id: "i3", ["text": "new"]))
            try await world.phone.table.delete("i5")
            _ = try await world.phone.context.push()
            let second = try await world.laptop.pull()
            #expect(second.received == 1 && second.deleted == 1)
            #expect(try await world.laptop.texts() == world.onServer())
        }
    }

    @Test("what a device pushed itself is not news to it", arguments: DatasyncDialect.allCases)
    func ownChanges(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.phone.table.insert(["text": "milk"], id: "a")
            let report = try await world.phone.pull()
            #expect(report.push?.pushed == 1)
            #expect(report.received == 0)
        }
    }

    @Test("a full pull brings everything again, a predicate bounds it", arguments: DatasyncDialect.allCases)
    func full(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect, pageSize: 2) { world in
            for index in 0..<5 {
                try await world.phone.table.insert(
                    ["text": .string("\(index)"), "complete": .bool(index < 3)],
                    id: "i\(index)"
                )
            }
            _ = try await world.phone.context.push()
            let table = world.laptop.table
            let done = table.query.filtered(by: Column("complete") == true)
            let everything = PullOptions(reconciles: true)
            #expect(try await world.laptop.context.pull(done, options: everything).received == 3)
            #expect(try await world.laptop.context.pull(table.query.limited(to: 4), options: everything).received == 1)
            #expect(try await world.laptop.context.pull(table.query, options: everything).received == 1)
            try await world.laptop.store.delete(table.query)
            #expect(try await world.laptop.context.pull(table.query, options: everything).received == 5)
        }
    }

    @Test("a query id with another predicate starts from the beginning")
    func changedPredicate() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.phone.table.insert(["text": "a", "complete": true], id: "a")
            try await world.phone.table.insert(["text": "b", "complete": false], id: "b")
            _ = try await world.phone.context.push()
            let table = world.laptop.table
            #expect(try await table.pull(queryID: "q", where: Column("complete") == false).received == 1)
            #expect(try await table.pull(queryID: "q", where: Column("complete") == true).received == 1)
        }
    }

    @Test("a purge empties the table, and its next pull brings everything, unless told otherwise")
    func purge() async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            try await world.shareItem("a")
            try await world.shareItem("b")
            try await world.laptop.table.purge(resettingDeltaTokens: false)
            #expect(try await world.laptop.texts().isEmpty)
            try await world.laptop.pull()
            #expect(try await world.laptop.texts().isEmpty)
            try await world.laptop.table.purge()
            try await world.laptop.pull()
            #expect(try await world.laptop.texts() == world.onServer())
        }
    }

    @Test("a forced purge forgets changes, conflicts and tokens")
    func forcePurge() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            #expect(try await world.laptop.table.forcePurge() == 1, "one change given up")
            #expect(try await world.laptop.context.operations().isEmpty)
            #expect(try await world.laptop.pull().received == 1)
            #expect(try await world.laptop.text("a") == "milk")
        }
    }

    @Test("a pull leaves a row with a waiting change alone while others come", arguments: DatasyncDialect.allCases)
    func pendingRows(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            try await world.phone.table.insert(["text": "other"], id: "b")
            _ = try await world.phone.context.push()
            try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            let report = try await world.laptop.pull()
            #expect(report.received == 1 && report.skipped >= 1)
            #expect(try await world.laptop.texts() == ["a": "mine", "b": "other"])
        }
    }

    @Test("queries that a pull cannot honour are refused before anything is sent")
    func invalidQueries() async throws {
        try await SyncWorld.with(.datasync) { world in
            let (context, query) = (world.laptop.context, world.laptop.table.query)
            for invalid in [
                query.ordered(by: "text"), query.skipping(1), query.selecting(["text"]), query.countingAll(),
                query.limited(to: 3),
            ] {
                let code = try await syncErrorCode { try await context.pull(invalid, queryID: "q") }
                #expect(code == .invalidParameter)
            }
            #expect(try await syncErrorCode { try await context.pull(query, queryID: "") } == .invalidParameter)
            var deep = Column("text") == "x"
            for _ in 0..<5_000 { deep = .not(deep) }
            for invalid in [query.filtered(by: deep), query.filtered(by: Column("nope").length == 1)] {
                let error = await #expect(throws: StoreError.self) { try await context.pull(invalid, queryID: "q") }
                #expect(error?.code == .invalidQuery)
            }
            #expect(world.laptop.server.requestCount == 0)
        }
    }

    @Test("a pull is bounded by what is computed, on every page and by id", arguments: DatasyncDialect.allCases)
    func computed(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect, pageSize: 2) { world in
            for text in ["a", "  bb ", "ccc", "BB", "dd"] {
                try await world.phone.table.insert(["text": .string(text)], id: "id-\(text.count)\(text)")
            }
            _ = try await world.phone.context.push()
            let two = world.laptop.table.query.filtered(by: Column("text").trimmed.length % 2 == 0)
            #expect(try await world.laptop.context.pull(two, queryID: "two").received == 3)
            #expect(Set(try await world.laptop.texts().values) == ["  bb ", "BB", "dd"])
            #expect(try await world.laptop.context.pull(two, queryID: "two").received == 0)
        }
    }

    @Test("random changes on two devices converge when all is quiet", arguments: DatasyncDialect.allCases)
    func convergence(_ dialect: DatasyncDialect) async throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        try await SyncWorld.with(dialect, pageSize: 4) { world in
            for step in 0..<150 {
                let device = Bool.random(using: &random) ? world.phone : world.laptop
                let id = "i\(Int.random(in: 0..<12, using: &random))"
                switch Int.random(in: 0..<10, using: &random) {
                case 0...2:
                    // Refused when the id is in use: also a case to go through.
                    _ = try await syncErrorCode { try await device.table.insert(["text": .string("\(step)")], id: id) }
                case 3...5:
                    if try await device.text(id) != nil {
                        try await device.table.update(Record(id: .string(id), ["text": .string("\(step)")]))
                    }
                case 6: if try await device.text(id) != nil { try await device.table.delete(id) }
                case 7: device.server.intercept(Bool.random(using: &random) ? .answerLost : .requestLost)
                default: _ = try await syncErrorCode { try await device.pull() }
                }
            }
            for round in 0..<8 {
                for device in [world.phone, world.laptop] {
                    // From here on nothing is lost: what is left of the losses would come when all is quiet.
                    if round == 4 { device.server.clearInterceptions() }
                    _ = try await syncErrorCode { try await device.pull() }
                    for error in try await device.context.operationErrors() {
                        let resolutions: [ConflictResolution<Record>] = [.keepMine, .takeServer, .discard]
                        let resolution = round < 4 ? resolutions.randomElement(using: &random) : .takeServer
                        try await device.context.resolve(error, with: resolution ?? .takeServer)
                    }
                }
            }
            for _ in 0..<2 { for device in [world.phone, world.laptop] { try await device.pull() } }
            let server = world.onServer()
            #expect(try await world.phone.texts() == server, "seed \(seed)")
            #expect(try await world.laptop.texts() == server, "seed \(seed)")
            #expect(try await world.phone.context.operations().isEmpty, "seed \(seed)")
            #expect(try await world.laptop.context.operations().isEmpty, "seed \(seed)")
        }
    }
}
