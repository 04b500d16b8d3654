import Synchronization

/// One accepted connection, as whoever stops it sees it: its thread works with the socket, other threads only stop it.
final class Connection: Sendable {
    enum Stop: Sendable {
        /// What is in progress is ended early but answered; nothing more is received.
        case gentle
        /// Whatever the thread waits for ends.
        case atOnce
    }

    let socket: Socket

    private struct State {
        var stop: Stop?
        var onStop: (@Sendable (Stop) -> Void)?
    }

    private let state = Mutex(State())

    init(_ socket: Socket) {
        self.socket = socket
    }

    var isStopped: Bool { state.withLock { $0.stop != nil } }

    /// Stops the connection; may be called from any thread and more than once.
    func stop(_ stop: Stop) {
        let onStop = state.withLock { state in
            state.stop = stop
            return state.onStop
        }
        onStop?(stop)
        switch stop {
        case .gentle: socket.endReceiving()
        case .atOnce: socket.endBoth()
        }
    }

    /// Does something that a stop ends by calling a handler: at once when the connection was stopped before, and
    /// perhaps more than once.
    func withStopHandler<Value>(
        _ onStop: @escaping @Sendable (Stop) -> Void,
        _ operation: () throws -> Value
    ) rethrows -> Value {
        let stop = state.withLock { state in
            state.onStop = onStop
            return state.stop
        }
        if let stop { onStop(stop) }
        defer { state.withLock { $0.onStop = nil } }
        return try operation()
    }
}
