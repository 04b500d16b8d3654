import DatasyncEmulator
import Foundation
import SealedSync
import Testing

/// The tutorials of offline sync as programs of an app: one import, real files, a server behind a socket.
@Suite("Stories that apps tell", .timeLimit(.minutes(5)))
struct StoryTests {
    struct TodoItem: SyncItem, Equatable {
        var id = ""
        var userId: String?
        var text: String
        var complete = false
        var version: String?
    }

    private let folder: UserFolder
    private static let schema = try! StoreSchema([
        TableDefinition(
            "TodoItem",
            columns: [.init("userId", .string), .init("text", .string), .init("complete", .bool)]
        )
    ])

    init() throws { folder = try UserFolder() }

    private func withServer(_ dialect: DatasyncDialect, _ body: (String, Emulator) async throws -> Void) async throws {
        let emulator = Emulator(
            EmulatorConfiguration(dialect: dialect == .datasync ? .datasync : .azureMobileApps, tables: ["TodoItem"])
        )
        let server = EmulatorServer(emulator)
        let url = try await server.start()
        do {
            try await body(url.absoluteString, emulator)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func open(_ name: String, _ remote: DatasyncRemote? = nil) async throws -> SyncContext {
        try await SyncContext.open(
            StoreFolder(folder.parent.appending(path: name)),
            schema: Self.schema,
            unlocker: .secretFile(folder.parent.appending(path: "user.secret")),
            remote: remote
        )
    }

    @Test("a refresh fails without a network and loses nothing, and sends everything with the right address")
    func tutorial() async throws {
        try await withServer(.azureMobileApps) { address, emulator in
            for (run, address) in ["http://127.0.0.1:9", address].enumerated() {
                let context = try await SyncContext.open(
                    StoreFolder(folder.parent.appending(path: "tutorial")),
                    schema: Self.schema,
                    unlocker: .passphrase(SecretBytes("what was typed")),
                    remote: .azureMobileApps(address)
                )
                let todos = try context.table(TodoItem.self)
                try await todos.insert(TodoItem(text: "Buy milk"))
                if run == 0 {
                    let error = await #expect(throws: SyncError.self) { try await todos.pull(queryID: "AllRecords") }
                    #expect(error?.code == .pushAbortedNetwork)
                    #expect(try await context.status().pending == 1)
                } else {
                    #expect(try await todos.pull(queryID: "AllRecords").notTaken.isEmpty)
                    #expect(try await context.status().pending == 0)
                }
                await context.close()
            }
            #expect(emulator.rows(in: "TodoItem").count == 2)
        }
    }

    @Test("the concepts of offline sync, in their order", arguments: DatasyncDialect.allCases)
    func concepts(_ dialect: DatasyncDialect) async throws {
        try await withServer(dialect) { address, _ in
            let remote: DatasyncRemote =
                dialect == .datasync ? try .datasync(address) : try .azureMobileApps(address)
            let context = try await open("concepts", remote)
            let userID = "sid:7"

            // The server's table fails without a network; the table here reads and writes on the device.
            let online = try context.remoteTable(TodoItem.self)
            let todos = try context.table(TodoItem.self)
            #expect(try await online.where { $0.userId == userID }.count() == 0)
            let milk = try await todos.insert(TodoItem(userId: userID, text: "Buy milk"))
            try await todos.update(milk.id) { $0.text = "Buy oat milk" }
            #expect(try await todos.read(milk.id)?.text == "Buy oat milk")
            try await todos.delete(milk.id)
            try await todos.undoDelete(milk.id)
            let pushed = try await context.push()
            #expect(pushed.pushed == 1 && pushed.notTaken.isEmpty)

            // Incremental, by name and without one; everything; rows that left the condition go.
            let mine = todos.where { $0.userId == userID }
            try await mine.pull(queryID: "todoItems" + userID)
            try await mine.pull()
            try await todos.pull(options: .init(reconciles: true))
            let open = todos.where { !$0.complete }
            try await todos.purge()
            #expect(try await open.pull().received == 1)
            try await open.pull(options: .init(reconciles: true))

            try await todos.insert(TodoItem(userId: userID, text: "Not yet sent"))
            let refusal = await #expect(throws: SyncError.self) { try await todos.purge() }
            #expect(refusal?.code == .purgeAbortedPendingChanges)
            #expect(try await todos.forcePurge() == 1)

            // Conflicts: by a policy, by a merge in items, or later.
            context.conflictPolicy = .serverWins
            todos.conflictPolicy = .merge { conflict in
                guard var merged = conflict.serverItem, let mine = conflict.item else { return .takeServer }
                if mine.text != conflict.baseItem?.text { merged.text = mine.text }
                merged.complete = mine.complete || merged.complete
                return .keepMerged(merged)
            }
            _ = try await context.sync()
            try await online.patch(milk.id, ["complete": true])
            try await todos.update(milk.id) { $0.text = "Buy soy milk" }
            #expect(try await context.sync().notTaken.isEmpty)
            let merged = try #require(try await online.read(milk.id))
            #expect(merged.text == "Buy soy milk" && merged.complete)
            #expect(try await context.journal().first?.decision == .keptMerged)
            await context.close()
        }
    }

    /// The conflict handler of the tutorial.
    private final class ConflictHandler: SyncContextDelegate {
        func syncContext(
            _ context: SyncContext,
            resolve error: TableOperationError<Record>
        ) async throws -> ConflictResolution<Record>? {
            switch error.kind {
            case .delete where error.isConflict: .takeServer
            case .update where error.serverItem?["text"] == error.item?["text"]: .keepMine
            default: nil
            }
        }
    }

    @Test("the service of the tutorial: every change followed by a sync, then a conflict that the user settles")
    func todoService() async throws {
        try await withServer(.azureMobileApps) { address, _ in
            let context = try await open("service", try .azureMobileApps(address))
            let other = try await open("other", try .azureMobileApps(address))
            let handler = ConflictHandler()
            context.delegate = handler
            let (todos, theirs) = (try context.table(TodoItem.self), try other.table(TodoItem.self))
            let milk = try await todos.insert(TodoItem(text: "牛乳を買う"))
            _ = try await context.sync()
            _ = try await other.sync()

            try await theirs.update(milk.id) { $0.text = "豆乳を買う" }
            _ = try await other.sync()
            try await todos.update(milk.id) { $0.complete = true }
            let report = try await context.sync()
            #expect(report.notTaken.map(\.itemID) == [milk.id])

            let error = try #require(try await todos.operationErrors().first)
            #expect(error.item?.text == "牛乳を買う" && error.serverItem?.text == "豆乳を買う")
            #expect(error.exchange.contains("PATCH /tables/TodoItem/"))
            var merged = try #require(error.serverItem)
            merged.complete = true
            try await context.resolve(error, with: .keepMerged(merged))
            #expect(try await context.sync().notTaken.isEmpty)
            _ = try await other.sync()
            let there = try #require(try await theirs.read(milk.id))
            #expect(there.text == "豆乳を買う" && there.complete)
            await context.close()
            await other.close()
        }
    }

    @Test("a group, an undo and a lock; the store is for this device first, and gets a server later")
    func serverLater() async throws {
        try await withServer(.datasync) { address, emulator in
            let alone = try await open("later")
            let todos = try alone.table(TodoItem.self)
            try await alone.write { tx in
                let party = try tx.insert(TodoItem(text: "Party"), into: todos)
                try tx.insert(
                    contentsOf: (1...100).map { TodoItem(text: "Invite \($0), for \(party.text)") },
                    into: todos
                )
                try tx.update(party.id, in: todos) { $0.complete = true }
            }
            await alone.lock()
            await #expect(throws: StoreError.self) { try await todos.read("a") }
            try await alone.unlock(with: .secretFile(folder.parent.appending(path: "user.secret")))
            #expect(try await alone.status().pending == 101)
            await alone.close()

            let shared = try await open("later", try .datasync(address))
            #expect(try await shared.sync().push.pushed == 101)
            #expect(emulator.rows(in: "TodoItem").count == 101)
            await shared.close()
        }
    }
}
