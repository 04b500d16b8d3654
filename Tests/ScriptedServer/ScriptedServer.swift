package import Foundation
internal import Synchronization

/// A server on a loopback socket that does exactly what a test says, right or wrong.
package final class ScriptedServer: Sendable {
    /// What to do on a connection once a request has been read. The connection is closed after the last step.
    package enum Step: Sendable {
        case send([UInt8])
        /// One byte at a time with a pause before each.
        case drip([UInt8], milliseconds: Int32)
        /// The same bytes until a total is reached or the client is gone.
        case flood([UInt8], total: Int)
        /// Tell the client that nothing follows, and stay open for reading.
        case finish
        /// Nothing until the client is gone.
        case silence
        /// Nothing, not even reading, until the client is gone.
        case hold
        /// Close so that the client sees a reset connection instead of an end.
        case reset
        case perform(@Sendable () -> Void)
        /// Read another request on this connection. To be the last step.
        case keepOpen
    }

    package struct Request: Sendable, Hashable {
        package var method: String
        package var target: String
        /// By their names in lower case.
        package var fields: [String: String]
        package var body: String
        /// The lines of the head as they were sent, the first one included.
        package var head: [String]
        /// Which connection it came on, counted from 0, and which request on it.
        package var connection = 0
        package var number = 0
    }

    package typealias Script = @Sendable (Request) -> [Step]

    package let port: Int
    private let listener: Socket
    private let readsBodies: Bool

    private struct State {
        var requests: [Request] = []
        var connections = 0
        var open = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// Kept by the threads, which may outlive the server.
    private final class Record: Sendable {
        let state = Mutex(State())

        func opened() -> Int {
            state.withLock { state in
                state.open += 1
                state.connections += 1
                return state.connections - 1
            }
        }

        func closed() {
            let waiting = state.withLock { state in
                state.open -= 1
                guard state.open == 0 else { return [] as [CheckedContinuation<Void, Never>] }
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    private let record = Record()

    /// Starts to listen; the script is asked for every request, on a thread of its connection's own.
    ///
    /// - Parameters:
    ///   - readsBodies: Whether a request is read to its end before the script is asked.
    ///   - script: What to do on each request.
    /// - Throws: When the system has no port left.
    package init(readsBodies: Bool = true, _ script: @escaping Script) throws {
        listener = try Socket.listening()
        port = listener.port
        self.readsBodies = readsBodies
        let (listener, record) = (listener, record)
        Thread.detachNewThread {
            while let connection = listener.accept() {
                let number = record.opened()
                Thread.detachNewThread {
                    let resets = Self.serves(connection, number, record, readsBodies: readsBodies, script)
                    connection.end(resetting: resets)
                    record.closed()
                }
            }
        }
    }

    /// Answers every request with the same bytes, and closes.
    package convenience init(answering text: String) throws {
        try self.init { _ in [.send(Array(text.utf8))] }
    }

    deinit { listener.stop() }

    /// Answers until the connection is to be closed; whether it is to be reset.
    private static func serves(
        _ connection: Socket,
        _ number: Int,
        _ record: Record,
        readsBodies: Bool,
        _ script: Script
    ) -> Bool {
        var count = 0
        while var request = connection.readRequest(withBody: readsBodies) {
            (request.connection, request.number) = (number, count)
            count += 1
            record.state.withLock { $0.requests.append(request) }
            var (staysOpen, resets) = (false, false)
            for step in script(request) {
                switch step {
                case .keepOpen: staysOpen = true
                case .reset: resets = true
                default: connection.perform(step)
                }
            }
            guard staysOpen else { return resets }
        }
        return false
    }

    package var authority: String { "127.0.0.1:\(port)" }

    package var url: URL { URL(string: "http://\(authority)")! }

    /// The requests that arrived so far, in order.
    package var requests: [Request] { record.state.withLock { $0.requests } }

    /// How many connections were accepted so far.
    package var connectionCount: Int { record.state.withLock { $0.connections } }

    /// Waits until no connection is open.
    package func allConnectionsClosed() async {
        await withCheckedContinuation { continuation in
            let isIdle = record.state.withLock { state in
                if state.open > 0 { state.waiting.append(continuation) }
                return state.open == 0
            }
            if isIdle { continuation.resume() }
        }
    }
}

/// The text of an answer with a length that fits.
package func response(
    _ status: String,
    _ body: String = "",
    fields: [String] = ["Content-Type: application/json"],
    keepsOpen: Bool = false
) -> String {
    let head =
        ["HTTP/1.1 \(status)"] + fields + ["Content-Length: \(body.utf8.count)"]
        + (keepsOpen ? [] : ["Connection: close"])
    return head.joined(separator: "\r\n") + "\r\n\r\n" + body
}
