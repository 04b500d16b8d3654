internal import SQLCipherStore
internal import SyncContract

extension BenchmarkCase {
    /// What is computed over all rows, beside the same in SQL.
    static func reports(_ databases: Databases) -> [BenchmarkCase] {
        let all = databases.workload.items.count
        let aggregates: [Aggregate] = [
            .count, .sum(of: "priority"), .sum(of: "score"), .minimum(of: "text"), .maximum(of: "due"),
        ]
        let columns = "count(*), sum(priority), sum(score), min(text), max(due)"
        let groups = SQLQuery(
            stringLiteral: "SELECT complete, \(columns) FROM Item GROUP BY complete ORDER BY complete"
        )
        let rows: SQLQuery = "SELECT id, text, complete, priority, score, due FROM Item"
        return [
            reading("aggregate", 0.5, all, databases) { store in
                let groups = try await store.aggregate(AggregateQuery(Query(Workload.table.name), aggregates))
                try expect(groups.first?.values.first == .int64(Int64(all)), "aggregate")
            } twin: { twin in
                try expect(try twin.report("SELECT \(columns) FROM Item") == 1, "aggregate")
            },
            reading("aggregate-groups", 0.5, all, databases) { store in
                let query = AggregateQuery(Query(Workload.table.name), aggregates, by: "complete")
                try expect(try await store.aggregate(query).count == 2, "groups")
            } twin: { twin in
                let sql = "SELECT complete, \(columns) FROM Item GROUP BY complete ORDER BY complete"
                try expect(try twin.report(sql) == 2, "groups")
            },
            reading("sql-report", 0.5, all, databases) { store in
                try expect(try await store.sql(groups).read().count == 2, "report")
            } twin: { twin in
                try expect(try twin.report(groups.text) == 2, "report")
            },
            reading("sql-rows", 0.3, all, databases) { store in
                let found = try await store.read { reader in
                    var found = 0
                    try reader.forEach(rows) { _ in found += 1 }
                    return found
                }
                try expect(found == all, "rows")
            } twin: { twin in
                try expect(try twin.report(rows.text) == all, "rows")
            },
        ]
    }
}
