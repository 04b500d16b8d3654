import DatasyncEmulator
import OfflineSync
import RemoteContract
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

/// Decides as a test says.
private final class Decider: SyncContextDelegate {
    private let willSend: @Sendable (SyncContext) async throws -> Void

    init(_ willSend: @escaping @Sendable (SyncContext) async throws -> Void) { self.willSend = willSend }

    func syncContext(_ context: SyncContext, willSend operation: TableOperation) async throws {
        try await willSend(context)
    }
}

@Suite("What code of the app does within a session's push", .timeLimit(.minutes(1)))
struct OwnCodeTests {
    let emulator = SessionDevice.emulator()

    private func device(_ change: (SessionDevice) async throws -> Void = { _ in }) async throws -> SessionDevice {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .both)
        try await change(device)
        return device
    }

    @Test("closing the session there does not wait for the push that waits for it")
    func close() async throws {
        let device = try await device()
        let (closed, done) = AsyncStream.makeStream(of: Void.self)
        let decider = Decider { [session = device.session] _ in
            await session.close()
            done.finish()
        }
        device.context.delegate = decider
        try await device.add("milk")
        device.session.sync()
        for await _ in closed {}
        #expect(device.session.state == .closed)
        await device.session.close()
        withExtendedLifetime(decider) {}
    }

    @Test("nor does closing it in the push of a sync that no start has asked for")
    func closeInSingleSync() async throws {
        let device = try SessionDevice(emulator)
        let decider = Decider { [session = device.session] _ in await session.close() }
        device.context.delegate = decider
        try await device.add("milk")
        let error = await #expect(throws: SyncError.self) { _ = try await device.session.sync(within: .seconds(25)) }
        #expect(error?.code == .sessionEnded)
        withExtendedLifetime(decider) {}
    }

    @Test(
        "an error of it is tried again after a while, and ends no session",
        arguments: [
            SyncError(.operationChanged, "on purpose"), SyncError(.invalidAction, "on purpose"),
            SyncError(.invalidItem, "on purpose"), StoreError(.invalidRecord, "on purpose"),
            StoreError(.constraint, "on purpose"), CancellationError(), SyncError(.timedOut, "on purpose"),
            SyncError(.historyLost, "on purpose"), SyncError(.unsupported, "on purpose"),
            StoreError(.closed, "of another store"), StoreError(.locked, "of another store"),
            SyncError(.storeUnavailable, "of another store", cause: StoreError(.locked, "on purpose")),
            StoreError(.tableNotFound, "on purpose"),
            RemoteError(.notFound, "on purpose", status: 404), RemoteError(.refused, "on purpose", status: 403),
            SyncError(
                .pushAbortedAuthentication,
                "on purpose",
                cause: RemoteError(.refused, "on purpose", status: 403)
            ),
        ] as [any Error]
    )
    func fails(_ error: any Error) async throws {
        let device = try await device()
        let isOver = Mutex(false)
        let calls = Mutex(0)
        let decider = Decider { _ in
            calls.withLock { $0 += 1 }
            if !isOver.withLock({ $0 }) { throw error }
        }
        device.context.delegate = decider
        try await device.add("milk")
        device.session.sync()
        let state = await device.state { $0 != .active }
        guard case .backingOff? = state else {
            Issue.record("\(String(describing: state))")
            return
        }
        #expect(device.session.error.map { "\(type(of: $0))" } == "\(type(of: error))", "as it was thrown")
        // What the store tells of the try itself is no news.
        for _ in 0..<100 { await Task.yield() }
        #expect(calls.withLock { $0 } == 1, "until the time has passed")
        let thrown = await #expect(throws: (any Error).self) { _ = try await device.session.sync(within: .seconds(1)) }
        #expect(thrown.map { "\(type(of: $0))" } == "\(type(of: error))")
        let gets = device.line.requests.count { $0.hasPrefix("GET") }
        let exchanges: [() async throws -> Void] = [
            { _ = try await device.context.push() }, { _ = try await device.context.sync() },
            { try await device.context.pull(device.table) },
        ]
        for exchange in exchanges {
            let thrown = await #expect(throws: (any Error).self) { try await exchange() }
            #expect(thrown.map { "\($0)" } == "\(error)")
        }
        #expect(device.line.requests.count { $0.hasPrefix("GET") } == gets, "it is not the server that forbids")
        isOver.withLock { $0 = true }
        device.clock.advance(by: .seconds(1))
        try await device.session.wait(for: .upload)
        #expect(emulator.texts() == ["milk"])
        await device.session.close()
        withExtendedLifetime(decider) {}
    }

    @Test(
        "a store that cannot be written for now ends no session",
        arguments: [StoreError.Code.full, .inputOutput, .inUse, .internal]
    )
    func store(_ code: StoreError.Code) async throws {
        let store = InterruptedReads(try StoreSchema([todoTable, noteTable]))
        let device = try SessionDevice(emulator, store)
        let failures = Mutex(1)
        let fails: @Sendable () async throws -> Bool = {
            guard failures.withLock({ $0 > 0 }) else { return true }
            failures.withLock { $0 -= 1 }
            throw StoreError(code, "on purpose")
        }
        store.interrupt(fails)
        device.session.start(keeping: [device.table])
        var state = await device.state { $0 != .active && $0 != .inactive }
        guard case .backingOff? = state else {
            Issue.record("at the start: \(String(describing: state))")
            return
        }
        await device.clock.sleeperComes { $0 == .seconds(1) }
        device.clock.advance(by: .seconds(1))
        try await device.session.wait(for: .both)
        await device.session.workEnds()
        failures.withLock { $0 = 1 }
        store.interrupt(fails)
        device.session.sync(.download)
        state = await device.state { $0 != .active }
        guard case .backingOff? = state else {
            Issue.record("at work: \(String(describing: state))")
            return
        }
        device.clock.advance(by: .seconds(2))
        try await device.session.wait(for: .both)
        await device.session.close()
    }

    @Test("a server that asks to come back at once is asked again after the session's own wait")
    func noTime() {
        var machine = SessionMachine()
        _ = machine.handle(.started([SessionMachine.Pull(table: "A")], .init()), at: .zero)
        _ = machine.handle(.loaded(suspended: [], hasChanges: true, ages: [.zero], needsReset: false), at: .zero)
        var now = Duration.zero
        for wait in [1, 2, 4] {
            #expect(machine.work != nil)
            let failure = SessionFailure.temporary(name: "throttled 503", wait: .zero, isAnswer: true)
            _ = machine.handle(.ended(failure, random: 0), at: now)
            #expect(machine.work == nil && machine.wakeTime() == now + .seconds(wait))
            now += .seconds(wait)
            _ = machine.handle(.woken, at: now)
        }
        let ordered = SessionFailure.temporary(name: "throttled 503", wait: .seconds(3), isAnswer: true)
        _ = machine.handle(.ended(ordered, random: 0), at: now)
        #expect(machine.wakeTime() == now + .seconds(3), "a time that the server sets counts")
    }
}
