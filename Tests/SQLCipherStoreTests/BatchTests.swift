import QueryGenerator
import ReferenceStore
import SQLCipherStoreTestSupport
import SeededNumbers
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("Reading in batches")
struct BatchTests {
    enum Kind: CaseIterable {
        case encrypted, inMemory
    }

    private func with(
        _ kind: Kind,
        _ table: TableDefinition = .items,
        _ body: (any SyncContextDataSource) async throws -> Void
    ) async throws {
        switch kind {
        case .inMemory: try await body(MemoryStore(try StoreSchema([table])))
        case .encrypted:
            let folder = try TestFolder()
            let store = try await EncryptedStore.open(in: folder, [table])
            try await body(store)
            await store.close()
        }
    }

    private func all(_ batches: QueryBatches) async throws -> [[Record]] {
        var all: [[Record]] = []
        for try await batch in batches { all.append(batch) }
        return all
    }

    @Test(
        "batches joined are the result, for any order, limit, offset and selection",
        arguments: Kind.allCases,
        [TableDefinition.items, .folding]
    )
    func joined(kind: Kind, table: TableDefinition) async throws {
        let seed = SeededGenerator.seed()
        try await with(kind, table) { store in
            var random = RandomQueries(table, .everything, seed: seed)
            var records: [RecordID: Record] = [:]
            for _ in 0..<40 {
                let id = RecordID.string(random.text() + random.text())
                records[id.folded(for: table.idComparison)] = random.record(id)
            }
            try await store.upsert(Array(records.values), table: table.name)
            for index in 0..<SeededGenerator.rounds(60, all: 150) {
                let query = random.query(depth: 1)
                let size = random.pick([1, 2, 3, 7, 40, 1_000])
                let whole = try await store.read(query).records
                let batches = try await all(store.batches(of: query, size: size))
                #expect(batches.flatMap { $0 } == whole, "seed \(seed), query \(index), size \(size): \(query)")
                #expect(batches.dropLast().allSatisfy { $0.count == size } && !batches.contains { $0.isEmpty })
            }
        }
    }

    @Test("nulls, ties and descending columns neither repeat nor lose a row", arguments: Kind.allCases)
    func ties(kind: Kind) async throws {
        try await with(kind) { store in
            let numbers: [FieldValue] = [.null, 1, 1, 2, .null, 2, 1, .null]
            let decimals = ["1", "1.0", "1.00", "2"].map { FieldValue.decimal(DecimalText($0)!) } + [.null]
            let rows = (0..<40)
                .map { Record(id: .string("\($0)"), ["int": numbers[$0 % 8], "decimal": decimals[$0 % 5]]) }
            try await store.upsert(rows, table: "items")
            let directions: [QueryOrder.Direction] = [.ascending, .descending]
            for (first, second) in directions.flatMap({ first in directions.map { (first, $0) } }) {
                for idDirection in directions {
                    let query = Query("items").ordered(by: "int", first).ordered(by: "decimal", second)
                        .ordered(by: "id", idDirection)
                    for size in [1, 3, 5] {
                        let batches = try await all(store.batches(of: query, size: size))
                        #expect(try await batches.flatMap { $0 } == store.read(query).records)
                    }
                }
            }
        }
    }

    @Test("rows that stay where they are come once, whatever is written between two batches", arguments: Kind.allCases)
    func writesInBetween(kind: Kind) async throws {
        try await with(kind) { store in
            let staying = (0..<30).map { Record(id: .string("s\($0)"), ["int": .int64(Int64($0 % 4))]) }
            try await store.upsert(staying, table: "items")
            var seen: [RecordID] = []
            var round = 0
            for try await batch in store.batches(of: Query("items").ordered(by: "int", .descending), size: 4) {
                seen += batch.map(\.id)
                round += 1
                // The batch's own last row goes, others come in front and behind, and one moves each time.
                let new = (0..<5).map { Record(id: .string("n\(round)-\($0)"), ["int": .int64(Int64($0))]) }
                try await store.upsert(new + [Record(id: "moving", ["int": .int64(Int64(round % 4))])], table: "items")
                try await store.deleteItems(
                    withIDs: batch.map(\.id).filter { $0.stringValue?.hasPrefix("s") == false },
                    table: "items"
                )
            }
            #expect(seen.filter { $0.stringValue?.hasPrefix("s") == true }.count == 30)
            #expect(Set(seen).isSuperset(of: staying.map(\.id)))
        }
    }

