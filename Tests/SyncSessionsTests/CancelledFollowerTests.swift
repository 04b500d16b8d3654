import Foundation
import OfflineSync
import Synchronization
import Testing

@testable import SyncSessions

/// To tell a task something takes a lock of that task, and to cancel it takes the locks of what it follows while it is held.
@Suite("Who follows a session can be cancelled while it is being told something", .timeLimit(.minutes(1)))
struct CancelledFollowerTests {
    /// Follows and is cancelled again and again while something tells news without a pause.
    private func cancelOften(
        following: @escaping @Sendable () async -> Void,
        while tell: @escaping @Sendable (Int) -> Void
    ) async {
        let isOver = Atomic(false)
        let told = Thread {
            var number = 1
            while !isOver.load(ordering: .relaxed) {
                tell(number)
                number += 1
            }
        }
        told.start()
        for _ in 0..<3_000 {
            let follower = Task { await following() }
            for _ in 0..<3 { await Task.yield() }
            follower.cancel()
            await follower.value
        }
        isOver.store(true, ordering: .relaxed)
    }

    @Test("what it is at")
    func states() async throws {
        let device = try SessionDevice(SessionDevice.emulator())
        let session = device.session
        await cancelOften {
            for await _ in session.states {}
        } while: { number in
            var status = SyncSession.Status()
            status.state = number.isMultiple(of: 2) ? .active : .suspended
            session.publish(status, nil, number)
        }
    }

    @Test("how far it is")
    func progress() async throws {
        let device = try SessionDevice(SessionDevice.emulator())
        let session = device.session
        await cancelOften {
            for await _ in session.progress(for: .download, mode: .reportIndefinitely) {}
        } while: { number in
            session.running.withLock { running in
                let progress = SyncProgress(
                    estimate: Double(number % 100) / 100,
                    completed: number,
                    total: number,
                    isExact: true
                )
                running.pulling.report(progress)
            }
            session.progressed()
        }
    }
}
