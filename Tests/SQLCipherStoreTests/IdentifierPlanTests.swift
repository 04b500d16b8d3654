@testable import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@Suite("How SQLite finds ids that a server has chosen")
struct IdentifierPlanTests {
    @Test("many at a time, by the index of the settings")
    func search() async throws {
        let folder = try TestFolder()
        await (try EncryptedStore.open(in: folder, [])).close()
        let database = try folder.openDatabase()
        let table = SystemTables.configuration
        let layout = TableLayout(table)
        let query = Query(table.name)
            .filtered(by: Column("table") == "Todo" && Column("keyType") == 1_030)
            .filtered(by: Column("key").isAny(of: (0..<1_000).map { .string("id \($0)") }))
        var compiled = try QueryCompiler.select(query, layout, columns: RowReader(layout).sqlColumns)
        compiled.sql = "EXPLAIN QUERY PLAN " + compiled.sql
        let plan = try database.withStatement(compiled) { statement in
            var lines: [String] = []
            while try statement.step() { lines.append(statement.text(3)) }
            return lines
        }
        #expect(plan.contains { $0.contains("(table=? AND keyType=? AND key=?)") }, "\(plan)")
    }
}
