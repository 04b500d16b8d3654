import OfflineSync
import RemoteContract
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

/// How many statements a pushed change takes: it is prepared and its answer is recorded together with others, and what
/// those share is looked up once.
@Suite("Statements of a pushed change")
struct PushStatementTests {
    /// The statements of the writing connection while so many changes are pushed; the clock stands still, so that as many
    /// as there can be are prepared and recorded at a time.
    private func statements(
        _ count: Int,
        parallel: Int,
        _ change: (SyncTable<Record>, String) async throws -> Void
    ) async throws -> [String] {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [todoTable])
        let server = GroupServer()
        let context = SyncContext(
            store: store,
            remote: server,
            options: SyncOptions(parallelOperations: parallel),
            clock: ManualClock()
        )
        let todos = try context.table(todoTable.name)
        for id in 1...count { try await todos.insert(["text": "milk"], id: "\(id)") }
        // What the first push learns of the table.
        _ = try await context.push()
        for id in 1...count { try await change(todos, "\(id)") }
        let log = StatementLog()
        try await store.write { log.watch(try #require($0.backend as? WriteBackend).database()) }
        _ = log.take()
        #expect(try await context.push().pushed >= count)
        let statements = log.take()
        await store.close()
        return statements
    }

    private func statementsOfEach(
        parallel: Int,
        _ change: (SyncTable<Record>, String) async throws -> Void
    ) async throws -> Double {
        let few = try await statements(64, parallel: parallel, change)
        let many = try await statements(320, parallel: parallel, change)
        return Double(many.count - few.count) / 256
    }

    /// Of each transaction, which has a beginning and a commit, and of what is looked up in it.
    private let shared = 0.8

    @Test("an insert takes six: two when it is prepared, four when its answer is recorded", arguments: [1, 8])
    func insert(_ parallel: Int) async throws {
        let each = try await statementsOfEach(parallel: parallel) { todos, id in
            try await todos.insert(["text": "bread"], id: "new\(id)")
        }
        #expect(each <= 6 + shared, "\(each)")
    }

    @Test("what is prepared leaves the index by items alone, which lies in the order of ids")
    func index() async throws {
        let written = try await statements(64, parallel: 1) { todos, id in
            try await todos.insert(["text": "bread"], id: "new\(id)")
            try await todos.update(Record(id: .string(id), ["text": "bread"]))
        }
        let updates = written.filter { $0.hasPrefix("UPDATE \"\(SystemTables.operations.name)\"") }
        #expect(updates.count >= 128)
        #expect(updates.allSatisfy { sql in !["table", "itemKey", "state"].contains { sql.contains("\"\($0)\" =") } })
    }

    @Test("an edit takes four more, for the versions that only this device has left behind")
    func edit() async throws {
        let each = try await statementsOfEach(parallel: 1) { todos, id in
            try await todos.update(Record(id: .string(id), ["text": "bread"]))
        }
        #expect(each <= 10 + shared, "\(each)")
    }
}
