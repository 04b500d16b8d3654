import ReferenceStore
import SQLCipherStoreTestSupport
import SeededNumbers
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("Text as people look for it")
struct SearchTests {
    /// Runs a body on both stores.
    private func withStores(
        _ tables: [TableDefinition],
        _ body: (any SyncContextDataSource) async throws -> Void
    ) async throws {
        try await body(MemoryStore(StoreSchema(tables)))
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, tables)
        try await body(store)
        await store.close()
    }

    @Test("coupon app: favourites first, then by name, found by shop and owner in any script, in one query")
    func couponApp() async throws {
        let coupons: [(id: String, shop: String, owner: String, favourite: Bool)] = [
            ("1", "Żabka", "Łukasz Ćwik", false), ("2", "zara", "Анна Ёлкина", false),
            ("3", "Ánimo Café", "lukas", true), ("4", "Пятёрочка", "Олег", true), ("5", "ΆΛΦΑ Τράπεζα", "Ωμέγα", false),
            ("6", "alfa", "Łukasz", true), ("7", "ПЯТЕРОЧКА экспресс", "ОЛЕГ", false), ("8", "محمد", "عَلِيّ", false),
        ]
        try await withStores([.searchable("Coupon")]) { store in
            try await store.upsert(
                coupons.map {
                    Record(
                        id: .string($0.id),
                        ["shop": .string($0.shop), "owner": .string($0.owner), "favourite": .bool($0.favourite)]
                    )
                },
                table: "Coupon"
            )
            func search(_ text: String) async throws -> [RecordID] {
                let query = Query("Coupon").filtered(by: .matches(words: text, in: ["shop", "owner"]))
                    .ordered(by: "favourite", .descending).ordered(by: "shop", folded: true)
                return try await store.read(query).records.map(\.id)
            }
            #expect(try await search("") == ["6", "3", "4", "1", "2", "5", "7", "8"])
            #expect(try await search("пятер") == ["4", "7"])
            #expect(try await search("олег ПЯТЁРОЧКА экс") == ["7"])
            #expect(try await search("LUK") == ["6", "3", "1"])
            #expect(try await search("lukasz zab") == ["1"])
            #expect(try await search("αλφα") == ["5"])
            #expect(try await search("علي") == ["8"])
            #expect(try await search("елкина") == ["2"])
            #expect(try await search("bka") == [])
            let query = Query("Coupon").filtered(by: Column("shop").folded.contains("ЯТЕР"))
            #expect(try await store.read(query).records.map(\.id) == ["4", "7"])
        }
    }

    @Test("values compared with folded text are folded as well")
    func likeWithLike() async throws {
        try await withStores([.searchable("T")]) { store in
            try await store.upsert([Record(id: "1", ["shop": "Łódź"]), Record(id: "2", ["shop": .null])], table: "T")
            func ids(_ predicate: QueryPredicate) async throws -> [RecordID] {
                try await store.read(Query("T").filtered(by: predicate)).records.map(\.id)
            }
            #expect(try await ids(Column("shop").folded == "LODZ") == ["1"])
            #expect(try await ids(Column("shop").folded == "Łódź") == ["1"])
            #expect(try await ids(Column("shop").folded != "łódź") == ["2"])
            #expect(try await ids(Column("shop").folded == .null) == ["2"])
            #expect(try await ids(Column("shop").folded.isAny(of: ["ŁÓDŹ", 3, .null])) == ["1", "2"])
            #expect(try await ids(Column("shop").folded.starts(with: "Łó")) == ["1"])
            #expect(try await ids(Column("shop").matches(words: "łódź", .wholeWords)) == ["1"])
            #expect(try await ids(!Column("shop").matches(words: "łód")) == ["2"])
        }
    }

    @Test("only text is searchable, and only text is ordered folded")
    func refusals() async throws {
        let error = #expect(throws: StoreError.self) {
            _ = try StoreSchema([TableDefinition("T", columns: [.init("n", .int64, isSearchable: true)])])
        }
        #expect(error?.code == .invalidSchema)
        try await withStores([.searchable("T")]) { store in
            for query in [
                Query("T").ordered(by: "favourite", folded: true),
                Query("T").filtered(by: .matches(words: "a", in: ["absent"])),
                Query("T").filtered(by: Column("absent").folded == "a"),
            ] {
                let found = try await code { _ = try await store.read(query) }
                #expect(found == .invalidQuery)
            }
        }
    }

    @Test(
        "SQL and memory agree on random searches over texts of many scripts",
        arguments: [IDComparison.exact, .asciiCaseInsensitive]
    )
    func agreement(_ comparison: IDComparison) async throws {
        let seed = SeededGenerator.seed()
        var texts = SearchTexts(seed: seed)
        let table = TableDefinition.searchable("T", comparison)
        var rows: [RecordID: Record] = [:]
        for _ in 0..<50 {
            let id = RecordID.string(texts.text(parts: 1...3))
            let values = ["shop": texts.value(), "owner": texts.value(), "plain": texts.value()]
            rows[id.folded(for: comparison)] = Record(id: id, values)
        }
        let records = Array(rows.values)
        let memory = MemoryStore(try StoreSchema([table]))
        try await memory.upsert(records, table: "T")
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [table])
        try await store.upsert(records, table: "T")
        for index in 0..<SeededGenerator.rounds(200, all: 500) {
            let query = texts.query("T").countingAll()
            let expected = try await memory.read(query)
            let result = try await store.read(query)
            guard result == expected else {
                Issue.record("seed \(seed), query \(index): \(query)\n\(expected.records)\n\(result.records)")
                return
            }
        }
        await store.close()
    }

    @Test("words, beginnings of words, folded comparisons and folded orders go by an index; other columns are scanned")
    func plans() async throws {
        let folder = try TestFolder()
        let table = TableDefinition.searchable("T")
        let store = try await EncryptedStore.open(in: folder, [table])
        try await store.upsert([Record(id: "1", ["shop": "Łódź", "owner": "Anna"])], table: "T")
        await store.close()
        let database = try folder.openDatabase()
        func plan(_ query: Query) throws -> String {
            let compiled = try QueryCompiler.select(query, TableLayout(table), columns: "*")
            var lines: [String] = []
            try database.withStatement("EXPLAIN QUERY PLAN " + compiled.sql) { statement in
                while try statement.step() { lines.append(statement.text(3)) }
            }
            return lines.joined(separator: "\n")
        }
        let all = Query("T")
        let words = try plan(all.filtered(by: .matches(words: "łódź an", in: ["shop", "owner"])))
        #expect(words.contains("words1:T:shop USING PRIMARY KEY (word>? AND word<?)"))
        #expect(words.contains("words1:T:owner USING PRIMARY KEY (word>? AND word<?)"))
        #expect(words.contains("T USING INDEX sqlite_autoindex_T_1 (id=?)"))
        #expect(try plan(all.filtered(by: .matches(words: "a", in: ["shop"], .wholeWords))).contains("(word=?)"))
        for predicate in [
            Column("shop").folded == "a", Column("shop").folded.starts(with: "a"),
            Column("shop").folded.isAny(of: ["a", "b"]),
        ] {
            let plan = try plan(all.filtered(by: predicate))
            #expect(plan.contains("T USING INDEX folded1:T:shop (<expr>"), "\(plan)")
        }
        let order = try plan(all.ordered(by: "shop", folded: true))
        #expect(order.contains("SCAN"))
        #expect(order.contains("USING INDEX folded1:T:shop"))
        #expect(!order.contains("TEMP B-TREE"))
        #expect(try !plan(all.filtered(by: Column("plain").folded == "a")).contains("INDEX folded1"))
        #expect(try !plan(all.filtered(by: .matches(words: "a", in: ["shop", "plain"]))).contains("words1"))
    }
}
