import Synchronization
import SyncContract

/// Counts the transactions under way, lets no more in after closing began, and tells when the last one ended.
final class OperationGate: Sendable {
    private enum Phase {
        case open
        case draining
        case closed
    }

    private struct State {
        var phase = Phase.open
        var running = 0
        var drained: CheckedContinuation<Void, Never>?
        var waitingForClose: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Runs a closure while the gate is open, and keeps closing waiting for its end.
    func pass<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try state.withLock { state throws(StoreError) in
            guard state.phase == .open else { throw StoreError.closed }
            state.running += 1
        }
        defer { leave() }
        return try await body()
    }

    /// Lets nobody in any more, waits for those inside, and runs the closure, once; later callers wait for its end.
    func close(_ body: () async -> Void) async {
        let isFirst = state.withLock { state in
            guard state.phase == .open else { return false }
            state.phase = .draining
            return true
        }
        guard isFirst else { return await waitUntilClosed() }
        await waitUntilDrained()
        await body()
        let waiting = state.withLock { state in
            state.phase = .closed
            defer { state.waitingForClose = [] }
            return state.waitingForClose
        }
        for continuation in waiting { continuation.resume() }
    }

    private func leave() {
        let drained = state.withLock { state in
            state.running -= 1
            guard state.running == 0 else { return nil as CheckedContinuation<Void, Never>? }
            defer { state.drained = nil }
            return state.drained
        }
        drained?.resume()
    }

    private func waitUntilDrained() async {
        await withCheckedContinuation { continuation in
            let isDrained = state.withLock { state in
                if state.running > 0 { state.drained = continuation }
                return state.running == 0
            }
            if isDrained { continuation.resume() }
        }
    }

    private func waitUntilClosed() async {
        await withCheckedContinuation { continuation in
            let isClosed = state.withLock { state in
                if state.phase != .closed { state.waitingForClose.append(continuation) }
                return state.phase == .closed
            }
            if isClosed { continuation.resume() }
        }
    }
}
