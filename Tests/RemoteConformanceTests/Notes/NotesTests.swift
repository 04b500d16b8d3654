import OfflineSync
import ReferenceStore
import RemoteConformance
import SyncContract
import Testing

@Suite("A remote for a service of another kind")
struct NotesTests {
    @Test("passes every rule, over sockets")
    func conformance() async throws {
        let report = try await RemoteRules.suite.run(on: RemoteSubject(NotesHarness()))
        let text = try report.text(.text)
        #expect(report.isPassed, "\(text)")
        // A row is written to its address: the service has no way to choose another id. It has no stamps, and one request
        // brings a row back.
        #expect(
            report.notApplicable.map(\.rule.id) == [
                "insert.stored-under-another-id", "value.stamps", "tombstone.has-the-content",
            ],
            "everything else was tried"
        )
    }

    private static let notes = TableDefinition(
        "notes",
        columns: [.init("text", .string), .init("stars", .int64)],
        systemProperties: [.version]
    )

    /// A device with a store of its own.
    private struct Device {
        let context: SyncContext
        let table: SyncTable<Record>

        init(_ world: NotesWorld, parallelOperations: Int = 1) async throws {
            let store = MemoryStore(try StoreSchema([NotesTests.notes]))
            let options = SyncOptions(parallelOperations: parallelOperations, pageSize: 3)
            context = SyncContext(store: store, remote: try await world.makeRemote(), options: options)
            table = try context.table("notes")
        }

        func texts() async throws -> [String] {
            try await table.read(table.query.ordered(by: "id")).records.compactMap { $0["text"]?.stringValue }
        }

        func sync() async throws {
            _ = try await context.push()
            _ = try await table.pull(queryID: "all")
        }
    }

    @Test("syncs two devices by the engine: inserts, changes, deletions, a conflict, ids of every script")
    func devices() async throws {
        let world = try await NotesWorld(Self.notes)
        do {
            try await sync(world)
        } catch {
            await world.close()
            throw error
        }
        await world.close()
    }

    private func sync(_ world: NotesWorld) async throws {
        let (phone, laptop) = (try await Device(world), try await Device(world))
        for number in 0..<8 {
            try await phone.table.insert(["text": .string("note \(number)"), "stars": 1], id: "n\(number)")
        }
        try await phone.table.insert(["text": "in Greek"], id: "σημείωση 1")
        try await phone.sync()
        try await laptop.sync()
        #expect(try await laptop.texts() == (0..<8).map { "note \($0)" } + ["in Greek"])

        try await laptop.table.update(Record(id: "n3", ["text": "note 3, from the laptop"]))
        try await laptop.table.delete("n4")
        try await laptop.sync()
        try await phone.sync()
        #expect(try await phone.texts() == laptop.texts())
        #expect(try await phone.table.read("n4") == nil)

        // Both change one note; the one that comes second hears of the other.
        try await phone.table.update(Record(id: "n5", ["text": "of the phone"]))
        try await laptop.table.update(Record(id: "n5", ["text": "of the laptop"]))
        try await phone.sync()
        let report = try await laptop.context.push()
        #expect(report.conflicts.count == 1)
        #expect(report.conflicts.first?.serverItem?["text"] == "of the phone")
    }

    @Test("takes the changes of a push in batches; what a lost answer left in doubt is found again", arguments: [1, 8])
    func batches(_ parallelOperations: Int) async throws {
        let world = try await NotesWorld(Self.notes)
        do {
            try await pushInBatches(world, parallelOperations)
        } catch {
            await world.close()
            throw error
        }
        await world.close()
    }

    private func pushInBatches(_ world: NotesWorld, _ parallelOperations: Int) async throws {
        let phone = try await Device(world, parallelOperations: parallelOperations)
        for number in 0..<120 { try await phone.table.insert(["text": "note"], id: "n\(number)") }
        let report = try await phone.context.push()
        #expect(report.pushed == 120)
        #expect(report.requests <= 16, "up to 50 at a time")

        // All changes arrive, and nobody hears of it; then one note is edited again and another one is deleted.
        for number in 0..<60 {
            try await phone.table.update(Record(id: .string("n\(number)"), ["text": "changed"]))
        }
        try await world.meet(.answerLost)
        await #expect(throws: SyncError.self) { _ = try await phone.context.push() }
        try await world.meet(nil)
        try await phone.table.update(Record(id: "n1", ["text": "changed twice"]))
        try await phone.table.delete("n2")
        let laptop = try await Device(world)
        try await laptop.table.pull(queryID: "all")
        try await laptop.table.update(Record(id: "n70", ["text": "of the laptop"]))
        try await laptop.sync()
        try await phone.table.update(Record(id: "n70", ["text": "of the phone"]))

        let last = try await phone.context.push()
        #expect(last.conflicts.map(\.itemID) == ["n70"], "none with itself, and one in the middle of a batch")
        #expect(try await world.rows().count { !$0.isDeleted } == 119)
        #expect(try await world.rows().first { $0.id == "n1" }?["text"] == "changed twice")
        #expect(try await phone.context.operations().map(\.itemID) == ["n70"])
    }
}
