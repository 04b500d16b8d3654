import OfflineSync
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import Testing

private struct Note: Codable, Identifiable, Sendable {
    var id: String
    var text = "new"
}

/// Inserts where the store finds out as it writes that nothing is in the way, and where it leaves that to the engine: what
/// comes of them is the same.
@Suite("Inserts, whatever is in their way")
struct InsertTests {
    enum Way: CaseIterable {
        case record, item, records, items
    }

    private struct World<Store: SyncContextDataSource> {
        let context: SyncContext
        let todos: SyncTable<Record>
        let notes: SyncTable<Note>

        init(_ store: Store) async throws {
            context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
            todos = try context.table(todoTable.name)
            notes = try context.table(todoTable.name, of: Note.self)
            try await store.upsert(
                ["here", "gone"].map { Record(id: .string($0), ["text": "old", "version": "1", "extra": "kept"]) },
                table: todoTable.name
            )
            try await todos.delete("gone")
            try await todos.insert(["text": "waits"], id: "waiting")
        }

        /// Inserts items; what was refused is told.
        func insert(_ ids: [String], _ way: Way) async throws -> [String] {
            try await context.write { [todos, notes] transaction in
                var refusals: [String] = []
                for id in ids {
                    do {
                        switch way {
                        case .record: try transaction.insert(["text": "new"], id: id, into: todos)
                        case .item: try transaction.insert(Note(id: id), into: notes)
                        case .records:
                            try transaction.insert(contentsOf: [Record(id: .string(id), ["text": "new"])], into: todos)
                        case .items: try transaction.insert(contentsOf: [Note(id: id)], into: notes)
                        }
                    } catch let error as SyncError {
                        refusals.append("\(id): \(error.message)")
                    }
                }
                return refusals
            }
        }

        /// The rows, and what waits for them.
        func content() async throws -> [String] {
            let rows = try await todos.read(todos.query.ordered(by: "id")).records
                .map { "\($0.id) \($0["text"] ?? .null) \($0["extra"] ?? .null) \($0.version ?? "-")" }
            let operations = try await context.operations()
                .map { "\($0.itemID) \($0.kind) \($0.baseVersion ?? "-") \($0.groups)" }
            return rows + operations
        }
    }

    @Test("are refused, become changes of what is to be deleted, or are new", arguments: Way.allCases)
    func ways(_ way: Way) async throws {
        let folder = try TestFolder()
        let encrypted = try await EncryptedStore.open(in: folder, [todoTable])
        let world = try await World(encrypted)
        let ids = ["a", "here", "gone", "b", "waiting", "a", "no/way"]
        let refusals = try await world.insert(ids, way)
        #expect(refusals.count == 4)
        let other = try await World(makeStore())
        #expect(try await other.insert(ids, way) == refusals)
        let content = try await world.content()
        #expect(content.contains { $0.hasSuffix("[1]") && $0.hasPrefix("gone update 1") })
        #expect(content.contains { $0.contains("gone") && $0.contains("new") && $0.contains("kept") })
        #expect(try await other.content() == content)
        #expect(try await encrypted.verifyQueue().isEmpty)
        #expect(Set(try await world.context.operations().map(\.id)).count == 4)
        await encrypted.close()
    }

    @Test("of an item alone, that was deleted, is no group", arguments: Way.allCases)
    func alone(_ way: Way) async throws {
        let folder = try TestFolder()
        let encrypted = try await EncryptedStore.open(in: folder, [todoTable])
        let world = try await World(encrypted)
        #expect(try await world.insert(["gone"], way).isEmpty)
        #expect(try await world.context.operations().map(\.groups) == [[], []])
        await encrypted.close()
    }
}
