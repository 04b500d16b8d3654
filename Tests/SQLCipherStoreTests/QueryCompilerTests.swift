import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("Compiling queries")
struct QueryCompilerTests {
    private let layout = TableLayout(.items)

    private func compile(_ predicate: QueryPredicate) throws -> CompiledQuery {
        try QueryCompiler.count(Query("items").filtered(by: predicate), layout)
    }

    @Test("values are bound and names quoted")
    func binding() throws {
        let predicate = Column("text") == "O'Hara\"; DROP" && Column("int") > 5
        let compiled = try compile(predicate)
        #expect(
            compiled.sql
                == "SELECT COUNT(*) FROM \"items\" WHERE ((\"text\" IS ?1 COLLATE BINARY) AND (\"int\" > ?2))"
        )
        #expect(compiled.bindings == [.text("O'Hara\"; DROP"), .int64(5)])
    }

    @Test("a list of any length is one parameter, and the statement's text does not depend on it")
    func lists() async throws {
        let one = try compile(Column("text").isAny(of: (0..<2).map { .string("\($0)") }))
        let two = try compile(Column("text").isAny(of: (0..<2_000).map { .string("\($0)") }))
        #expect(one.sql == two.sql)
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        let ids = (0..<2_000).map { "id-\($0)" }
        try await store.upsert(ids.map { Record(id: .string($0), ["decimal": 1, "double": 2.5]) }, table: "items")
        let lists: [(String, [FieldValue], Int)] = [
            ("id", ids.map(FieldValue.string) + [.null, 1, true], 2_000),
            ("id", (0..<20_000).map { .string("x-\($0)") }, 0),
            ("decimal", (0..<2_000).map { .double(Double($0) / 2) }, 2_000),
            ("double", (0..<2_000).map { .decimal(DecimalText("\($0).5")!) }, 2_000),
        ]
        for (column, values, expected) in lists {
            let query = Query("items").filtered(by: Column(column).isAny(of: values))
            #expect(try await store.read { try $0.count(query) } == expected)
            let opposite = Query("items").filtered(by: !Column(column).isAny(of: values))
            #expect(try await store.read { try $0.count(opposite) } == 2_000 - expected)
        }
        await store.close()
    }

    @Test("thousands of conditions work, more than a statement has parameters")
    func wide() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert((0..<3_000).map { Record(id: .string("\($0)"), ["int": .int64($0)]) }, table: "items")
        let parts = (0..<2_500).map { Column("int") == .int64($0) }
        let nested = parts.dropFirst().reduce(parts[0]) { $0 || $1 }
        for predicate in [.any(parts), nested, !QueryPredicate.all(parts.map { !$0 })] {
            let query = Query("items").filtered(by: predicate).ordered(by: "int").skipping(2_400).limited(to: 200)
            let records = try await store.read { try $0.records(query) }
            #expect(records.map { $0["int"] } == (2_400..<2_500).map(FieldValue.int64))
        }
        await store.close()
    }

    @Test("trees of any depth agree with the evaluator or are refused, whatever stands at the bottom")
    func deep() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        let records = (0..<5).map { Record(id: .string("\($0)"), ["int": .int64($0), "text": "x", "decimal": 1]) }
        try await store.upsert(records, table: "items")
        let leaves: [QueryPredicate] = [
            Column("int") > 2, Column("int").isAny(of: [1, 2, 1.5]), Column("text").containsIgnoringASCIICase("X"),
            .comparison(.column("decimal"), .notEqual, .column("int")),
        ]
        let steps: [(QueryPredicate) -> QueryPredicate] = [
            { !$0 }, { !($0 && Column("int") < 4) }, { .any([.all([$0, Column("int") < 4]), Column("text") == "y"]) },
            { .all([Column("int") < 4, .any([Column("int") == 0, $0])]) },
        ]
        for leaf in leaves {
            for (index, step) in steps.enumerated() {
                var predicate = leaf
                var works = true
                for depth in 1...120 {
                    predicate = step(predicate)
                    let query = Query("items").filtered(by: predicate)
                    do {
                        let count = try await store.read { try $0.count(query) }
                        let deleted = try await store.write { transaction in
                            let count = try transaction.delete(query.limited(to: 100))
                            try transaction.upsert(records, into: "items")
                            return count
                        }
                        let expected = try records.count { try QueryEvaluator(.items).matches($0, predicate) }
                        #expect(count == expected && deleted == expected, "step \(index), depth \(depth)")
                        #expect(works)
                    } catch let error as StoreError {
                        #expect(error.code == .invalidQuery, "step \(index), depth \(depth): \(error)")
                        #expect(depth > 12, "step \(index)")
                        works = false
                    }
                }
            }
        }
        await store.close()
    }

    @Test("ids and indexed columns are found by their index, in lists, below limits, whatever the comparison of ids")
    func indexUse() async throws {
        let table = TableDefinition(
            "t",
            columns: [.init("a", .string), .init("n", .int64), .init("when", .date)],
            idComparison: .asciiCaseInsensitive,
            indexes: [["a", "n"], ["when"]]
        )
        let folder = try TestFolder()
        await (try EncryptedStore.open(in: folder, [table])).close()
        let database = try folder.openDatabase()
        let predicates: [QueryPredicate] = [
            Column("id") == "x", Column("id").isAny(of: ["x", "y"]), Column("a") == "x", Column("a") == .null,
            Column("a") == "x" && Column("n") > 3, Column("a").isAny(of: ["x", "y"]),
            Column("when") >= .date(Timestamp(milliseconds: 0)),
        ]
        for predicate in predicates {
            // Rows between two dates come in the order of the dates; by id, SQLite rightly walks the ids.
            let query = Query("t").filtered(by: predicate).ordered(by: predicate == predicates.last ? "when" : "id")
            let compiled = try QueryCompiler.select(query, TableLayout(table), columns: "*")
            let plan = try database.withStatement("EXPLAIN QUERY PLAN " + compiled.sql) { statement in
                var lines: [String] = []
                while try statement.step() { lines.append(statement.text(3)) }
                return lines
            }
            #expect(
                plan.contains { $0.hasPrefix("SEARCH") && $0.contains(" t ") || $0.hasSuffix(" t") },
                "\(predicate): \(plan)"
            )
            #expect(!plan.contains { $0 == "SCAN TABLE t" || $0 == "SCAN t" }, "\(plan)")
        }
    }
}
