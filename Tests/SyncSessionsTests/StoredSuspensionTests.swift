import DatasyncEmulator
import OfflineSync
import SyncContract
import Synchronization
import Testing

@testable import SyncSessions

@Suite("What is suspended, and stored behind that", .timeLimit(.minutes(1)))
struct StoredSuspensionTests {
    /// A device whose session has begun to store that uploads are suspended, and is held in the middle of it.
    private struct HeldDevice {
        let device: SessionDevice
        private let release: AsyncStream<Void>.Continuation

        init() async throws {
            let store = InterruptedReads(try StoreSchema([todoTable, noteTable]))
            device = try SessionDevice(SessionDevice.emulator(), store)
            let (held, hold) = AsyncStream.makeStream(of: Void.self)
            let (released, release) = AsyncStream.makeStream(of: Void.self)
            self.release = release
            store.interrupt {
                hold.finish()
                for await _ in released {}
                return true
            }
            device.session.suspend(.upload)
            for await _ in held {}
        }

        /// Lets it go on.
        func goOn() { release.finish() }

        /// Lets everything else come as far as it can.
        func othersGoOn() async { for _ in 0..<1_000 { await Task.yield() } }

        func stored() async throws -> SyncDirection {
            SyncDirection(stored: try await device.context.storedSuspension())
        }

        func end() async { await device.session.running.withLock { $0.storing }?.value }
    }

    @Test("is stored when the session has been closed")
    func closing() async throws {
        let held = try await HeldDevice()
        let isClosed = Mutex(false)
        let closing = Task {
            await held.device.session.close()
            isClosed.withLock { $0 = true }
        }
        await held.othersGoOn()
        let wasClosed = isClosed.withLock { $0 }
        #expect(!wasClosed, "closing waits for the store")
        held.goOn()
        await closing.value
        #expect(try await held.stored() == .upload)
    }

    @Test("loses nothing of two directions that are suspended one right behind the other")
    func oneBehindTheOther() async throws {
        let held = try await HeldDevice()
        held.device.session.suspend(.download)
        await held.othersGoOn()
        held.goOn()
        await held.end()
        #expect(try await held.stored() == .both)
        await held.device.session.close()
    }

    @Test("is resumed also where the app has said so before it was read what is stored")
    func resumedBefore() {
        let start = SessionEvent.started([], .init())
        let load = SessionEvent.loaded(suspended: .both, hasChanges: false, ages: [], needsReset: false)
        let courses: [([SessionEvent], SyncDirection)] = [
            ([start, .resumed(.upload), load], .download), ([.resumed(.upload), start, load], .download),
            ([start, .resumed(.both), .suspended(.upload), load], .upload),
            ([.resumed(.upload), .suspensionRead(.both)], .download),
        ]
        for (events, suspended) in courses {
            var machine = SessionMachine()
            for event in events { _ = machine.handle(event, at: .zero) }
            #expect(machine.suspended == suspended, "\(events)")
        }
    }

    @Test("is stored before that the server was set up anew, when it was said before")
    func resetBehind() async throws {
        let held = try await HeldDevice()
        held.device.session.serverWasReset()
        await held.othersGoOn()
        #expect(try await held.device.context.resetStage() == .none)
        held.goOn()
        await held.end()
        #expect(try await held.stored() == .upload)
        #expect(try await held.device.context.resetStage() == .wanted)
        await held.device.session.close()
    }
}
