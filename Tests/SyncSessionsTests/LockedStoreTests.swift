import DatasyncEmulator
import OfflineSync
import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("A session whose store is locked", .timeLimit(.minutes(1)))
struct LockedStoreTests {
    let emulator = SessionDevice.emulator()
    let folder: TestFolder
    let store: EncryptedStore
    let device: SessionDevice

    init() async throws {
        folder = try TestFolder()
        store = try await EncryptedStore.open(in: folder, [todoTable, noteTable])
        device = try SessionDevice(emulator, store)
    }

    private func isBackingOff(_ state: SyncSession.State?) -> Bool {
        if case .backingOff = state { true } else { false }
    }

    @Test("starts, waits, and goes on when it is unlocked")
    func start() async throws {
        try await device.add("milk")
        await store.lock()
        device.session.start(keeping: [device.table])
        let state = await device.state { $0 == .failed || isBackingOff($0) }
        #expect(isBackingOff(state))
        // It looks again by itself, each time after a longer while.
        for wait in [1, 2] {
            await device.clock.sleeperComes { $0 == .seconds(wait) }
            device.clock.advance(by: .seconds(wait))
        }
        await device.clock.sleeperComes { $0 == .seconds(4) }
        try await store.unlock(key: .testKey())
        await device.state { $0 == .active }
        try await device.session.wait(for: .both)
        #expect(emulator.texts() == ["milk"] && device.session.error == nil)
        await device.session.close()
    }

    @Test("is not suspended in what was resumed meanwhile, also where one sync is the first thing that is done")
    func resumedBeforeAStart() async throws {
        try await device.context.storeSuspension(SyncDirection.both.stored)
        try await device.add("milk")
        await store.lock()
        device.session.resume()
        while device.session.running.withLock({ $0.unstored.isEmpty }) { try await nextTurn() }
        try await store.unlock(key: .testKey())
        #expect(try await device.session.sync(within: .seconds(25)).isComplete)
        #expect(emulator.texts() == ["milk"] && device.session.error == nil)
        await device.session.close()
    }

    @Test("and that has failed goes on saying why")
    func failed() async throws {
        device.line.set(.status(400))
        device.session.start(keeping: [device.table])
        await device.state { $0 == .failed }
        while device.session.error == nil { try await nextTurn() }
        await store.lock()
        device.session.suspend(.upload)
        while device.session.running.withLock({ $0.unstored.isEmpty }) { try await nextTurn() }
        #expect((device.session.error as? SyncError)?.code == .pullAborted)
        try await store.unlock(key: .testKey())
        device.session.resume(.upload)
        while device.session.running.withLock({ !$0.unstored.isEmpty }) { try await nextTurn() }
        await device.session.running.withLock { $0.storing }?.value
        #expect((device.session.error as? SyncError)?.code == .pullAborted)
        await device.session.close()
    }

    @Test("has no error any more when what could not be stored meanwhile is stored")
    func storedSince() async throws {
        var options = SessionOptions()
        options.pullInterval = nil
        device.session.start(keeping: [device.table], options: options)
        try await device.session.wait(for: .both)
        await store.lock()
        device.session.suspend()
        while device.session.error == nil { try await nextTurn() }
        try await store.unlock(key: .testKey())
        while device.session.error != nil { try await nextTurn() }
        let stored = SyncDirection(stored: try await device.context.storedSuspension())
        #expect(stored == .both)
        await device.session.close()
    }

