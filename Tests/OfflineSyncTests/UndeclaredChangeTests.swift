import DatasyncEmulator
import DatasyncHTTP
import Foundation
import OfflineSync
import SyncContract
import Testing

@Suite("Changes of others in columns that the app does not declare")
struct UndeclaredChangeTests {
    /// Lends a world with one row that has a column which no device declares.
    private func shared(
        _ dialect: DatasyncDialect,
        _ body: (SyncWorld, SyncWorld.Device) async throws -> Void
    ) async throws {
        try await SyncWorld.with(dialect) { world in
            try Self.write(world, text: "milk", extra: "old")
            try await world.phone.pull()
            try await world.laptop.pull()
            try await body(world, world.laptop)
        }
    }

    /// What a third party writes, which no device knows of.
    private static func write(_ world: SyncWorld, text: String, extra: String) throws {
        try world.emulator.seed([["id": "a", "text": .string(text), "extra": .string(extra)]], in: "TodoItem")
    }

    @Test("a change meets no conflict, and undoes nothing of theirs", arguments: DatasyncDialect.allCases)
    func update(_ dialect: DatasyncDialect) async throws {
        try await shared(dialect) { world, laptop in
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            try Self.write(world, text: "milk", extra: "new")
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.conflicts.isEmpty)
            #expect(world.emulator.rows(in: "TodoItem")[0]["extra"] == .string("new"))
            #expect(world.onServer() == ["a": "mine"])
            #expect(try await laptop.table.read("a")?["extra"] == "new")
        }
    }

    @Test("a deletion meets no conflict", arguments: DatasyncDialect.allCases)
    func delete(_ dialect: DatasyncDialect) async throws {
        try await shared(dialect) { world, laptop in
            try await laptop.table.delete("a")
            try Self.write(world, text: "milk", extra: "new")
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.conflicts.isEmpty)
            #expect(world.onServer().isEmpty)
        }
    }

    @Test(
        "an item that is made again over its waiting deletion leaves them as they are",
        arguments: DatasyncDialect.allCases
    )
    func insertedAgain(_ dialect: DatasyncDialect) async throws {
        try await shared(dialect) { world, laptop in
            try await laptop.table.delete("a")
            try await laptop.table.insert(["text": "mine"], id: "a")
            #expect(try await laptop.table.read("a")?["extra"] == "old")
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.emulator.rows(in: "TodoItem")[0]["extra"] == .string("old"))
            #expect(world.onServer() == ["a": "mine"])
        }
    }

    @Test(
        "a deletion that is taken back undoes nothing of theirs that came meanwhile",
        arguments: DatasyncDialect.allCases,
        [true, false]
    )
    func undoDelete(_ dialect: DatasyncDialect, comesByPull: Bool) async throws {
        try await shared(dialect) { world, laptop in
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            try await laptop.table.delete("a")
            try Self.write(world, text: "milk", extra: "new")
            if comesByPull {
                _ = try await laptop.table.pull(options: PullOptions(order: .pullOnly))
            } else {
                // The first request meets their row, the second one, over that, is not answered.
                laptop.server.intercept(.whileUnderWay {}, .requestLost)
                _ = try await syncErrorCode { _ = try await laptop.context.push() }
            }
            try await laptop.table.undoDelete("a")
            _ = try await laptop.context.push()
            #expect(world.emulator.rows(in: "TodoItem")[0]["extra"] == .string("new"))
            #expect(world.onServer() == ["a": "mine"])
        }
    }

    @Test("and one that a decision has made, likewise", arguments: DatasyncDialect.allCases)
    func undoDecidedDeletion(_ dialect: DatasyncDialect) async throws {
        try await shared(dialect) { world, laptop in
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            try Self.write(world, text: "theirs", extra: "new")
            let conflict = try #require(try await laptop.context.push().conflicts.first)
            try await laptop.context.resolve(conflict, with: .deleteInstead)
            try await laptop.table.undoDelete("a")
            _ = try await laptop.context.push()
            #expect(world.emulator.rows(in: "TodoItem")[0]["extra"] == .string("new"))
        }
    }

    @Test("a change of theirs in a declared column is a conflict", arguments: DatasyncDialect.allCases)
    func declared(_ dialect: DatasyncDialect) async throws {
        try await shared(dialect) { world, laptop in
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            try Self.write(world, text: "theirs", extra: "new")
            #expect(try await laptop.context.push().conflicts.count == 1)
            #expect(world.onServer() == ["a": "theirs"])
        }
    }

    @Test(
        "after a lost answer, theirs that looks as before is a conflict: they may have undone mine",
        arguments: DatasyncDialect.allCases
    )
    func undone(_ dialect: DatasyncDialect) async throws {
        try await shared(dialect) { world, laptop in
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            laptop.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            try await world.phone.pull()
            try await world.phone.table.update(Record(id: "a", ["text": "milk"]))
            _ = try await world.phone.context.push()
            #expect(try await laptop.context.push().conflicts.count == 1)
            #expect(world.onServer() == ["a": "milk"])
        }
    }

    @Test(
        "a version that the app has seen before is not the base of the stored row",
        arguments: DatasyncDialect.allCases
    )
    func staleEditor(_ dialect: DatasyncDialect) async throws {
        try await shared(dialect) { world, laptop in
            let seen = try await laptop.table.read("a")?.version
            try Self.write(world, text: "theirs", extra: "new")
            try await laptop.pull()
            var edited = Record(id: "a", ["text": "mine"])
            edited["version"] = seen.map(FieldValue.string)
            try await laptop.table.update(edited)
            #expect(try await laptop.context.push().conflicts.count == 1)
            #expect(world.onServer() == ["a": "theirs"])
        }
    }

    @Test(
        "a change that an older version has queued has no base: a conflict, as before",
        arguments: DatasyncDialect.allCases
    )
    func withoutBase(_ dialect: DatasyncDialect) async throws {
        try await shared(dialect) { world, laptop in
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            let number = try await laptop.context.operations()[0].id
            let old = Record(id: .int64(number), ["properties": .bytes(Array(#"{"type":1}"#.utf8))])
            try await laptop.store.upsert([old], table: SystemTables.operations.name)
            try Self.write(world, text: "milk", extra: "new")
            #expect(try await laptop.context.push().conflicts.count == 1)
        }
    }

    @Test("after a lost answer to a deletion, a row that looks as before is a conflict: somebody has brought it back")
    func broughtBack() async throws {
        try await shared(.datasync) { world, laptop in
            try await laptop.table.delete("a")
            laptop.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            try Self.write(world, text: "milk", extra: "new")
            #expect(try await laptop.context.push().conflicts.count == 1)
            #expect(world.onServer() == ["a": "milk"])
        }
    }

    @Test("a server that always shows another version does not keep the push for ever")
    func endless() async throws {
        try await SyncWorld.with(
            .datasync,
            answeringLaptop: SyncWorld.StandIn { request, emulator in
                guard request.method == "PUT" else { return try await emulator.handle(request) }
                let row = #"{"id":"a","text":"milk","version":"\#(UInt64.random(in: 0...UInt64.max))"}"#
                return EmulatorResponse(412, headers: ["Content-Type": "application/json"], body: Data(row.utf8))
            }
        ) { world in
            try await world.shareItem()
            try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            let report = try await world.laptop.context.push()
            #expect(report.conflicts.count == 1 && report.requests < 10)
        }
    }
}
