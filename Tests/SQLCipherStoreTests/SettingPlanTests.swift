@testable import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@Suite("How SQLite finds settings of the engine")
struct SettingPlanTests {
    @Test("many ids that a server has chosen at a time, by the index")
    func identifiers() async throws {
        let query = Query(Self.table.name)
            .filtered(by: Column("table") == "Todo" && Column("keyType") == 1_030)
            .filtered(by: Column("key").isAny(of: (0..<1_000).map { .string("id \($0)") }))
        let plan = try await plan(query)
        #expect(plan.contains { $0.contains("(table=? AND keyType=? AND key=?)") }, "\(plan)")
    }

    @Test("those of one kind, of all tables that are named, by the index")
    func kind() async throws {
        let query = Query(Self.table.name)
            .filtered(by: Column("table").isAny(of: ["Todo", "List"]) && Column("keyType") == 1_004)
        let plan = try await plan(query)
        #expect(plan.contains { $0.contains("(table=? AND keyType=?)") }, "\(plan)")
    }

    @Test("the newest entry of a journal, by the index and without sorting")
    func newest() async throws {
        let query = Query(Self.table.name)
            .filtered(by: Column("table") == "" && Column("keyType") == 1_005)
            .ordered(by: "key", .descending)
            .limited(to: 1)
        let plan = try await plan(query)
        #expect(plan.contains { $0.contains("(table=? AND keyType=?)") }, "\(plan)")
        #expect(!plan.contains { $0.contains("B-TREE FOR ORDER BY") }, "\(plan)")
    }

    private static let table = SystemTables.configuration

    private func plan(_ query: Query) async throws -> [String] {
        let folder = try TestFolder()
        await (try EncryptedStore.open(in: folder, [])).close()
        let database = try folder.openDatabase()
        let layout = TableLayout(Self.table)
        var compiled = try QueryCompiler.select(query, layout, columns: RowReader(layout).sqlColumns)
        compiled.sql = "EXPLAIN QUERY PLAN " + compiled.sql
        return try database.withStatement(compiled) { statement in
            var lines: [String] = []
            while try statement.step() { lines.append(statement.text(3)) }
            return lines
        }
    }
}
