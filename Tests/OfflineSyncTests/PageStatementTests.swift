import OfflineSync
import RemoteContract
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

/// How many statements a page takes: what waits for its rows, and what is remembered of them, is looked up for all at once.
@Suite("Statements of a page")
struct PageStatementTests {
    /// The statements of the writing connection, by what they do.
    private struct Statements {
        let all: [String]

        /// Those about the queue and the settings.
        var ofTheEngine: Int { all.count { $0.contains("MS_Table") } }
        var looks: Int { count("SELECT", todoTable.name) }
        var inserts: Int { count("INSERT", todoTable.name) }
        var updates: Int { count("UPDATE", todoTable.name) }

        private func count(_ verb: String, _ table: String) -> Int {
            all.count { $0.hasPrefix(verb) && $0.contains("\"\(table)\"") }
        }
    }

    private func rows(_ count: Int) -> [Record] { (0..<count).map { serverRow("id\($0)") } }

    /// Pulls a page into a store that has rows of an earlier one, and changes that wait.
    private func statements(
        of page: [Record],
        after earlier: [Record] = [],
        waiting: [String] = []
    ) async throws -> Statements {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [todoTable])
        let options = PullOptions(order: .pullOnly)
        let query = Query(todoTable.name)
        // What one row shows of the columns is stored with the first page.
        let first = SyncContext(
            store: store,
            remote: ScriptedRemote(pages: [PullPage(records: earlier + [serverRow("earlier")])])
        )
        try await first.pull(query, queryID: "first", options: options)
        for id in waiting { try await first.table(todoTable.name).insert(["text": "mine"], id: id) }
        let log = StatementLog()
        try await store.write { log.watch(try #require($0.backend as? WriteBackend).database()) }
        _ = log.take()
        let context = SyncContext(store: store, remote: ScriptedRemote(pages: [PullPage(records: page)]))
        let report = try await context.pull(query, queryID: "second", options: options)
        #expect(report.received + report.skipped == page.count || !earlier.isEmpty)
        let statements = Statements(all: log.take())
        await store.close()
        return statements
    }

    @Test("new rows are looked for and inserted, each in a statement, and nothing else is asked for them")
    func newRows() async throws {
        let few = try await statements(of: rows(10))
        let many = try await statements(of: rows(200))
        #expect(few.ofTheEngine == many.ofTheEngine, "\(few.all)")
        #expect(many.looks == 200)
        #expect(many.inserts == 200)
        #expect(many.updates <= 1)
    }

    @Test("rows that are here already are looked at and not written")
    func knownRows() async throws {
        let few = try await statements(of: rows(10), after: rows(10))
        let many = try await statements(of: rows(200), after: rows(200))
        #expect(few.ofTheEngine == many.ofTheEngine, "\(few.all)")
        #expect(many.looks == 200)
        #expect(many.inserts + many.updates == 0)
    }

    @Test("the changes that wait are found at once, however many rows the page has and however many wait for others")
    func waitingChanges() async throws {
        let mine = ["id3", "id7"]
        let few = try await statements(of: rows(10), waiting: mine)
        let many = try await statements(of: rows(200), waiting: mine + (0..<50).map { "other\($0)" })
        #expect(few.ofTheEngine == many.ofTheEngine, "\(few.all)")
        #expect(many.inserts == 198)
    }
}
