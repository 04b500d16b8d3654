import QueryEvaluation
import ReferenceStore
import SeededNumbers
import SyncContract
import Testing

@Suite("A table in memory")
struct MemoryTableTests {
    private static let table = TableDefinition(
        "items",
        columns: [.init("list", .string), .init("number", .int64)],
        indexes: [["list", "number"]]
    )

    /// The rows of a table, changed by chance, and also put back by transactions that throw.
    private func changed(_ random: inout SeededGenerator) throws -> [String: MemoryTable] {
        var tables = ["items": MemoryTable(Self.table)]
        for _ in 0..<40 {
            let transaction = MemoryTransaction(tables, [])
            for _ in 0..<(1 + Int.random(in: 0..<4, using: &random)) {
                let id = RecordID.string("k\(Int.random(in: 0..<20, using: &random))")
                let list: FieldValue =
                    Int.random(in: 0..<4, using: &random) == 0
                    ? .null : .string("l\(Int.random(in: 0..<3, using: &random))")
                if Int.random(in: 0..<3, using: &random) == 0 {
                    _ = try transaction.delete([id], from: "items")
                } else {
                    try transaction.upsert(
                        [Record(id: id, ["list": list, "number": .int64(.random(in: 0..<5, using: &random))])],
                        into: "items"
                    )
                }
            }
            if Int.random(in: 0..<3, using: &random) == 0 { transaction.rollBack() }
            tables = transaction.tables
        }
        return tables
    }

    @Test("gives the rows that a search through all of them gives", arguments: 1...20 as ClosedRange<UInt64>)
    func queries(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let tables = try changed(&random)
        let rows = try #require(tables["items"]).rows
        let all = Query("items")
        var queries = [all, all.limited(to: 0), all.skipping(2), all.skipping(.max).limited(to: .max)]
        for list in ["l0", "l1", "none"] {
            let inList = all.filtered(by: Column("list") == .string(list))
            queries += [inList, inList.filtered(by: Column("number") > 1).ordered(by: "number"), inList.limited(to: 2)]
            queries.append(all.filtered(by: Column("list") == .string(list) || Column("number") == 1))
            queries.append(all.filtered(by: Column("list") != .string(list)))
        }
        for limit in [1, 3, 100] {
            queries += [all.limited(to: limit), all.ordered(by: "id", .descending).skipping(1).limited(to: limit)]
            queries.append(all.ordered(by: "number").limited(to: limit))
        }
        for query in queries {
            var given: [Record] = []
            try MemoryTransaction(tables, []).forEach(query) { given.append($0) }
            #expect(given == (try QueryEvaluator(Self.table).evaluate(query, over: rows.values)))
        }
    }
}
