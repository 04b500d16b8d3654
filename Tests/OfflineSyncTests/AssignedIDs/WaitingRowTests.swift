import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("Rows that wait for the id of another one")
struct WaitingRowTests {
    @Test("go behind a new one that they come to name meanwhile, whenever that is")
    func namesAnother() async throws {
        for number in 1...12 {
            let server = GroupServer(references: ["note"])
            let store = MemoryStore(
                try StoreSchema([
                    TableDefinition("lists", columns: [.init("text", .string)], assignsIDs: true),
                    TableDefinition("notes", columns: [.init("text", .string)]),
                    TableDefinition(
                        "tasks",
                        columns: [
                            .init("list", .string, references: "lists"), .init("note", .string, references: "notes"),
                        ]
                    ),
                ])
            )
            let context = SyncContext(store: store, remote: server)
            let (notes, tasks) = (try context.table("notes"), try context.table("tasks"))
            try await context.table("lists").insert(["text": "l"], id: "l")
            try await tasks.insert(["list": "l"], id: "t")
            server.script = { id in if id != "t", id != "n" { throw RemoteError(.refused, "no", status: 422) } }
            let edited = EditedStore(base: store, number: number) {
                try await notes.insert(["text": "n"], id: "n")
                try await tasks.update(Record(id: "t", ["list": .null, "note": "n"]))
            }
            let report = try await SyncContext(store: edited, remote: server).push()
            #expect(report.failures.map(\.itemID) == ["l"], "edited before write \(number)")
            #expect(report.waiting <= 1)
            // Where the push was over before that.
            try await edited.edit()
            #expect(try await context.push().failures.map(\.itemID) == ["l"])
            #expect(server.written == ["n", "t"], "edited before write \(number)")
        }
    }
}
