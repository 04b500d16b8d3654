import Synchronization
import SyncContract

/// Lends read connections, first come, first served. A waiting task can be cancelled.
final class ReaderPool: Sendable {
    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<Connection, any Error>
    }

    private struct State {
        var idle: [Connection]
        var waiters: [Waiter] = []
        var nextID = 0
        /// Waiters that were cancelled before they stood in the queue.
        var cancelled: Set<Int> = []
    }

    private let state: Mutex<State>
    private let connections: [Connection]

    init(_ connections: [Connection]) {
        self.connections = connections
        state = Mutex(State(idle: connections))
    }

    /// Lends a connection to a closure, which ends before the connection is lent again.
    func withConnection<Value: Sendable>(
        _ body: @Sendable (Connection) async throws -> Value
    ) async throws -> Value {
        let connection = try await borrow()
        defer { giveBack(connection) }
        return try await body(connection)
    }

    /// Closes the connections. Nobody may hold or want one any more.
    func close() async {
        for connection in connections { await connection.close(emptyingLog: false) }
    }

    private func borrow() async throws -> Connection {
        try Task.checkCancellation()
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            return state.nextID
        }
        // A cancellation may also come after the connection did.
        defer { state.withLock { state in _ = state.cancelled.remove(id) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Connection, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if let connection = state.idle.popLast() { return .success(connection) }
                    state.waiters.append(Waiter(id: id, continuation: continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func giveBack(_ connection: Connection) {
        let next: Waiter? = state.withLock { state in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.idle.append(connection)
            return nil
        }
        next?.continuation.resume(returning: connection)
    }

    private func cancel(_ id: Int) {
        let waiter: Waiter? = state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return nil
            }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }
}
