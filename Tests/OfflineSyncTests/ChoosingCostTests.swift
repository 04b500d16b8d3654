import OfflineSync
import RemoteContract
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

/// What it costs to find out what is sent next: it is looked at once, not once for each of those that wait with it.
@Suite("Choosing what is sent next", .timeLimit(.minutes(1)))
struct ChoosingCostTests {
    /// Lists and tasks in an encrypted store, and the statements of its writing connection.
    private struct World {
        let folder: TestFolder
        let store: EncryptedStore
        let server = GroupServer()
        let context: SyncContext
        let lists: SyncTable<Record>
        let tasks: SyncTable<Record>
        private let log = StatementLog()

        /// Has a list on both sides, and some tasks of it.
        init(taskCount: Int = 0) async throws {
            folder = try TestFolder()
            store = try await .open(in: folder, ReferringTables.schema.get().tables)
            // The clock stands still: as many as there can be are chosen at a time.
            context = SyncContext(store: store, remote: server, clock: ManualClock())
            (lists, tasks) = (try context.table("lists"), try context.table("tasks"))
            let server = server
            server.change("l", "l")
            for number in 0..<taskCount { server.change("t\(number)", "t", ["list": "l"]) }
            try await store.write { transaction in
                let list = Record(id: "l", ["text": "l", "version": "1"])
                try transaction.upsert([list], into: "lists")
                let tasks = (0..<taskCount)
                    .map { number in
                        Record(
                            id: .string("t\(number)"),
                            ["text": "t", "list": "l", "version": .string("\(number + 2)")]
                        )
                    }
                try transaction.upsert(tasks, into: "tasks")
            }
        }

        /// The statements of each transaction that writes while a push runs.
        func push(_ table: SyncTable<Record>? = nil) async throws -> [[String]] {
            let log = log
            try await store.write { log.watch(try #require($0.backend as? WriteBackend).database()) }
            _ = log.take()
            if let table { _ = try await context.push(table) } else { _ = try await context.push() }
            return log.take().split { $0.hasPrefix("BEGIN") }.map(Array.init)
        }
    }

    @Test("takes short transactions, also where much waits for one row that stays")
    func held() async throws {
        let world = try await World()
        try await world.lists.insert(["text": "m"], id: "m")
        let tasks = world.tasks
        for number in 0..<1_000 { try await tasks.insert(["text": "u", "list": "m"], id: "u\(number)") }
        world.server.script = { _ in throw RemoteError(.refused, "no", status: 422) }
        for _ in 1...2 {
            let transactions = try await world.push()
            #expect((transactions.map(\.count).max() ?? 0) < 1_200, "\(transactions.map(\.count))")
        }
        #expect(world.server.begun == ["m"])
        #expect(try await world.context.operations().count == 1_001)
        await world.store.close()
    }
}
