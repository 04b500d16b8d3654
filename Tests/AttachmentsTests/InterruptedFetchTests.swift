import DurableFiles
import Foundation
import OfflineSync
import ReferenceStore
import RemoteContract
import SQLCipherStoreTestSupport
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import Attachments

/// A store that lets something happen right before or right behind a write, and reads nothing for who is cancelled.
private final class InterruptedWrites: SyncContextDataSource {
    /// The writes that are done.
    let made = WatchedRequests<Void, Bool>({ _ in false }, isHeld: { $0 })
    private let base: MemoryStore
    private let interruption = Mutex<(@Sendable () async throws -> Bool)?>(nil)

    init(_ schema: StoreSchema) { base = MemoryStore(schema) }

    var schema: StoreSchema { base.schema }
    var capabilities: StoreCapabilities { base.capabilities }

    /// Calls something before and behind each write from here on, until it says that it has done what it is for.
    func interrupt(_ interruption: @escaping @Sendable () async throws -> Bool) {
        self.interruption.withLock { $0 = interruption }
    }

    private func interrupt() async throws {
        guard let interruption = interruption.withLock({ $0.take() }) else { return }
        if try await !interruption() { self.interruption.withLock { $0 = interruption } }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        return try await base.read(body)
    }
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        try await interrupt()
        let value = try await base.write(body)
        try await interrupt()
        // Whoever waits for this write finds nothing of it behind that.
        _ = try await made.fate(of: ())
        return value
    }
    func changes() -> AsyncStream<StoreChange> { base.changes() }
}

@Suite("A fetch beside which something else happens", .timeLimit(.minutes(1)))
struct InterruptedFetchTests {
    private let folder: TestFolder
    private let server = FaultyTransport()
    private let store: InterruptedWrites
    private let core: AttachmentCore
    private let id = AttachmentID.make()

    init() throws {
        folder = try TestFolder()
        store = InterruptedWrites(try PhotoDevice.schema())
        core = AttachmentCore(
            store,
            AttachmentFolder(folder.url.appending(path: "files")),
            AttachmentOptions(parallelTransfers: 1),
            nil,
            server,
            AttachmentEnvironment(clock: VirtualClock())
        )
        server.put([1], as: id)
    }

    @Test("is told when the file is removed behind the last that is written of it")
    func removedAtEnd() async throws {
        store.interrupt { [store, id] in
            guard try await store.read({ try $0.attachment(id) })?.isHere == true else { return false }
            // As it is removed, up to where those are told who wait.
            try await store.write { transaction in
                try transaction.delete([.string(id.text)], from: AttachmentFiles.table.name)
                let removal = Record(id: .string("//\(id.text)"), ["file": .string(id.text)])
                try transaction.upsert([removal], into: AttachmentRemovals.table.name)
            }
            return true
        }
        let error = await #expect(throws: RemoteError.self) { try await core.fetch([id]) }
        #expect(error?.code == .notFound)
        await core.runner.close()
    }

    @Test("comes though another one for the same file takes back its wish, which was there first")
    func cancelledBeside() async throws {
        let (first, runner) = (AttachmentID.make(), core.runner)
        server.put([2], as: first)
        server.set { _ in .held }
        let running = Task { try await runner.fetch(first) }
        await server.requestsReach(1)
        let wishes = store.made.count
        let cancelled = Task { [id] in try await runner.fetch(id) }
        await store.made.reach(wishes + 1)
        let behind = Mutex<Task<Void, any Error>?>(nil)
        store.interrupt { [store, id] in
            behind.withLock { $0 = Task { try await runner.fetch(id) } }
            await store.made.reach(wishes + 2)
            return true
        }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        await store.made.reach(wishes + 3)
        // Each change of what is known of files has it looked what there is to do.
        await runner.look()
        server.set { _ in .answered }
        try await running.value
        let waiting = try #require(behind.withLock { $0 })
        try await withTaskCancellationHandler {
            try await waiting.value
        } onCancel: {
            waiting.cancel()
        }
        #expect(try await core.state(of: id) == .synced)
        await runner.close()
    }

    @Test("begins when the one who looks for what there is to do is cancelled")
    func cancelledLook() async throws {
        let file = try AttachmentFile(
            id,
            name: AttachmentFolder.newName(),
            key: AttachmentFolder.newKey(),
            lastUsed: core.work.now
        )
        try await store.write { transaction in
            var file = file
            file.isWanted = true
            try transaction.save(file)
        }
        server.set { _ in .held }
        let runner = core.runner
        let looking = Task {
            while !Task.isCancelled { await Task.yield() }
            await runner.look()
        }
        looking.cancel()
        await looking.value
        #expect(await runner.machine.running == [Transfer(.download, id)])
        await runner.close()
    }
}