    @Test("the last row of a batch may be deleted before the next", arguments: Kind.allCases)
    func deletedInBetween(kind: Kind) async throws {
        try await with(kind) { store in
            try await store.upsert((10..<30).map { Record(id: .string("\($0)")) }, table: "items")
            var seen: [RecordID] = []
            for try await batch in store.batches(of: Query("items"), size: 3) {
                seen += batch.map(\.id)
                try await store.deleteItems(withIDs: batch.map(\.id), table: "items")
            }
            #expect(seen == (10..<30).map { .string("\($0)") })
            #expect(try await store.read(Query("items")).records.isEmpty)
        }
    }

    @Test("a cancelled task gets no further batch", arguments: Kind.allCases)
    func cancellation(kind: Kind) async throws {
        try await with(kind) { store in
            try await store.upsert((0..<10).map { Record(id: .string("\($0)")) }, table: "items")
            let task = Task {
                var count = 0
                do {
                    for try await _ in store.batches(of: Query("items"), size: 2) {
                        count += 1
                        if count == 2 { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
                    }
                    return (count, false)
                } catch is CancellationError {
                    return (count, true)
                }
            }
            #expect(try await task.value == (2, true))
        }
    }

    @Test(
        "nothing is read without a batch, and errors come with the first one and end the iteration",
        arguments: Kind.allCases
    )
    func errors(kind: Kind) async throws {
        try await with(kind) { store in
            #expect(try await all(store.batches(of: Query("items"), size: 5)).isEmpty)
            try await store.upsert([Record(id: "1"), Record(id: "2")], table: "items")
            #expect(try await all(store.batches(of: Query("items").limited(to: 0), size: 5)).isEmpty)
            #expect(try await all(store.batches(of: Query("items"), size: .max)).map(\.count) == [2])
            let broken = [
                (store.batches(of: Query("items"), size: 0), StoreError.Code.invalidQuery),
                (store.batches(of: Query("items"), size: -1), .invalidQuery),
                (store.batches(of: Query("items").ordered(by: "nope"), size: 1), .invalidQuery),
                (store.batches(of: Query("items").limited(to: -1), size: 1), .invalidQuery),
                (store.batches(of: Query("nope"), size: 1), .tableNotFound),
            ]
            for (batches, expected) in broken {
                var iterator = batches.makeAsyncIterator()
                do {
                    _ = try await iterator.next()
                    Issue.record("expected \(expected)")
                } catch let error as StoreError {
                    #expect(error.code == expected)
                }
                #expect(try await iterator.next() == nil)
            }
        }
    }

    @Test("the place of a batch is found by an index")
    func indexUse() async throws {
        let table = TableDefinition("t", columns: [.init("n", .int64)], indexes: [["n"]])
        let folder = try TestFolder()
        await (try EncryptedStore.open(in: folder, [table])).close()
        let database = try folder.openDatabase()
        for query in [
            Query("t"), Query("t").ordered(by: "n"), Query("t").ordered(by: "n").filtered(by: Column("n") % 2 == 1),
        ] {
            let later = query.filtered(by: .follows(Record(id: "5", ["n": 3]), in: query.order)).limited(to: 4)
            var compiled = try QueryCompiler.select(later, TableLayout(table), columns: "*")
            compiled.sql = "EXPLAIN QUERY PLAN " + compiled.sql
            let plan = try database.withStatement(compiled) { statement in
                var lines: [String] = []
                while try statement.step() { lines.append(statement.text(3)) }
                return lines
            }
            let finds = plan.contains { $0.hasPrefix("SEARCH") && $0.contains("INDEX") }
            #expect(finds && !plan.contains("USE TEMP B-TREE FOR ORDER BY"), "\(query): \(plan)")
        }
    }
}
