import OfflineSync
import ReferenceStore
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

/// A store that lets something happen between a read and its answer, and tells nobody of changes by itself.
private final class InterruptedReads: SyncContextDataSource {
    private let base: MemoryStore
    private let silence = AsyncStream.makeStream(of: StoreChange.self)
    private let interruption = Mutex<(@Sendable () async throws -> Bool)?>(nil)

    init(_ schema: StoreSchema) { base = MemoryStore(schema) }

    var schema: StoreSchema { base.schema }
    var capabilities: StoreCapabilities { base.capabilities }

    /// Calls something behind each read from here on, until it says that it has done what it is for.
    func interrupt(_ interruption: @escaping @Sendable () async throws -> Bool) {
        self.interruption.withLock { $0 = interruption }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        let value = try await base.read(body)
        if let interruption = interruption.withLock({ $0.take() }), try await !interruption() {
            self.interruption.withLock { $0 = interruption }
        }
        return value
    }

    func read(_ query: Query) async throws -> QueryResult { try await base.read(query) }
    func read(table: String, itemID: RecordID) async throws -> Record? {
        try await base.read(table: table, itemID: itemID)
    }
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value { try await base.write(body) }
    func changes() -> AsyncStream<StoreChange> { silence.stream }
}

@Suite("A change at the end of a push")
struct ChangeAtPushEndTests {
    @Test("is sent though the push has looked for the last time and has not told yet", .timeLimit(.minutes(1)))
    func atEnd() async throws {
        let emulator = SessionDevice.emulator()
        let store = InterruptedReads(try StoreSchema([todoTable, noteTable]))
        let device = try SessionDevice(emulator, store)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        let (session, context, table) = (device.session, device.context, device.table)
        store.interrupt {
            let isAtEnd =
                emulator.texts() == ["milk"]
                && session.running.withLock { !$0.isPushing && $0.machine.pushDue != nil }
            guard isAtEnd else { return false }
            try await table.insert(["text": "bread", "complete": false])
            await session.queueChanged(context)
            return true
        }
        try await device.add("milk")
        try await session.wait(for: .upload)
        await device.clock.sleeperComes { $0 <= .milliseconds(500) }
        device.clock.advance(by: .milliseconds(500))
        try await session.wait(for: .upload)
        #expect(emulator.texts() == ["milk", "bread"])
        await session.close()
    }
}
