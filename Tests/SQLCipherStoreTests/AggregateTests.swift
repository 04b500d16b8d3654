import QueryGenerator
import ReferenceStore
import SQLCipherStoreTestSupport
import SeededNumbers
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("Aggregates in SQL")
struct AggregateTests {
    @Test(
        "agree with what goes through the rows, over random rows and queries",
        arguments: [TableDefinition.items, .folding]
    )
    func random(table: TableDefinition) async throws {
        let seed = SeededGenerator.seed()
        var random = RandomQueries(table, .everything, seed: seed)
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [table])
        let memory = MemoryStore(try StoreSchema([table]))
        let columns = ["id"] + table.allColumns.map(\.name)
        let numbers = table.allColumns.filter { [.int64, .double, .decimal].contains($0.type) }.map(\.name)
        for index in 0..<SeededGenerator.rounds(150, all: 600) {
            let records = Self.records(random.pick(Array(0...12)), table, &random)
            random.rows = records
            let query = AggregateQuery(
                random.query(),
                [
                    .count, .sum(of: random.pick(numbers)), .minimum(of: random.pick(columns)),
                    .maximum(of: random.pick(columns)),
                ],
                by: random.chance(60) ? random.pick(columns + [Column.syncState.name]) : nil
            )
            let expected = try await memory.write { transaction in
                try transaction.delete(Query(table.name))
                try transaction.upsert(records, into: table.name)
                return Outcome { try transaction.aggregate(query) }
            }
            let written = try await store.write { transaction in
                try transaction.delete(Query(table.name))
                try transaction.upsert(records, into: table.name)
                return Outcome { try transaction.aggregate(query) }
            }
            let read = try await store.read { reader in Outcome { try reader.aggregate(query) } }
            guard written == expected, read == expected else {
                Issue.record("seed \(seed), \(index): \(query)\nexpected \(expected)\ngot \(read)\nwritten \(written)")
                return
            }
        }
        await store.close()
    }

    @Test("are refused beyond 64 bits and for infinities of both signs, and the store works on")
    func outOfRange() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [.items])
        let rows: [Record] = [
            Record(id: "1", ["int": .int64(.max), "double": .double(.infinity)]),
            Record(id: "2", ["int": 1, "double": .double(-.infinity)]),
        ]
        try await store.upsert(rows, table: "items")
        for column in ["int", "double"] {
            await #expect { try await store.aggregate(Query("items").aggregating(.sum(of: column))) } throws: {
                ($0 as? StoreError)?.code == .outOfRange && ($0 as? StoreError)?.message.contains("'\(column)'") == true
            }
        }
        let kept = try await store.write { transaction in
            let sums = Outcome { try transaction.aggregate(Query("items").aggregating(.sum(of: "int"))) }
            try transaction.upsert([Record(id: "3", ["int": -1])], into: "items")
            return sums
        }
        #expect(kept == Outcome(code: .outOfRange))
        let sum = try await store.aggregate(Query("items").aggregating(.sum(of: "int")))
        #expect(sum == [AggregateGroup(values: [.int64(.max)])])
        await store.close()
    }

    @Test("a live aggregate gives what a commit changes, and nothing for a commit that changes nothing of it")
    func observation() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [.items])
        var totals = store.observe(Query("items").aggregating(.sum(of: "int"), by: "bool")).makeAsyncIterator()
        #expect(try await totals.next() == [])
        try await store.upsert([Record(id: "1", ["int": 1, "bool": true])], table: "items")
        #expect(try await totals.next() == [AggregateGroup(group: true, values: [1])])
        try await store.upsert([Record(id: "1", ["text": "x"])], table: "items")
        try await store.upsert([Record(id: "2", ["int": 2, "bool": true])], table: "items")
        #expect(try await totals.next() == [AggregateGroup(group: true, values: [3])])
        await store.close()
    }

    /// A result, or the code of an error.
    private struct Outcome: Sendable, Equatable {
        var groups: [AggregateGroup] = []
        var code: StoreError.Code?

        init(code: StoreError.Code) { self.code = code }

        init(_ body: () throws -> [AggregateGroup]) {
            do {
                groups = try body()
            } catch {
                code = (error as? StoreError)?.code
            }
        }
    }

    private static func records(_ count: Int, _ table: TableDefinition, _ random: inout RandomQueries) -> [Record] {
        var rows: [RecordID: Record] = [:]
        for _ in 0..<count {
            let id = RecordID.string(random.text() + random.text())
            rows[id.folded(for: table.idComparison)] = random.record(id)
        }
        return Array(rows.values)
    }
}
