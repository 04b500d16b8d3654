import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract

/// The table most tests use.
let todoTable = TableDefinition(
    "TodoItem",
    columns: [.init("text", .string), .init("complete", .bool), .init("due", .date)]
)

func makeStore(_ table: TableDefinition = todoTable, handlesOperations: Bool = true) throws -> MemoryStore {
    MemoryStore(try StoreSchema([table]), handlesSyncTableOperations: handlesOperations)
}

/// A server that cannot be reached: every test that uses it shows that nothing but the store is needed.
struct UnreachableServer: SyncRemote {
    let replacesWholeRows = true
    let requestCount = 0

    private var failure: RemoteError { RemoteError(.unreachable, "no network in this test") }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record { throw failure }
    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record { throw failure }
    func delete(_ id: String, from table: TableDefinition, version: String?) async throws { throw failure }
    func record(_ id: String, in table: TableDefinition) async throws -> Record? { throw failure }
    func page(_ query: Query, of table: TableDefinition) async throws -> RemotePage { throw failure }
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
