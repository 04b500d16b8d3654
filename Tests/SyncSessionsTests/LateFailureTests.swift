import DatasyncEmulator
import OfflineSync
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("What was in the way and is gone before a session knows of it", .timeLimit(.minutes(1)))
struct LateFailureTests {
    let emulator = SessionDevice.emulator()

    private static let locked = StoreError(.locked, "The store is locked, on purpose.")

    @Test("a store that was locked and is not any more holds up nothing that was under way")
    func unlockedAtWork() async throws {
        let store = InterruptedReads(try StoreSchema([todoTable, noteTable]))
        let device = try SessionDevice(emulator, store)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        let (session, context, before) = (device.session, device.context, device.line.requests.count)
        store.interrupt {
            await session.queueChanged(context)
            throw Self.locked
        }
        session.serverChanged()
        await device.line.requestsReach(before + 1)
        while session.error != nil { try await nextTurn() }
        #expect(session.state == .active)
        await session.close()
    }

    @Test("nor the start")
    func unlockedAtStart() async throws {
        let store = InterruptedReads(try StoreSchema([todoTable, noteTable]))
        let device = try SessionDevice(emulator, store)
        let (session, context) = (device.session, device.context)
        store.interrupt {
            await session.queueChanged(context)
            throw Self.locked
        }
        session.start(keeping: [device.table])
        try await session.wait(for: .download)
        while session.error != nil { try await nextTurn() }
        #expect(session.state == .active)
        await session.close()
    }

    @Test("a network that comes while a request gets lost has it tried anew at once")
    func network() async throws {
        let device = try SessionDevice(emulator)
        let session = device.session
        session.start(keeping: [device.table])
        try await session.wait(for: .download)
        let begun = session.running.withLock { $0.begun }
        device.line.set { _ in
            guard session.running.withLock({ $0.begun }) == begun + 1 else { return .answered }
            session.networkChanged(true)
            return .unreachable
        }
        try await session.wait(for: .download)
        #expect(session.running.withLock { $0.begun } == begun + 2)
        await session.close()
    }

    @Test("what comes before it is begun says nothing of how it fails")
    func before() async throws {
        let device = try SessionDevice(emulator)
        let session = device.session
        session.start(keeping: [device.table])
        try await session.wait(for: .download)
        await session.workEnds()
        session.networkChanged(true)
        device.line.set(.unreachable)
        session.serverChanged()
        await session.running.withLock { $0.workTask }?.value
        #expect(session.running.withLock { $0.machine.hold } != nil)
        await session.close()
    }
}
