import CSQLCipher
import QueryEvaluation
import QueryGenerator
import SQLCipherStoreTestSupport
import SeededNumbers
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("Queries that are asked again")
struct QueryPlansTests {
    private let layout = TableLayout(.items)
    private let items = Query("items")

    @Test(
        "give what the evaluator gives, whatever values they are asked with",
        arguments: [TableDefinition.items, .folding]
    )
    func otherValues(table: TableDefinition) async throws {
        let seed = SeededGenerator.seed()
        var random = RandomQueries(table, .everything, seed: seed)
        let folder = try TestFolder()
        // All on one connection, which has compiled the queries before.
        var options = EncryptedStoreOptions()
        options.readerCount = 1
        let store = try await EncryptedStore.open(
            at: folder.database,
            key: .testKey(),
            schema: StoreSchema([table]),
            options: options
        )
        let records = (0..<60).map { random.record(.string("ID-\($0)")) }
        try await store.upsert(records, table: table.name)
        random.rows = records

        for index in 0..<SeededGenerator.rounds(300, all: 1_000) {
            var query = random.query()
            for _ in 0..<3 {
                let expected = try QueryEvaluator(table).evaluate(query, over: records)
                let result = try await store.read(query)
                guard result.records == expected else {
                    Issue.record("seed \(seed), query \(index): \(query) gave \(result.records.map(\.id))")
                    return
                }
                query = Self.withOtherValues(query, table, &random)
            }
        }
        await store.close()
    }

    @Test("that are too deep for SQL are answered as often as they are asked", arguments: [20, 21, 22, 60])
    func deep(depth: Int) async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [.items])
        try await store.upsert([Record(id: "a"), Record(id: "b")], table: "items")
        var condition = Column.syncState == .pending
        for _ in 0..<depth { condition = !condition }
        for _ in 0..<3 {
            #expect(try await store.read(items.filtered(by: condition)).records.count == (depth % 2 == 0 ? 0 : 2))
        }
        await store.close()
    }

    @Test("have the SQL and the values of their shape")
    func shapes() throws {
        let seed = SeededGenerator.seed()
        var random = RandomQueries(.items, .everything, seed: seed)
        random.rows = (0..<20).map { random.record(.string("ID-\($0)")) }
        var shapes: [Query: String] = [:]
        var repetitions = 0
        for _ in 0..<SeededGenerator.rounds(500, all: 2_000) {
            var query = random.query(depth: 2)
            for _ in 0..<4 {
                if let shaped = ShapedQuery(query, layout) {
                    let compiled = try QueryCompiler.select(query, layout, columns: "*")
                    #expect(compiled.bindings == shaped.values, "seed \(seed): \(query)")
                    #expect(compiled.rowConditions.isEmpty, "seed \(seed): \(query)")
                    if let sql = shapes.updateValue(compiled.sql, forKey: shaped.shape) {
                        #expect(compiled.sql == sql, "seed \(seed): \(query)")
                        repetitions += 1
                    }
                }
                query = Self.withOtherValues(query, .items, &random)
            }
        }
        #expect(repetitions > 50, "seed \(seed)")
    }

    @Test("have one shape when they differ in their values alone")
    func oneShape() throws {
        func shaped(_ text: String, _ number: Int64, limit: Int, offset: Int) throws -> ShapedQuery {
            let query = items.filtered(by: Column("text") == .string(text) && Column("int") > .int64(number))
            return try #require(ShapedQuery(query.limited(to: limit).skipping(offset), layout))
        }
        let (one, other) = (try shaped("a", 1, limit: 5, offset: 0), try shaped("b", 2, limit: 6, offset: 7))
        #expect(one.shape == other.shape)
        #expect(one.values == [.text("a"), .int64(1), .int64(5), .int64(0)])
        #expect(other.values == [.text("b"), .int64(2), .int64(6), .int64(7)])
    }

    @Test("have different shapes when their SQL differs")
    func differentShapes() throws {
        let text = Column("text")
        let queries = [
            items, items.filtered(by: text == "a"), items.filtered(by: text == .null), items.filtered(by: text != "a"),
            items.filtered(by: text > "a"), items.filtered(by: Column("id") == "a"), items.filtered(by: !(text == "a")),
            items.filtered(by: text == "a" && text > "b"), items.filtered(by: text == "a" || text > "b"),
            items.filtered(by: text == "a").limited(to: 1), items.ordered(by: "text"), items.selecting([]),
            items.ordered(by: "text", .descending), items.ordered(by: "text", folded: true), items.limited(to: 1),
        ]
        let shapes = try queries.map { try #require(ShapedQuery($0, layout)).shape }
        #expect(Set(shapes).count == queries.count)
    }

    @Test("have none when their values decide how they compile, or nothing would be gained")
    func noShape() {
        let chain = (0..<1_000).reduce(Column("int") == 0) { $0 && Column("int") != .int64(Int64($1)) }
        let predicates: [QueryPredicate] = [
            Column("int") == 1.5, Column("double") == 1, Column("double") == .double(.nan), Column("decimal") == 1,
            Column("text") == 1, Column("absent") == 1, Column("text").isAny(of: ["a"]),
            Column("text").starts(with: "a"), .comparison(.value(1), .equal, .value(1)), chain,
        ]
        for predicate in predicates { #expect(ShapedQuery(items.filtered(by: predicate), layout) == nil) }
        #expect(ShapedQuery(items.limited(to: -1), layout) == nil)
        #expect(ShapedQuery(items.skipping(-1), layout) == nil)
    }

    @Test("go on when the same is asked while their rows are read")
    func nested() throws {
        let database = try Database(path: ":memory:", flags: SQLITE_OPEN_READWRITE)
        let statement = CachedStatement("SELECT ?1 UNION SELECT ?1 + 1")
        func numbers(from first: Int64, _ body: (Int64) throws -> Void) throws {
            try statement.use(in: database) { statement in
                try statement.bind([.int64(first)])
                while try statement.step() { try body(statement.int64(0)) }
            }
        }
        var all: [Int64] = []
        try numbers(from: 1) { outer in try numbers(from: 10 * outer) { all += [outer, $0] } }
        #expect(all == [1, 10, 1, 11, 2, 20, 2, 21])
    }

    /// The query with other values of the same kinds, mostly, in its comparisons.
    private static func withOtherValues(_ query: Query, _ table: TableDefinition, _ random: inout RandomQueries)
        -> Query
    {
        var query = query
        query.predicate = query.predicate.map { withOtherValues($0, table, &random) }
        query.limit = query.limit.map { ($0 * 7 + 3) % 20 }
        query.offset = query.offset == 0 ? 0 : 1 + query.offset % 3
        return query
    }

    private static func withOtherValues(
        _ predicate: QueryPredicate,
        _ table: TableDefinition,
        _ random: inout RandomQueries
    ) -> QueryPredicate {
        switch predicate {
        case .all(let parts): return .all(parts.map { withOtherValues($0, table, &random) })
        case .any(let parts): return .any(parts.map { withOtherValues($0, table, &random) })
        case .not(let part): return .not(withOtherValues(part, table, &random))
        case .comparison(.column(let column), let comparison, .value):
            let value = random.value(column == "id" ? .string : table.type(of: column) ?? .string)
            return .comparison(.column(column), comparison, .value(value))
        default: return predicate
        }
    }
}
