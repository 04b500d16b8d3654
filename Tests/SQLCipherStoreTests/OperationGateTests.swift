import SyncContract
import Synchronization
import Testing

@testable import SQLCipherStore

@Suite("Locking and closing beside what runs", .timeLimit(.minutes(1)))
struct OperationGateTests {
    enum Change: CaseIterable { case lock, close }

    private final class Log: Sendable {
        let events = Mutex<[String]>([])
        let changing = Mutex<Task<Void, Never>?>(nil)

        func note(_ event: String) { events.withLock { $0.append(event) } }
    }

    @Test(
        "wait for what has begun, and let nothing in meanwhile",
        arguments: [(Change.lock, StoreError.Code.locked), (.close, .closed)]
    )
    func waits(_ change: Change, _ code: StoreError.Code) async throws {
        let (gate, log) = (OperationGate(), Log())
        try await gate.pass {
            let task = Task {
                switch change {
                case .lock: await gate.lock { log.note("changed") }
                case .close: await gate.close { log.note("changed") }
                }
            }
            log.changing.withLock { $0 = task }
            while isOpen(gate) { await Task.yield() }
            let error = await #expect(throws: StoreError.self) { try await gate.pass { log.note("late") } }
            #expect(error?.code == code)
            // Enough for a change that would not wait.
            for _ in 0..<1_000 { await Task.yield() }
            log.note("ended")
        }
        await log.changing.withLock { $0 }?.value
        #expect(log.events.withLock { $0 } == ["ended", "changed"])
    }

    private func isOpen(_ gate: OperationGate) -> Bool {
        do {
            try gate.refuseLate()
            return true
        } catch {
            return false
        }
    }
}
