import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

/// What states of rows and the marks of pushes cost in a long queue: each page is decrypted or encrypted.
@Suite("Pages of a long queue")
struct SyncStatePageTests {
    private static let table = TableDefinition("t", columns: [.init("a", .string)])
    private static let operations = SystemTables.operations.name

    /// A store in which operations wait whose items' ids come in any order: 400 pages of operations, 40 of their index.
    private static func store(in folder: TestFolder) async throws -> EncryptedStore {
        let store = try await EncryptedStore.open(in: folder, [table])
        let records = (1...3_000)
            .map { number in
                let id = FieldValue.string(String(UInt32(truncatingIfNeeded: number &* 2_654_435_761), radix: 16))
                return Record(
                    id: .int64(Int64(number)),
                    [
                        "table": .string(table.name), "itemId": id, "itemKey": id, "state": 0,
                        "properties": .bytes([UInt8](repeating: 0x20, count: 500)),
                    ]
                )
            }
        try await store.write { try $0.upsert(records, into: operations) }
        return store
    }

    private static func pagesWritten(_ transaction: inout StoreTransaction) throws -> Int {
        try #require(transaction.backend as? WriteBackend).database().pagesWritten
    }

    @Test("while no push runs, states are read from the index alone")
    func states() async {
        // In this one other tests push.
        await #expect(processExitsWith: .success) { try await SyncStatePageTests.readStates() }
    }

    private static func readStates() async throws {
        let folder = try TestFolder()
        await (try await store(in: folder)).close()
        let layout = TableLayout(table)
        let database = try folder.openDatabase()
        let columns = RowReader(layout).sqlColumns
        let query = Query(table.name).filtered(by: Column.syncState == .pending)
        let before = database.pagesRead
        try database.withStatement(QueryCompiler.select(query, layout, columns: columns)) { statement in
            while try statement.step() {}
        }
        let pages = database.pagesRead - before
        #expect(pages < 100, "\(pages)")
    }

    @Test("a mark is written where its operation lies, and not in the index besides")
    func marks() async throws {
        let folder = try TestFolder()
        let store = try await Self.store(in: folder)
        let marks = (1...64).map { Record(id: .int64($0), ["push": 42]) }
        let before = try await store.write { transaction in
            try transaction.upsert(marks, into: Self.operations)
            return try Self.pagesWritten(&transaction)
        }
        let pages = try await store.write { try Self.pagesWritten(&$0) } - before
        #expect(pages < 25, "\(pages)")
        await store.close()
    }
}
