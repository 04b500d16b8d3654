import ReferenceStore
import RemoteContract
import SQLCipherStoreTestSupport
import Synchronization
import Testing
import VirtualTime

@testable import Attachments

/// States to be read, one after the other; a test says when the reading of one ends.
private actor StatesToRead {
    private var states: [AttachmentState]
    private let held: AttachmentState
    private var reading: CheckedContinuation<Void, Never>?
    private var watcher: CheckedContinuation<Void, Never>?

    init(_ states: [AttachmentState], holding held: AttachmentState) { (self.states, self.held) = (states, held) }

    func next() async -> AttachmentState {
        let state = states.removeFirst()
        if state == held {
            await withCheckedContinuation { continuation in
                reading = continuation
                watcher?.resume()
                watcher = nil
            }
        }
        return state
    }

    func isReading() async {
        if reading == nil { await withCheckedContinuation { watcher = $0 } }
    }

    func release() {
        reading?.resume()
        reading = nil
    }
}

@Suite("The states of a file that somebody looks at", .timeLimit(.minutes(1)))
struct StateOrderTests {
    @Test("end with the newest, also when an older one is read more slowly")
    func slowReading() async throws {
        let reading = StatesToRead([.remote, .pending, .synced, .remote], holding: .pending)
        let states = AttachmentStates { _ in await reading.next() }
        let id = AttachmentID.make()
        var told = states.observe(id).makeAsyncIterator()
        #expect(await told.next() == .remote)
        let slow = Task { await states.changed(id) }
        await reading.isReading()
        await states.changed(id)
        await reading.release()
        await slow.value
        #expect(await told.next() == .synced)
        await states.changed(id)
        #expect(await told.next() == .remote)
        states.end()
        #expect(await told.next() == nil)
    }

    @Test("are told before whoever closes goes on")
    func close() async throws {
        let reading = StatesToRead([.unknown, .pending], holding: .pending)
        let store = MemoryStore(try PhotoDevice.schema())
        let transport = FaultyTransport()
        transport.set { _ in .failed(RemoteError(.unreachable, "no network, on purpose")) }
        let states = AttachmentStates { _ in await reading.next() }
        let work = AttachmentWork(
            store: store,
            folder: AttachmentFolder(try TestFolder().url),
            references: AttachmentReferences(store.schema),
            transport: transport,
            spaceLimit: 0,
            ahead: nil,
            environment: AttachmentEnvironment(clock: VirtualClock()),
            states: states,
            gate: AttachmentGate()
        )
        let runner = TransferRunner(work, limit: 1)
        let id = AttachmentID.make()
        var told = states.observe(id).makeAsyncIterator()
        #expect(await told.next() == .unknown)
        let fetching = Task { try await runner.fetch(id) }
        await reading.isReading()
        let hasClosed = Mutex(false)
        let closing = Task {
            await runner.close()
            hasClosed.withLock { $0 = true }
        }
        for _ in 1...1_000 { await Task.yield() }
        #expect(hasClosed.withLock { !$0 })
        await reading.release()
        await closing.value
        await #expect(throws: RemoteError.self) { try await fetching.value }
    }
}
