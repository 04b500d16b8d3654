import DatasyncEmulator
import DatasyncHTTP
import ReferenceStore
import SyncContract
import SyncMachines
import Testing

@testable import OfflineSync

@Suite("Changes as they are stored")
struct StoredStateTests {
    /// Sets the stored state of the only operation.
    private func store(_ state: Int64, _ device: SyncWorld.Device) async throws {
        let number = try #require(try await device.context.operations().first?.id)
        try await device.store.upsert(
            [Record(id: .int64(number), ["state": .int64(state)])],
            table: SystemTables.operations.name
        )
    }

    private func storedState(_ device: SyncWorld.Device) async throws -> FieldValue? {
        try await device.store.read(Query(SystemTables.operations.name)).records.first?["state"]
    }

    @Test("a version that no request can name does not keep what is remembered of a row from being read")
    func oddVersion() throws {
        var memory = ItemMemory<Record>()
        memory.ownVersions = ["1", "A\nB", "2\t3", "4"]
        memory.sent = [SentRequest(.none)]
        let again = try ItemMemoryStorage.memory(in: ItemMemoryStorage.text(of: memory), todoTable)
        #expect(again.ownVersions == ["1", "4"] && again.sent == memory.sent)
    }

    @Test("what is remembered of a row is read back, also that it is a row of others", arguments: [true, false])
    func memory(_ isDeleted: Bool) throws {
        for holdsRowOfOthers in [true, false] {
            var memory = ItemMemory<Record>()
            memory.isDeleted = isDeleted
            memory.holdsRowOfOthers = holdsRowOfOthers
            memory.ownVersions = ["1", "2"]
            #expect(try ItemMemoryStorage.memory(in: ItemMemoryStorage.text(of: memory), todoTable) == memory)
        }
    }

    @Test("a row of which there are news is asked for again, whatever was asked for in vain before")
    func askedInVain() async throws {
        let before = try await makeStore()
            .write { transaction in
                try ["", "a=1"]
                    .map { query in
                        try ConfigurationTable.setRefetchesInVain([query], of: "a", in: "TodoItem", &transaction)
                        try ConfigurationTable.requestRefetch(of: "a", in: "TodoItem", &transaction)
                        return try ConfigurationTable.refetchesInVain(of: "a", in: "TodoItem", &transaction)
                    }
            }
        #expect(before == [[], []])
    }

    @Test("an insert that was dropped counts as one until it is known what became of it")
    func droppedInsert() async throws {
        let table = TableDefinition("TodoItem", columns: todoTable.columns, assignsIDs: true)
        let counts = try await makeStore(table)
            .write { transaction in
                var memory = ItemMemory<Record>()
                return try [[SentRequest(.insert, content: Record(id: "a", ["text": "milk"]))], []]
                    .map { sent in
                        memory.sent = sent
                        try ItemMemoryStorage.set(memory, of: "a", in: table, &transaction)
                        return try ItemMemoryStorage.isDroppedInsert("a", of: table, &transaction)
                    }
            }
        #expect(counts == [true, false])
    }

    /// An operation as it is read back, perhaps with a table that declares something else by then.
    private func read(_ operation: TableOperation, in table: TableDefinition = todoTable) throws -> TableOperation {
        try OperationCoding.operation(OperationCoding.record(operation, todoTable), in: table)
    }

    private func operation(_ kind: QueuedChange<Record>.Kind) -> TableOperation {
        TableOperation(id: 1, table: "TodoItem", itemID: "a", change: QueuedChange(kind))
    }

    @Test("what is known of an insert is read back, although nothing of it was sent")
    func insert() throws {
        let flags: [WritableKeyPath<QueuedChange<Record>, Bool>] = [
            \.asksForRow, \.isForced, \.isUndo, \.isBasedOnOlderRow, \.restores,
        ]
        for flag in flags {
            var operation = operation(.insert)
            operation.change[keyPath: flag] = true
            #expect(try read(operation) == operation)
        }
    }

    @Test("failures are counted on, of look-ups and of changes apart", arguments: [true, false], [500, nil])
    func failures(ofLookUp: Bool, status: Int?) throws {
        var failed = operation(.update)
        failed.failed(status: status, ofLookUp: ofLookUp)
        for isOfLookUp in [true, false] {
            var again = try read(failed)
            again.failed(status: status, ofLookUp: isOfLookUp)
            #expect(again.unknownOutcome?.pushes == (isOfLookUp == ofLookUp ? 2 : 1))
        }
    }

    @Test("a row of the server that does not fit its table any more is asked for when the change has ended")
    func unfitServerRow() throws {
        var conflicted = operation(.update)
        conflicted.change.shown = Record(id: "a", ["text": "theirs", "note": "soon"])
        let same = try read(conflicted).change
        #expect(same.shown?["text"] == "theirs" && !same.asksForRow)
        let declaring = TableDefinition("TodoItem", columns: todoTable.columns + [.init("note", .int64)])
        let other = try read(conflicted, in: declaring).change
        #expect(other.shown == nil && other.asksForRow)
    }

    @Test("one that an older version left to be sent again counts as failed, and is sent by the push before a pull")
    func retried() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "a")
            try await store(2, laptop)
            #expect(try await laptop.context.status().failed == 1)
            laptop.server.intercept(.requestLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            #expect(try await storedState(laptop) == 2, "it is still to be sent")
            #expect(try await laptop.pull().push?.pushed == 1)
            #expect(world.onServer() == ["a": "milk"])
        }
    }

    @Test("one that an older version left to be sent again is laid aside when it is refused")
    func retriedInVain() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "a")
            try await store(2, laptop)
            world.emulator.inject(.respond(EmulatorResponse(400), times: 1) { $0.method == "POST" })
            #expect(try await laptop.context.push().failures.count == 1)
            #expect(try await storedState(laptop) == 3)
            #expect(try await laptop.context.push().pushed == 0, "nothing is sent")
            #expect(world.onServer() == [:])
        }
    }

    @Test("one that is laid aside counts as failed, is shown as such, and is not sent; nothing is purged over it")
    func parked() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "a")
            try await store(3, laptop)
            let status = try await laptop.context.status()
            #expect(status.failed == 1 && status.pending == 0)
            #expect(try await laptop.table.syncStates() == ["a": .failed])
            #expect(try await laptop.pull().push == nil)
            #expect(
                try await syncErrorCode { try await laptop.table.purge() } == .purgeAbortedPendingChanges
            )
            try await laptop.table.update(Record(id: "a", ["text": "cream"]))
            #expect(try await storedState(laptop) == 0)
            #expect(try await laptop.context.push().pushed == 1)
        }
    }
}
