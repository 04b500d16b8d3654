import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

@Suite("Pushing to a real server")
struct PushTests {
    @Test("changes arrive in order and the queue is empty afterwards", arguments: DatasyncDialect.allCases)
    func push(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            let (phone, table) = (world.phone, world.phone.table)
            try await table.insert(["text": "milk", "complete": false], id: "a")
            try await table.insert(
                ["text": "bread", "due": .date(Timestamp(milliseconds: 1_700_000_000_123))],
                id: "b"
            )
            let report = try await phone.context.push()
            #expect(report.pushed == 2)
            #expect(world.onServer() == ["a": "milk", "b": "bread"])
            #expect(try await phone.context.operations().isEmpty)
            let version = try #require(try await table.read("a")?.version)

            try await table.update(Record(id: "a", ["text": "cream"]))
            try await table.delete("b")
            #expect(try await phone.context.push().pushed == 2)
            #expect(world.onServer() == ["a": "cream"])
            #expect(try await table.read("a")?.version != version, "the new version was taken over")
            #expect(try await phone.context.push().requests == 0)
        }
    }

    @Test("an insert that was deleted before the push is never sent", arguments: DatasyncDialect.allCases)
    func insertAndDelete(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.phone.table.insert(["text": "milk"], id: "a")
            try await world.phone.table.delete("a")
            #expect(try await world.phone.context.push().requests == 0)
        }
    }

    @Test(
        "an edit while the insert is under way is kept and sent by the next push",
        arguments: DatasyncDialect.allCases
    )
    func editUnderWay(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            let (phone, table) = (world.phone, world.phone.table)
            try await table.insert(["text": "milk"], id: "a")
            phone.server.intercept(.whileUnderWay { try await table.update(Record(id: "a", ["text": "cream"])) })
            _ = try await phone.context.push()
            #expect(try await phone.text("a") == "cream", "the answer did not overwrite the edit")
            #expect(try await phone.context.operations().map(\.kind) == [.update])
            #expect(
                try await phone.context.push().conflicts.isEmpty,
                "the new version was taken over: no false conflict"
            )
            #expect(world.onServer() == ["a": "cream"])
        }
    }

    @Test("an edit while an update is under way meets no false conflict", arguments: DatasyncDialect.allCases)
    func editDuringUpdate(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let (phone, table) = (world.phone, world.phone.table)
            try await table.update(Record(id: "a", ["text": "cream"]))
            phone.server.intercept(.whileUnderWay { try await table.update(Record(id: "a", ["text": "butter"])) })
            _ = try await phone.context.push()
            #expect(try await phone.context.push().conflicts.isEmpty)
            #expect(world.onServer() == ["a": "butter"])
        }
    }

    @Test("a delete while the insert is under way reaches the server", arguments: DatasyncDialect.allCases)
    func deleteUnderWay(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            let (phone, table) = (world.phone, world.phone.table)
            try await table.insert(["text": "milk"], id: "a")
            phone.server.intercept(.whileUnderWay { try await table.delete("a") })
            _ = try await phone.context.push()
            _ = try await phone.context.push()
            #expect(world.onServer().isEmpty)
            #expect(try await phone.context.operations().isEmpty)
            #expect(try await phone.text("a") == nil)
        }
    }

    @Test("a change whose answer was lost is recognised when it is sent again", arguments: DatasyncDialect.allCases)
    func lostResponses(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            let (phone, table) = (world.phone, world.phone.table)
            func pushTwice() async throws {
                phone.server.intercept(.answerLost)
                #expect(try await syncErrorCode { _ = try await phone.context.push() } == .pushAbortedNetwork)
                #expect(try await phone.context.operations().count == 1, "the change is still queued")
                let report = try await phone.context.push()
                #expect(report.conflicts.isEmpty && report.failures.isEmpty && report.pushed == 1)
                #expect(try await phone.context.operations().isEmpty)
            }
            try await table.insert(["text": "milk", "complete": true], id: "a")
            try await pushTwice()
            try await table.update(Record(id: "a", ["text": "cream", "complete": .null]))
            try await pushTwice()
            #expect(world.onServer() == ["a": "cream"])
            try await table.delete("a")
            try await pushTwice()
            #expect(world.onServer().isEmpty)
        }
    }

    @Test("an insert whose answer was lost and that is then deleted locally is deleted on the server")
    func lostInsertThenDelete() async throws {
        try await SyncWorld.with(.datasync) { world in
            let (phone, table) = (world.phone, world.phone.table)
            try await table.insert(["text": "milk"], id: "a")
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            try await table.delete("a")
            _ = try await phone.context.push()
            #expect(world.onServer().isEmpty)
        }
    }

    @Test("a lost request stops the push and leaves the rest of the queue for the next")
    func lostRequest() async throws {
        try await SyncWorld.with(.datasync) { world in
            for id in ["a", "b", "c"] { try await world.phone.table.insert([:], id: id) }
            world.phone.server.intercept(.whileUnderWay {}, .requestLost)
            #expect(try await syncErrorCode { _ = try await world.phone.context.push() } == .pushAbortedNetwork)
            #expect(try await world.phone.context.operations().map(\.itemID) == ["b", "c"])
            #expect(try await world.phone.context.push().pushed == 2)
        }
    }

    @Test("concurrent pushes send every change once")
    func concurrentPushes() async throws {
        try await SyncWorld.with(.datasync) { world in
            for index in 0..<20 { try await world.phone.table.insert([:], id: "i\(index)") }
            let context = world.phone.context
            let pushed = try await withThrowingTaskGroup { group in
                for _ in 0..<4 { group.addTask { try await context.push().pushed } }
                return try await group.reduce(0, +)
            }
            #expect(pushed == 20)
            #expect(world.onServer().count == 20)
        }
    }

    @Test("a sync sends, then brings what changed in all tables", arguments: DatasyncDialect.allCases)
    func sync(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.phone.table.insert(["text": "milk"], id: "a")
            _ = try await world.phone.context.sync()
            try await world.laptop.table.insert(["text": "bread"], id: "b")
            let report = try await world.laptop.context.sync()
            #expect(report.push.pushed == 1 && report.notTaken.isEmpty && report.isComplete)
            #expect(try await world.laptop.texts() == ["a": "milk", "b": "bread"])
        }
    }
}
