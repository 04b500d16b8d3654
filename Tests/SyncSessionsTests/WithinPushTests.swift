import OfflineSync
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

/// Runs what a test says before an operation is sent.
private final class Listener: SyncContextDelegate {
    private let body: @Sendable (SyncContext) async throws -> Void

    init(_ body: @escaping @Sendable (SyncContext) async throws -> Void) { self.body = body }

    func syncContext(_ context: SyncContext, willSend operation: TableOperation) async throws {
        try await body(context)
    }
}

@Suite("What is asked of a session within a push of the app's own", .timeLimit(.minutes(1)))
struct WithinPushTests {
    let emulator = SessionDevice.emulator()

    /// A device with a change that waits; its session sends none by itself.
    private func device() async throws -> SessionDevice {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .both)
        device.session.suspend(.upload)
        try await device.add("milk")
        // The session hears of it when it may; it is to know it now.
        await device.session.queueChanged(device.context)
        return device
    }

    private static let wishes: [(name: String, ask: @Sendable (SyncSession) -> Void)] = [
        ("sync", { $0.sync(.download) }),
        ("news", { $0.serverChanged() }),
        (
            "resume",
            { session in
                session.suspend(.download)
                session.serverChanged()
                session.resume(.download)
            }
        ),
    ]

    @Test("is begun, while the push waits for nothing of it", arguments: wishes.map(\.name))
    func wish(_ name: String) async throws {
        let device = try await device()
        let wish = try #require(Self.wishes.first { $0.name == name })
        let before = device.line.requests.count
        let listener = Listener { _ in
            wish.ask(device.session)
            while device.line.requests.count == before, device.session.state != .failed { try await nextTurn() }
        }
        device.context.delegate = listener
        #expect(try await device.context.push().pushed == 1)
        #expect(device.session.state != .failed, "\(String(describing: device.session.error))")
        try await device.session.wait(for: .download)
        #expect(device.session.error == nil)
        withExtendedLifetime(listener) {}
        await device.session.close()
    }

    @Test("is not waited for there: the two would wait for each other")
    func waits() async throws {
        let device = try await device()
        let errors = Mutex<[SyncError.Code]>([])
        let listener = Listener { context in
            do {
                try await device.session.wait(for: .download)
            } catch {
                errors.withLock { $0.append((error as? SyncError)?.code ?? .timedOut) }
            }
            do {
                _ = try await device.session.sync(within: .seconds(20))
            } catch {
                errors.withLock { $0.append((error as? SyncError)?.code ?? .timedOut) }
            }
            device.session.resume(.upload)
            #expect(await device.session.reconnect() == .tried)
        }
        device.context.delegate = listener
        #expect(try await device.context.push().pushed == 1)
        #expect(errors.withLock { $0 } == [.invalidAction, .invalidAction])
        try await device.session.wait(for: .both)
        withExtendedLifetime(listener) {}
        await device.session.close()
    }

    @Test("a pull in a task of its own waits for the push to end; one that inherits from the push is refused")
    func tasks() async throws {
        let device = try await device()
        let pulls = Mutex<[Task<PullReport, any Error>]>([])
        let listener = Listener { context in
            let table = device.table
            pulls.withLock { pulls in
                pulls.append(Task.detached { try await context.pull(table, options: PullOptions(order: .pullOnly)) })
                pulls.append(Task { try await context.pull(table, options: PullOptions(order: .pullOnly)) })
            }
            // Refused while the push lasts.
            _ = await pulls.withLock { $0 }.last?.result
        }
        device.context.delegate = listener
        #expect(try await device.context.push().pushed == 1)
        let tasks = pulls.withLock { $0 }
        _ = try await #require(tasks.first).value
        let error = await #expect(throws: SyncError.self) { _ = try await tasks.last?.value }
        #expect(error?.code == .invalidAction)
        withExtendedLifetime(listener) {}
        await device.session.close()
    }
}
