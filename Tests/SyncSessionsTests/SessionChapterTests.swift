import DatasyncEmulator
import Foundation
import Observation
import OfflineSync
import SyncContract
import Testing

@testable import SyncSessions

/// The chapter about sessions that developers know, each of its calls as it is written with these.
@Suite("The chapter about sessions, as a program", .timeLimit(.minutes(1)))
struct SessionChapterTests {
    @Test("says what it does, call by call, for two users")
    func program() async throws {
        let emulator = SessionDevice.emulator()
        let (emma, noah) = (try SessionDevice(emulator), try SessionDevice(emulator))
        let session = emma.session
        session.start(options: SessionOptions(pullInterval: .seconds(60)))
        noah.session.start()

        #expect([.disconnected, .connecting, .connected].contains(session.connectionState))
        let watching = Task {
            var words: [String] = []
            for await state in session.connectionStates {
                switch state {
                case .connecting: words.append("Connecting...")
                case .connected: words.append("Connected")
                case .disconnected: words.append("Disconnected")
                }
            }
            return words
        }
        withObservationTracking {
            _ = session.state
        } onChange: {
        }

        session.suspend()
        session.resume()
        session.suspend(.download)
        session.resume(.download)

        try await session.wait(for: .download)
        try await emma.table.insert(["text": "Review proposal", "complete": false])
        do {
            try await session.wait(for: .upload, timeout: .seconds(30))
        } catch let error as SyncError where error.code == .timedOut {
            Issue.record("There was an error: \(error.localizedDescription)")
        }

        var last: SyncProgress?
        for await progress in session.progress(for: .upload, mode: .forCurrentlyOutstandingWork) { last = progress }
        #expect(last?.progressEstimate == 1 && last?.isExact == true && last?.isTransferComplete == true)

        for device in [emma, noah] {
            let reconnection = await device.session.reconnect()
            #expect([.tried, .alreadyConnecting, .nothingToDo].contains(reconnection))
        }
        session.serverChanged(tables: ["TodoItem"])
        let report = try await noah.session.sync(within: .seconds(25))
        #expect(report.isComplete)
        #expect(try await noah.table.read(noah.table.query).records.count == 1)
        #expect(try await session.lastCompletePull(of: emma.table) != nil)

        switch session.state {
        case .backingOff(let date): Issue.record("next attempt at \(date)")
        case .failed: Issue.record("\(session.error?.localizedDescription ?? "failed")")
        case .waitingForCredentials: Issue.record("please sign in")
        case .inactive, .active, .suspended, .closed: break
        }

        session.start(
            options: SessionOptions(
                resetMode: .recoverUnsyncedChanges(before: { context in
                    print(try await context.status().pending, "changes will be kept")
                })
            )
        )
        session.serverWasReset()
        try await session.wait(for: .both)

        await session.close()
        #expect(await watching.value.last == "Disconnected")
        let local = SyncContext(store: emma.store)
        #expect(try await local.table("TodoItem").read(Query("TodoItem")).records.count == 1)
        await noah.session.close()
    }
}
