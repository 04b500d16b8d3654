import SeededNumbers
import Testing

@testable import DatasyncEmulator

/// Pages that indexes give are those that a search of all rows gives.
struct TableQueryTests {
    private static let conditions = [
        "updatedAt ge T", "updatedAt gt T", "updatedAt lt T", "updatedAt le T", "updatedAt eq T", "updatedAt ne T",
        "id gt 'I'", "id ge 'I'", "id lt 'I'", "id le 'I'", "id eq 'I'", "number lt 5", "not (number eq 3)", "deleted",
        "(updatedAt gt T or (updatedAt eq T and id gt 'I'))", "not (updatedAt ge T)",
    ]
    private static let orders = [
        "", "id", "id desc", "updatedAt", "updatedAt desc", "updatedAt,id", "updatedAt desc,id desc",
        "updatedAt,id desc", "number,id", "number desc,updatedAt",
    ]

    private static func table(_ generator: inout SeededGenerator) -> EmulatedTable {
        var table = EmulatedTable("todoitem", store: StoreBehaviour())
        for number in 0..<300 {
            let id = "id-\(Int.random(in: 0..<200, using: &generator))"
            let row = EmulatedRow(
                id: RowID(id),
                values: ["number": .integer(Int64(number % 11))],
                createdAt: 0,
                stamp: Int64.random(in: 0..<40, using: &generator) * Timestamp.ticksPerMillisecond,
                version: "\(number)",
                deleted: number % 7 == 0
            )
            if number % 13 == 0 { table.remove(row.id) } else { table.store(row) }
        }
        return table
    }

    private static func parsed(_ text: String, _ generator: inout SeededGenerator) throws -> ODataExpression {
        let stamp = Timestamp.text(milliseconds: Int64.random(in: 0..<40, using: &generator))
        let id = "id-\(Int.random(in: 0..<200, using: &generator))"
        return try ODataParser.filter(
            text.replacing("T", with: stamp).replacing("I", with: id),
            .datasync,
            resolve: { .column($0) }
        )
    }

    @Test("a page has the rows that match, in their order, from its place on, and the count of all")
    func agreement() throws {
        var generator = SeededGenerator(seed: SeededGenerator.seed())
        for _ in 0..<40 {
            let table = Self.table(&generator)
            for order in Self.orders {
                let texts = (0..<Int.random(in: 0...3, using: &generator))
                    .compactMap { _ in Self.conditions.randomElement(using: &generator) }
                let parts = try texts.map { try Self.parsed($0, &generator) }
                var query = TableQuery(filter: parts.isEmpty ? nil : .all(parts))
                if !order.isEmpty {
                    query.orders = try ODataParser.order(order, .datasync, resolve: { .column($0) })
                }
                query.includesDeleted = .random(using: &generator)
                query.skip = Int.random(in: 0..<60, using: &generator)
                query.take = Int.random(in: 0..<60, using: &generator)
                query.needsTotal = true
                let expected = Self.search(query, in: table)
                let result = query.run(on: table)
                let page = expected.dropFirst(query.skip).prefix(query.take ?? 0)
                #expect(result.rows.map(\.id) == page.map(\.id), "\(texts) \(order)")
                #expect(result.matching == expected.count)
                #expect(result.hasMore == (expected.count > query.skip + (query.take ?? 0)))
            }
        }
    }

    /// All rows that match, in order, found by looking at each.
    private static func search(_ query: TableQuery, in table: EmulatedTable) -> [EmulatedRow] {
        let rows = table.rowsByID.filter { row in
            (query.includesDeleted || !row.deleted)
                && (query.filter.map { ODataEvaluator(row: row, columns: table.columns).matches($0) } ?? true)
        }
        return rows.sorted { first, second in
            for order in query.orders {
                let left = ODataEvaluator(row: first).value(order.expression)
                switch left.sortOrder(to: ODataEvaluator(row: second).value(order.expression)) {
                case .same: continue
                case .ascending: return !order.isDescending
                case .descending: return order.isDescending
                }
            }
            return first.id < second.id
        }
    }

    @Test("many rows stored at once are stored as one by one")
    func bulk() throws {
        let rows = (0..<1_500)
            .map { number -> [String: JSONValue] in
                [
                    "id": .string("\(number * 7 % 1_400)"), "number": .integer(Int64(number)),
                    "deleted": .bool(number % 3 == 0),
                ]
            }
        let (whole, parts) = (Client(), Client())
        try whole.emulator.seed(rows, in: "todoitem")
        for start in stride(from: 0, to: rows.count, by: 500) {
            try parts.emulator.seed(Array(rows[start..<start + 500]), in: "todoitem")
        }
        func shown(_ client: Client) -> [[String: JSONValue]] {
            client.emulator.rows(in: "todoitem").map { $0.filter { $0.key != "version" } }
        }
        #expect(shown(whole) == shown(parts))
    }
}
