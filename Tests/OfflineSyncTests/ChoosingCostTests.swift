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

    /// How many statements each change takes of those that come with more of them.
    private func statementsOfEach(_ statements: (Int) async throws -> Int) async throws -> Int {
        let (few, many) = (try await statements(64), try await statements(320))
        return (many - few) / 256
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

    @Test("looks at a long group once for a deletion that stands before those of the rows that referred to the row")
    func deletedFirst() async throws {
        let world = try await World(taskCount: 12_000)
        let (lists, tasks) = (world.lists, world.tasks)
        try await world.context.write { transaction in
            try transaction.delete("l", from: lists)
            for number in 0..<12_000 { try transaction.delete("t\(number)", from: tasks) }
        }
        world.server.script = { _ in throw RemoteError(.refused, "no", status: 422) }
        #expect(try await world.context.push().failures.map(\.itemID) == ["l"])
        await world.store.close()
    }

    @Test("reads each deletion of a row that referred to a deleted one a few times, however many there are")
    func deletedBefore() async throws {
        let each = try await statementsOfEach { count in
            let world = try await World(taskCount: count)
            try await world.lists.update(Record(id: "l", ["text": "changed"]))
            for number in 0..<count { try await world.tasks.delete("t\(number)") }
            try await world.lists.delete("l")
            let statements = try await world.push().joined().count
            #expect(world.server.written.suffix(count + 1) == (0..<count).map { "t\($0)" } + ["l"])
            await world.store.close()
            return statements
        }
        #expect(each < 30, "\(each)")
    }

    @Test("goes the way through rows that each name a newer one once in a transaction")
    func chain() async throws {
        let each = try await statementsOfEach { count in
            let world = try await World()
            let lists = world.lists
            for number in 0..<count {
                try await lists.insert(["text": "1", "above": .string("m\(number + 1)")], id: "m\(number)")
            }
            try await lists.insert(["text": "last"], id: "m\(count)")
            let statements = try await world.push().joined().count
            #expect(world.server.written == ["l"] + (0...count).reversed().map { "m\($0)" })
            await world.store.close()
            return statements
        }
        #expect(each < 60, "\(each)")
    }

    @Test("reads what waits of other tables many at a time")
    func otherTables() async throws {
        let world = try await World()
        for number in 0..<640 { try await world.lists.insert(["text": "1"], id: "m\(number)") }
        try await world.tasks.insert(["text": "1"], id: "u")
        let statements = try await world.push(world.tasks).joined().count
        #expect(statements < 100, "\(statements)")
        #expect(world.server.written.dropFirst() == ["u"])
        await world.store.close()
    }
}
