import Synchronization
import SyncContract

/// Counts the transactions under way, lets no more in after locking or closing began, and tells when the last one ended.
final class OperationGate: Sendable {
    private enum Phase {
        case open
        case locked
        case closed
    }

    private struct State {
        var phase = Phase.open
        var running = 0
        var drained: CheckedContinuation<Void, Never>?
        /// Locking, unlocking and closing come one after the other.
        var isChanging = false
        var waitingForChange: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Whether nobody is let in until the gate is unlocked.
    var isLocked: Bool { state.withLock { $0.phase == .locked } }

    /// Runs a closure while the gate is open, and keeps locking and closing waiting for its end.
    func pass<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try state.withLock { state throws(StoreError) in
            switch state.phase {
            case .open: state.running += 1
            case .locked: throw StoreError.locked
            case .closed: throw StoreError.closed
            }
        }
        defer { leave() }
        return try await body()
    }

    /// Throws when locking or closing has begun: those inside that have waited for their turn until now must not begin.
    func refuseLate() throws(StoreError) {
        switch state.withLock({ $0.phase }) {
        case .open: break
        case .locked: throw .locked
        case .closed: throw .closed
        }
    }

    /// Lets nobody in any more, waits for those inside, and runs the closure, once; later callers wait for its end.
    func close(_ body: () async -> Void) async {
        await beginChange()
        let wasClosed = state.withLock { state in
            defer { state.phase = .closed }
            return state.phase == .closed
        }
        if !wasClosed {
            await waitUntilDrained()
            await body()
        }
        endChange()
    }

    /// Lets nobody in until the gate is unlocked, waits for those inside, and runs the closure, unless the gate is locked
    /// or closed.
    func lock(_ body: () async -> Void) async {
        await beginChange()
        let wasOpen = state.withLock { state in
            guard state.phase == .open else { return false }
            state.phase = .locked
            return true
        }
        if wasOpen {
            await waitUntilDrained()
            await body()
        }
        endChange()
    }

    /// Runs the closure if the gate is locked, and opens the gate if that succeeds. Returns whether it was locked.
    func unlock(_ body: () async throws -> Void) async throws -> Bool {
        await beginChange()
        defer { endChange() }
        switch state.withLock({ $0.phase }) {
        case .open: return false
        case .closed: throw StoreError.closed
        case .locked: try await body()
        }
        state.withLock { $0.phase = .open }
        return true
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

    private func beginChange() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isChanging { state.waitingForChange.append(continuation) }
                defer { state.isChanging = true }
                return !state.isChanging
            }
            if isFree { continuation.resume() }
        }
    }

    /// Hands over to the next that waits.
    private func endChange() {
        let next = state.withLock { state in
            guard !state.waitingForChange.isEmpty else {
                state.isChanging = false
                return nil as CheckedContinuation<Void, Never>?
            }
            return state.waitingForChange.removeFirst()
        }
        next?.resume()
    }
}
