import Foundation
import OfflineSync
import RemoteContract
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

/// How many statements a local change takes: each is a search in the encrypted database, or a page more in the log.
@Suite("Statements of a local change")
struct StatementCountTests {
    private struct Note: Codable, Identifiable, Hashable, Sendable {
        var id = UUID().uuidString
        var text = "milk"
        var complete = false
        var due: Date? = Date(timeIntervalSince1970: 1_000)
    }

    /// A store with a row that is as on the server, and the statements of its writing connection.
    private struct World {
        let folder: TestFolder
        let store: EncryptedStore
        let context: SyncContext
        let notes: SyncTable<Note>
        let log = StatementLog()

        init() async throws {
            folder = try TestFolder()
            store = try await .open(in: folder, [todoTable])
            context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
            notes = try context.table(todoTable.name, of: Note.self)
            let log = log
            try await store.write { transaction in
                log.watch(try #require(transaction.backend as? WriteBackend).database())
                try transaction.upsert([Record(id: "synced", ["text": "milk"])], into: todoTable.name)
            }
            // What is made once, by the first change.
            try await notes.insert(Note(id: "first"))
            _ = log.take()
        }

        /// The statements that a closure makes the writing connection run.
        func statements(_ body: (SyncTable<Note>) async throws -> Void) async throws -> [String] {
            try await body(notes)
            return log.take()
        }
    }

    @Test("an insert takes five, the beginning and the commit among them")
    func insert() async throws {
        let world = try await World()
        let note = Note(id: "second")
        let statements = try await world.statements { notes in
            let stored = try await notes.insert(note)
            #expect(stored == note)
        }
        #expect(statements.count == 5, "\(statements)")
        await world.store.close()
    }

    @Test("an edit or a deletion of a row as on the server takes seven")
    func edit() async throws {
        let world = try await World()
        let edited = try await world.statements { try await $0.update(Note(id: "synced", text: "bread")) }
        #expect(edited.count == 7, "\(edited)")
        let again = try await world.statements { try await $0.update(Note(id: "synced", text: "butter")) }
        #expect(again.count == 7, "\(again)")
        await world.store.close()
        let other = try await World()
        let deleted = try await other.statements { try await $0.delete("synced") }
        #expect(deleted.count == 7, "\(deleted)")
        await other.store.close()
    }

    @Test("of inserts in one transaction each takes two, and what all share stays below ten")
    func group() async throws {
        let world = try await World()
        let statements = try await world.statements { notes in
            try await world.context.write {
                try $0.insert(contentsOf: (0..<300).map { Note(id: "\($0)") }, into: notes)
            }
        }
        #expect(statements.count < 610, "\(statements.count)")
        await world.store.close()
    }

    @Test("a change costs the statements of the first, however many wait")
    func queue() async throws {
        let world = try await World()
        try await world.context.write {
            try $0.insert(contentsOf: (0..<2_000).map { Note(id: "\($0)") }, into: world.notes)
        }
        _ = world.log.take()
        let statements = try await world.statements { try await $0.insert(Note()) }
        #expect(statements.count == 5, "\(statements)")
        await world.store.close()
    }
}
