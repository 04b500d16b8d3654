@testable import OfflineSync
import ReferenceStore
import SyncContract
import SyncMachines
import Testing

@Suite("What takes back the insert of a dropped change")
struct DroppedReferenceTests {
    @Test("is not under way beside the insert of a row to which that has referred")
    func references() async throws {
        let tables = try ReferringTables()
        let (schema, lists, tasks) = (tables.store.schema, tables.lists.definition, tables.tasks.definition)
        try await tables.tasks.insert(["text": "as it was kept"], id: "t")
        try await tables.tasks.insert(["text": "other"], id: "u")
        try await tables.lists.insert(["text": "list"], id: "l")
        try await tables.store.write { transaction in
            var memory = ItemMemory<Record>()
            memory.sent = [SentRequest(.insert, content: Record(id: "t", ["list": "l"]))]
            try ItemMemoryStorage.set(memory, of: "t", in: tasks, &transaction)
        }
        let operations = try await tables.context.operations()
        let (kept, other) = try await tables.store.read { reader in
            let references = try operations.map { operation in
                let table = operation.table == "lists" ? lists : tasks
                var operation = operation
                if operation.itemID == "t" { operation.change.kind = .delete }
                return try OperationReferences(operation, table, schema, &reader)
            }
            return (references[0].isTied(to: references[2]), references[1].isTied(to: references[2]))
        }
        #expect(kept)
        #expect(!other)
    }
}
