import Foundation
import Synchronization

/// A server on a loopback socket that does exactly what a test says, right or wrong, one request per connection.
final class ScriptedServer: Sendable {
    /// What to do on a connection once the request has been read. The connection is closed after the last step.
    enum Step: Sendable {
        case send([UInt8])
        /// One byte at a time with a pause before each.
        case drip([UInt8], milliseconds: Int32)
        /// The same bytes until a total is reached or the client is gone.
        case flood([UInt8], total: Int)
        /// Nothing until the client is gone.
        case silence
        /// Close so that the client sees a reset connection instead of an end.
        case reset
        case perform(@Sendable () -> Void)
    }

    struct Request: Sendable, Hashable {
        var method: String
        var target: String
        var fields: [String: String]
        var body: String
    }

    typealias Script = @Sendable (Request) -> [Step]

    let port: Int
    private let listener: Socket
    private let received = Mutex<[Request]>([])

    /// Starts to listen; the script is asked for every request, on a thread of its own.
    init(_ script: @escaping Script) throws {
        listener = try Socket.listening()
        port = listener.port
        let listener = listener
        Thread.detachNewThread { [weak self] in
            while let connection = listener.accept() {
                Thread.detachNewThread {
                    guard let request = connection.readRequest() else { return connection.close() }
                    self?.received.withLock { $0.append(request) }
                    for step in script(request) { connection.perform(step) }
                    connection.close()
                }
            }
        }
    }

    /// Answers every request with the same bytes.
    convenience init(answering text: String) throws {
        try self.init { _ in [.send(Array(text.utf8))] }
    }

    deinit { listener.stop() }

    var url: URL { URL(string: "http://127.0.0.1:\(port)")! }

    /// The requests that arrived so far, in order.
    var requests: [Request] { received.withLock { $0 } }
}

/// The text of an answer with a length that fits.
func response(_ status: String, _ body: String = "", fields: [String] = ["Content-Type: application/json"]) -> String {
    let head = ["HTTP/1.1 \(status)"] + fields + ["Content-Length: \(body.utf8.count)", "Connection: close"]
    return head.joined(separator: "\r\n") + "\r\n\r\n" + body
}
