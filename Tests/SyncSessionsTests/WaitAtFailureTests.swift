import DatasyncEmulator
import Observation
import OfflineSync
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("A wait that begins at the instant at which the session fails", .timeLimit(.minutes(1)))
struct WaitAtFailureTests {
    /// What the session has said when the wait was over.
    private final class Seen: Sendable {
        let state = Mutex<SyncSession.State?>(nil)
        /// An observer may be told more than once.
        let hasBegun = Atomic(false)
    }

    @Test("ends when the session says that it has failed, and not before")
    func state() async throws {
        let emulator = Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["TodoItem"]))
        let device = try SessionDevice(emulator)
        let session = device.session
        device.line.set(.held)
        session.start(keeping: [device.table])
        await device.line.requestsReach(1)
        #expect(session.state == .active)
        let seen = Seen()
        withObservationTracking {
            _ = session.state
        } onChange: {
            guard !seen.hasBegun.exchange(true, ordering: .relaxed) else { return }
            // The session has failed, and has not said so yet. The wait goes on in this very call as far as it goes without
            // suspending: nothing here waits for another thread, of which there may be none.
            Task.immediate {
                let error = await #expect(throws: SyncError.self) { try await session.wait(for: .download) }
                #expect(error?.code == .sessionEnded)
                seen.state.withLock { $0 = session.state }
            }
        }
        device.line.set(.status(400))
        while seen.state.withLock({ $0 == nil }) { try await nextTurn() }
        #expect(seen.state.withLock(\.self) == .failed)
        #expect(session.error != nil)
        await session.close()
    }
}