    @Test("one sync says that the store is not there, as a push does")
    func singleSync() async throws {
        await store.lock()
        let error = await #expect(throws: SyncError.self) {
            _ = try await device.session.sync(within: .seconds(25))
        }
        #expect(error?.code == .storeUnavailable && (error?.cause as? StoreError)?.code == .locked)
        await device.session.close()
    }

    @Test("reconnecting while it is locked says that it was tried")
    func reconnect() async throws {
        await store.lock()
        device.session.start(keeping: [device.table])
        await device.state { $0 == .failed || isBackingOff($0) }
        #expect(await device.session.reconnect() == .tried)
        #expect(isBackingOff(device.session.state))
        await device.session.close()
    }

    @Test("goes on at once when it was locked in the middle of work")
    func work() async throws {
        try emulator.seed([["id": "a", "text": "bread"]], in: "TodoItem")
        device.line.set(.held)
        device.session.start(keeping: [device.table])
        await device.line.requestsReach(1)
        await store.lock()
        device.line.set(.answered)
        await device.backsOff()
        #expect((device.session.error as? SyncError)?.code == .storeUnavailable)
        let before = device.line.requests.count
        try await store.unlock(key: .testKey())
        await device.line.requestsReach(before + 1)
        try await device.session.wait(for: .download)
        await device.session.close()
    }

    /// Ends with its task, too: what is waited for may never come.
    private func whileSo(_ isSo: () async throws -> Bool) async throws {
        while try await isSo() { try await nextTurn() }
    }

    @Test("has what was suspended, resumed or said meanwhile stored when it is unlocked")
    func suspended() async throws {
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .both)
        await store.lock()
        device.session.suspend(.upload)
        device.session.suspend(.download)
        device.session.resume(.upload)
        try await whileSo { device.session.running.withLock({ $0.unstored.count }) < 3 }
        try await store.unlock(key: .testKey())
        try await whileSo { try await device.context.storedSuspension() != "download" }
        // What is said right behind the unlocking is the last word.
        await store.lock()
        device.session.suspend(.both)
        try await whileSo { device.session.running.withLock({ $0.unstored.isEmpty }) }
        try await store.unlock(key: .testKey())
        device.session.resume(.both)
        try await whileSo { device.session.running.withLock({ !$0.unstored.isEmpty }) }
        await device.session.running.withLock { $0.storing }?.value
        #expect(try await device.context.storedSuspension() == "")
        await store.lock()
        device.session.serverWasReset()
        try await whileSo { device.session.running.withLock({ $0.unstored.isEmpty }) }
        // The reset stays where it is until it was seen.
        device.line.set(.held)
        try await store.unlock(key: .testKey())
        try await whileSo { try await device.context.resetStage() == .none }
        await device.session.close()
    }

    @Test("has the server's loss, of which it was told meanwhile, made good by one sync, once")
    func resetBySingleSync() async throws {
        try await device.add("milk")
        #expect(try await device.session.sync(within: .seconds(25)).isComplete)
        await store.lock()
        device.session.serverWasReset()
        try await whileSo { device.session.running.withLock({ $0.unstored.isEmpty }) }
        let error = await #expect(throws: SyncError.self) {
            _ = try await device.session.sync(within: .seconds(25))
        }
        #expect(error?.code == .storeUnavailable)
        try await store.unlock(key: .testKey())
        #expect(await #expect(throws: SyncError.self) { try await device.context.push() }?.code == .historyLost)
        #expect(try await device.session.sync(within: .seconds(25)).isComplete)
        #expect(try await device.context.resetStage() == .none)
        try await device.add("bread")
        #expect(try await device.context.push().pushed == 1)
        await device.session.close()
    }

    @Test("has the next session know of the server's loss when it ends before it is unlocked")
    func resetAfterEnd() async throws {
        try await device.add("milk")
        #expect(try await device.session.sync(within: .seconds(25)).isComplete)
        await store.lock()
        device.session.serverWasReset()
        await device.session.close()
        try await store.unlock(key: .testKey())
        #expect(await #expect(throws: SyncError.self) { try await device.context.push() }?.code == .historyLost)
        let next = try SessionDevice(emulator, store)
        next.session.start(keeping: [next.table])
        try await next.session.wait(for: .both)
        #expect(try await next.context.resetStage() == .none)
        try await next.add("bread")
        #expect(try await next.context.push().pushed == 1)
        await next.session.close()
    }
}
