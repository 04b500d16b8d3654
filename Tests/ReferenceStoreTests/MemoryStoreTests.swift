import ReferenceStore
import SyncContract
import Testing

@Suite("The store in memory")
struct MemoryStoreTests {
    static let table = TableDefinition("T", columns: [.init("text", .string), .init("rank", .double)])
    let store: MemoryStore

    init() throws { store = MemoryStore(try StoreSchema([Self.table])) }

    func all() async throws -> [Record] { try await store.read(Query("T")).records }

    @Test("a transaction that throws leaves nothing behind and its error comes back")
    func rollback() async throws {
        struct Refusal: Error {}
        await #expect(throws: Refusal.self) {
            try await store.write { transaction in
                try transaction.upsert([Record(id: "a")], into: "T")
                throw Refusal()
            }
        }
        #expect(try await all().isEmpty)
    }

    @Test("a transaction that throws puts back every row that it changed, deleted or wrote again, in every table")
    func rollbackOfRows() async throws {
        struct Refusal: Error {}
        let configuration = SystemTables.configuration.name
        try await store.upsert(["a", "b", "c"].map { Record(id: $0, ["text": "before"]) }, table: "T")
        try await store.upsert([Record(id: "x", ["value": "1"])], table: configuration)
        let before = try await all()
        await #expect(throws: Refusal.self) {
            try await store.write { transaction in
                try transaction.upsert(["a", "b", "new"].map { Record(id: $0, ["text": "once"]) }, into: "T")
                try transaction.delete(["a", "c", "new"], from: "T")
                try transaction.upsert(["a", "b", "c"].map { Record(id: $0, ["text": "twice"]) }, into: "T")
                try transaction.delete(Query(configuration))
                throw Refusal()
            }
        }
        #expect(Set(try await all()) == Set(before))
        #expect(try await store.read(Query(configuration)).records.map(\.id) == ["x"])
    }

    @Test("a call that is refused leaves nothing behind, also when the closure goes on, and touches nothing")
    func refusedCall() async throws {
        let changes = store.changes()
        try await store.write { transaction in
            do {
                try transaction.upsert([Record(id: "a"), Record(id: "b", ["rank": "text"])], into: "T")
            } catch is StoreError {
                return
            }
        }
        #expect(try await all().isEmpty)
        try await store.upsert([Record(id: "x")], table: SystemTables.configuration.name)
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next()?.tables == [SystemTables.configuration.name])
    }

    @Test("a transaction reads what it wrote")
    func readsOwnWrites() async throws {
        let seen = try await store.write { transaction in
            try transaction.upsert([Record(id: "a", ["text": "x"])], into: "T")
            return try transaction.record("a", in: "T")?["text"]
        }
        #expect(seen == "x")
    }

    @Test("an upsert merges: absent keys stay, nulls clear, and rows have every declared column")
    func merge() async throws {
        try await store.upsert([Record(id: "a", ["text": "x", "rank": 1])], table: "T")
        try await store.upsert([Record(id: "a", ["rank": .null])], table: "T")
        let row = try #require(try await all().first)
        #expect(row["text"] == "x")
        #expect(row["rank"] == .null)
        #expect(row["version"] == .null)
    }

    @Test("a whole number is taken by a column of doubles, text is not")
    func types() async throws {
        try await store.upsert([Record(id: "a", ["rank": 3])], table: "T")
        #expect(try await all().first?["rank"] == .double(3))
        let error = await #expect(throws: StoreError.self) {
            try await store.upsert([Record(id: "a", ["rank": "secret"])], table: "T")
        }
        #expect(error?.code == .invalidRecord)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("undeclared tables are refused by every call")
    func unknownTable() async throws {
        func code(_ body: () async throws -> Void) async -> StoreError.Code? {
            await #expect(throws: StoreError.self) { try await body() }?.code
        }
        #expect(await code { _ = try await store.read(Query("X")) } == .tableNotFound)
        #expect(await code { _ = try await store.read(table: "X", itemID: "a") } == .tableNotFound)
        #expect(await code { try await store.upsert([], table: "X") } == .tableNotFound)
        #expect(await code { try await store.deleteItems(withIDs: [], table: "X") } == .tableNotFound)
        #expect(await code { try await store.delete(Query("X")) } == .tableNotFound)
    }

    @Test("a NaN is refused under any key, whether undeclared ones are kept or not")
    func notANumber() async throws {
        let dropping = MemoryStore(try StoreSchema([Self.table]), keepsUnknownColumns: false)
        for store in [store, dropping] {
            for name in ["rank", "undeclared"] {
                let error = await #expect(throws: StoreError.self) {
                    try await store.upsert([Record(id: "a", [name: .double(.nan)])], table: "T")
                }
                #expect(error?.code == .invalidRecord)
            }
            #expect(try await store.read(Query("T")).records.isEmpty)
        }
    }

    @Test("changes are told after a commit, merged while unread, and never for what changed nothing")
    func changes() async throws {
        struct Refusal: Error {}
        let changes = store.changes()
        try await store.deleteItems(withIDs: ["absent"], table: "T")
        _ = try? await store.write { transaction in
            try transaction.upsert([Record(id: "a")], into: "T")
            throw Refusal()
        }
        try await store.upsert([Record(id: "a")], table: "T")
        try await store.upsert([Record(id: "x", ["value": "1"])], table: SystemTables.configuration.name)
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next()?.tables == ["T", SystemTables.configuration.name])
    }

    @Test("a subscriber that is cancelled stops waiting")
    func cancelledSubscriber() async throws {
        let changes = store.changes()
        let task = Task { for await _ in changes {} }
        task.cancel()
        await task.value
    }
}
