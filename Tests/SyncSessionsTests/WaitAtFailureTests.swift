import DatasyncEmulator
import Foundation
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
            // The session has failed, and has not said so yet: who tells of it stands here until the wait has ended.
            Task.detached {
                let error = await #expect(throws: SyncError.self) { try await session.wait(for: .download) }
                #expect(error?.code == .sessionEnded)
                seen.state.withLock { $0 = session.state }
            }
            while seen.state.withLock({ $0 == nil }) { Thread.sleep(forTimeInterval: 0) }
        }
        device.line.set(.status(400))
        while seen.state.withLock({ $0 == nil }) { try await nextTurn() }
        #expect(seen.state.withLock(\.self) == .failed)
        #expect(session.error != nil)
        await session.close()
    }
}
