@testable import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@Suite("How SQLite finds the states of rows")
struct SyncStatePlanTests {
    static let tables = [IDComparison.exact, .asciiCaseInsensitive]
        .map {
            TableDefinition(
                "t",
                columns: [.init("a", .string), .init("n", .int64)],
                idComparison: $0,
                indexes: [["n"]]
            )
        }

    @Test(
        "rows that are not synced are searched by their ids, and these by the operations' index",
        arguments: tables
    )
    func searches(_ table: TableDefinition) async throws {
        let conditions: [QueryPredicate] = [
            Column.syncState == .pending, Column.syncState != .synced,
            Column.syncState.isAny(of: [.failed, .uploading]),
            Column.syncState == .conflicted && Column("a") == "x",
        ]
        for (condition, plan) in zip(conditions, try await Self.plans(of: conditions.map(Query("t").filtered), table)) {
            #expect(plan.contains { $0.isSearch(of: "t", "(id=?)") }, "\(condition): \(plan)")
            #expect(plan.contains { $0.isSearchOfTable }, "\(condition): \(plan)")
            #expect(!plan.contains { $0.hasPrefix("SCAN") }, "\(condition): \(plan)")
            #expect(!plan.contains { $0.contains("CORRELATED") }, "\(condition): \(plan)")
        }
    }

    @Test("rows that are synced are gone through, and the operations once, by their index", arguments: tables)
    func synced(_ table: TableDefinition) async throws {
        let conditions: [QueryPredicate] = [
            Column.syncState == .synced, !(Column.syncState == .pending),
            Column.syncState == .synced && Column("n") == 1,
        ]
        for (condition, plan) in zip(conditions, try await Self.plans(of: conditions.map(Query("t").filtered), table)) {
            #expect(plan.contains { $0.isSearchOfTable }, "\(condition): \(plan)")
            #expect(!plan.contains { $0.contains("CORRELATED") }, "\(condition): \(plan)")
        }
    }

    @Test(
        "the state beside a row, in an order and in any other comparison is one search of the index",
        arguments: tables
    )
    func beside(_ table: TableDefinition) async throws {
        let queries = [
            Query("t").includingSyncStates(), Query("t").ordered(by: Column.syncState.name),
            Query("t").filtered(by: Column(Column.syncState.name) < Column("a")),
        ]
        for (query, plan) in zip(queries, try await Self.plans(of: queries, table)) {
            #expect(plan.contains { $0.isSearchOfOperations(by: "(table=? AND itemKey=?)") }, "\(query): \(plan)")
            #expect(!plan.contains { $0.hasPrefix("SCAN") && $0.contains("MS_") }, "\(query): \(plan)")
        }
    }

    private static func plans(of queries: [Query], _ table: TableDefinition) async throws -> [[String]] {
        let folder = try TestFolder()
        await (try EncryptedStore.open(in: folder, [table])).close()
        let database = try folder.openDatabase()
        let layout = TableLayout(table)
        return try queries.map { query in
            let reader = RowReader(layout, readsSyncStates: query.includesSyncStates)
            var compiled = try QueryCompiler.select(query, layout, columns: reader.sqlColumns)
            compiled.sql = "EXPLAIN QUERY PLAN " + compiled.sql
            return try database.withStatement(compiled) { statement in
                var lines: [String] = []
                while try statement.step() { lines.append(statement.text(3)) }
                return lines
            }
        }
    }
}

extension String {
    /// SQLite wrote "SEARCH TABLE t" before 3.36.
    fileprivate func isSearch(of table: String, _ columns: String) -> Bool {
        (hasPrefix("SEARCH TABLE \(table) ") || hasPrefix("SEARCH \(table) ")) && hasSuffix(columns)
    }

    /// Newer versions begin behind the nulls.
    fileprivate var isSearchOfTable: Bool {
        isSearchOfOperations(by: "(table=?)") || isSearchOfOperations(by: "(table=? AND itemKey>?)")
    }

    fileprivate func isSearchOfOperations(by columns: String) -> Bool {
        isSearch(of: "MS_TableOperations", columns)
            && contains("USING INDEX index:MS_TableOperations:table,itemKey,state ")
    }
}
