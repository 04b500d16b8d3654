import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("SQL and the evaluator in memory agree")
struct QueryAgreementTests {
    @Test("on random queries over random rows", arguments: [TableDefinition.items, .folding])
    func randomQueries(table: TableDefinition) async throws {
        let seed = SeededGenerator.seed
        print("QueryAgreementTests: SEALEDSYNC_TEST_SEED=\(seed)")
        var random = RandomQueries(generator: SeededGenerator(seed: seed))
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [.items, .folding])

        var rows: [RecordID: Record] = [:]
        for _ in 0..<150 {
            let id = RecordID.string(random.pick(RandomQueries.texts) + random.pick(RandomQueries.texts))
            rows[id.folded(for: table.idComparison)] = random.record(id, table)
        }
        let records = Array(rows.values)
        try await store.upsert(records, table: table.name)
        let evaluator = QueryEvaluator(table)

        for index in 0..<3_000 {
            let query = random.query(table)
            let expected = try evaluator.evaluate(query, over: records)
            let result = try await store.read(query.countingAll())
            let total = records.count { evaluator.matches($0, query.predicate) }
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
        let seed = SeededGenerator.seed
        print("QueryAgreementTests: SEALEDSYNC_TEST_SEED=\(seed)")
        var random = RandomQueries(generator: SeededGenerator(seed: seed))
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [.items, .folding])
        let table = TableDefinition.folding

        for index in 0..<100 {
            var rows: [RecordID: Record] = [:]
            for _ in 0..<30 {
                let id = RecordID.string(random.pick(RandomQueries.texts) + random.pick(RandomQueries.texts))
                rows[id.folded(for: table.idComparison)] = random.record(id, table)
            }
            let records = Array(rows.values)
            let query = random.query(table)
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
}
