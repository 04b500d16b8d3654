import QueryGenerator
import SQLCipherStoreTestSupport
import SeededNumbers
import SyncContract
import Testing

@testable import SQLCipherStore
import QueryEvaluation

@Suite("SQL and the evaluator in memory agree")
struct QueryAgreementTests {
    /// Columns of every type, each found by an index, and text that is searched by words.
    private static let indexed = TableDefinition(
        "indexed",
        columns: TableDefinition.items.columns.map {
            ColumnDefinition($0.name, $0.type, isSearchable: $0.type == .string)
        },
        idComparison: .asciiCaseInsensitive,
        indexes: TableDefinition.items.columns.map { [$0.name] } + [["int", "decimal", "text"]]
    )

    @Test("on random queries over random rows", arguments: [TableDefinition.items, .folding, indexed])
    func randomQueries(table: TableDefinition) async throws {
        let seed = SeededGenerator.seed()
        var random = RandomQueries(table, .everything, seed: seed)
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [table])
        let records = Self.records(60, table, &random)
        try await store.upsert(records, table: table.name)
        random.rows = records
        let evaluator = QueryEvaluator(table)

        for index in 0..<SeededGenerator.rounds(400, all: 2_000) {
            let query = random.query()
            let expected = try evaluator.evaluate(query, over: records)
            let result = try await store.read(query.countingAll())
            var all = Query(table.name)
            all.predicate = query.predicate
            let total = try evaluator.evaluate(all, over: records).count
            guard result.records == expected, result.totalCount == total else {
                let compiled = try QueryCompiler.select(query, TableLayout(table), columns: "\"id\"")
                Issue.record(
                    """
                    seed \(seed), query \(index): \(query)
                    SQL: \(compiled)
                    expected \(expected.map(\.id)), got \(result.records.map(\.id)), total \(total)
                    """
                )
                return
            }
        }
        await store.close()
    }

    @Test("on which rows a query deletes")
    func randomDeletions() async throws {
        let seed = SeededGenerator.seed()
        let table = TableDefinition.folding
        var random = RandomQueries(table, .everything, seed: seed)
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [.items, .folding])

        for index in 0..<SeededGenerator.rounds(100, all: 200) {
            let records = Self.records(30, table, &random)
            random.rows = records
            let query = random.query()
            let doomed = Set(try QueryEvaluator(table).evaluate(query, over: records).map(\.id))
            let left = try await store.write { transaction in
                try transaction.delete(Query(table.name))
                try transaction.upsert(records, into: table.name)
                let count = try transaction.delete(query)
                #expect(count == doomed.count)
                return try transaction.records(Query(table.name)).map(\.id)
            }
            #expect(
                Set(left) == Set(records.map(\.id)).subtracting(doomed),
                "seed \(seed), query \(index): \(query)"
            )
        }
        await store.close()
    }

    /// Random rows, no two with ids that the table takes for one.
    private static func records(_ count: Int, _ table: TableDefinition, _ random: inout RandomQueries) -> [Record] {
        var rows: [RecordID: Record] = [:]
        for _ in 0..<count {
            let id = RecordID.string(random.text() + random.text())
            rows[id.folded(for: table.idComparison)] = random.record(id)
        }
        return Array(rows.values)
    }
}
