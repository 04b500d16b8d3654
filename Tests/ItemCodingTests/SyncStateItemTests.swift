import ItemCoding
import ReferenceStore
import SyncContract
import Testing

@Suite("Items that ask for the states of their rows")
struct SyncStateItemTests {
    private struct Stated: Codable, Identifiable, Sendable, Equatable {
        var id: String
        var name: String
        var state = SyncState.synced
    }

    /// Asks only in some rows, and goes on when it gets none.
    private struct Moody: Decodable, Sendable, Equatable {
        let id: String
        let state: SyncState?

        private enum CodingKeys: CodingKey { case id, asks, state }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            guard try container.decodeIfPresent(Bool.self, forKey: .asks) == true else {
                state = nil
                return
            }
            do {
                state = try container.decode(SyncState.self, forKey: .state)
            } catch {
                state = .failed
            }
        }
    }

    private func store(_ answers: Bool) async throws -> MemoryStore {
        let table = TableDefinition("t", columns: [.init("name", .string), .init("asks", .bool)])
        let store = MemoryStore(try StoreSchema([table]), answersSyncStates: answers)
        try await store.write { transaction in
            try transaction.upsert(
                ["a", "b", "c", "d"].map { Record(id: $0, ["name": "x", "asks": .bool($0 == "c")]) },
                into: "t"
            )
            let operation = Record(id: 1, ["table": "t", "itemKey": "c", "state": 1])
            try transaction.upsert([operation], into: SystemTables.operations.name)
        }
        return store
    }

    @Test("get them in every reading of a transaction", arguments: [true, false])
    func reading(_ answers: Bool) async throws {
        let store = try await store(answers)
        let query = Query("t").skipping(1).limited(to: 2).selecting(["asks"])
        for _ in 0..<2 {
            let (items, one) = try await store.read { reader in
                (try reader.items(query, as: Stated.self), try reader.item("c", in: "t", as: Stated.self))
            }
            #expect(items.map(\.state) == [.synced, .conflicted])
            #expect(one?.state == .conflicted)
        }
    }

    @Test("are handed over once each when a later row is the first to ask", arguments: [true, false])
    func lateQuestion(_ answers: Bool) async throws {
        let store = try await store(answers)
        let items = try await store.read { try $0.items(Query("t"), as: Moody.self) }
        #expect(items.map(\.id) == ["a", "b", "c", "d"])
        #expect(items.map(\.state) == [nil, nil, .conflicted, nil])
    }

    @Test("leave what is put there out of the store, and every column as it is")
    func writing() async throws {
        let store = try await store(true)
        try await store.write { try $0.upsert([Stated(id: "c", name: "y", state: .failed)], into: "t") }
        let row = try await store.read(table: "t", itemID: "c")
        #expect(row?.fields == ["name": "y", "asks": true, "createdAt": .null, "updatedAt": .null, "version": .null])
    }
}
