import Foundation
import Synchronization

/// A listening socket with its threads: one that accepts and one per connection, from the start to the end of all.
final class ConnectionThreads: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var isStopping = false
        var hasEnded = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    let listener: ListeningSocket
    /// Given when everything is to end: for waits that no socket ends.
    private let stopSignal = StopSignal()

    private let limit: Int
    private let grace: Duration
    private let serve: @Sendable (Connection, StopSignal) -> Void
    private let state = Mutex(State())
    /// Entered by every connection's thread.
    private let running = DispatchGroup()

    /// Starts to accept.
    ///
    /// - Parameters:
    ///   - listener: Where to accept.
    ///   - limit: How many connections there may be. One more is closed as soon as it was accepted.
    ///   - grace: How long what is in progress may take to end when everything is stopped.
    ///   - serve: What to do with a connection, on a thread of its own. Closing it is not part of it.
    /// - Throws: `SystemFailure` when there is no thread.
    init(
        _ listener: ListeningSocket,
        limit: Int,
        grace: Duration,
        serve: @escaping @Sendable (Connection, StopSignal) -> Void
    ) throws(SystemFailure) {
        self.listener = listener
        self.limit = limit
        self.grace = grace
        self.serve = serve
        guard ServerThread.start({ self.acceptAndEnd() }) else {
            throw SystemFailure(call: "pthread_create", code: EAGAIN)
        }
    }

    // MARK: Ending

    /// Refuses further connections, and lets those there are end. Returns at once.
    func stop() {
        let connections: [Connection]? = state.withLock { state in
            guard !state.isStopping else { return nil }
            state.isStopping = true
            return Array(state.connections.values)
        }
        guard let connections else { return }
        stopSignal.give()
        listener.stop()
        for connection in connections { connection.stop(grace > .zero ? .gentle : .atOnce) }
    }

    /// Stops, and returns when all connections are closed and the port is free.
    func end() async {
        stop()
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiting.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    // MARK: Threads

    private func acceptAndEnd() {
        accept()
        listener.close()
        if running.wait(timeout: .now() + grace.seconds) == .timedOut {
            for connection in state.withLock({ Array($0.connections.values) }) { connection.stop(.atOnce) }
            running.wait()
        }
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private func accept() {
        while true {
            switch listener.accept() {
            case .connection(let socket): begin(Connection(socket))
            // The connection goes on waiting, and asking for it at once would only keep a processor busy.
            case .exhausted: stopSignal.wait(upTo: .milliseconds(50))
            case .woken: return
            }
        }
    }

    private func begin(_ connection: Connection) {
        let isTaken = state.withLock { state in
            guard !state.isStopping, state.connections.count < limit else { return false }
            state.connections[ObjectIdentifier(connection)] = connection
            return true
        }
        guard isTaken else { return connection.socket.close() }
        running.enter()
        let started = ServerThread.start {
            self.serve(connection, self.stopSignal)
            self.finish(connection)
        }
        if !started { finish(connection) }
    }

    private func finish(_ connection: Connection) {
        connection.socket.close()
        state.withLock { $0.connections[ObjectIdentifier(connection)] = nil }
        running.leave()
    }
}
