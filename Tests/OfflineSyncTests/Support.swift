import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract

/// The table most tests use.
let todoTable = TableDefinition(
    "TodoItem",
    columns: [.init("text", .string), .init("complete", .bool), .init("due", .date)]
)

/// The same table, whose column of text has another name here than on the server.
func todoTable(callingText name: String) -> TableDefinition {
    TableDefinition(
        "TodoItem",
        columns: [.init(name, .string, wireName: "text"), .init("complete", .bool), .init("due", .date)]
    )
}

func makeStore(_ table: TableDefinition = todoTable, handlesOperations: Bool = true) throws -> MemoryStore {
    MemoryStore(try StoreSchema([table]), handlesSyncTableOperations: handlesOperations)
}

extension UnavailableRemote {
    /// A server that cannot be reached: every test that uses it shows that nothing but the store is needed.
    static let unreachable = UnavailableRemote(RemoteError(.unreachable, "there is no network in this test"))
}

/// A code of ``SyncError`` that a body throws, nil when it throws nothing.
func syncErrorCode(_ body: () async throws -> Void) async throws -> SyncError.Code? {
    do {
        try await body()
        return nil
    } catch let error as SyncError {
        return error.code
    }
}
