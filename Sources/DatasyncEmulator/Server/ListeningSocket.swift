import Foundation
import Synchronization

/// A socket that waits for connections, until another thread says that it is enough.
final class ListeningSocket: Sendable {
    enum Outcome {
        case connection(Socket)
        /// The system has no descriptor or no memory left for a connection that waits.
        case exhausted
        case woken
    }

    /// The numeric address it listens on.
    let host: String
    let port: UInt16

    private let descriptor: Int32
    private let wakeReading: Int32
    private let wakeWriting: Int32
    private let isClosed = Mutex(false)

    /// Listens on a numeric address, on any free port where 0 is asked for. A port whose earlier connections are not
    /// forgotten yet can be taken.
    init(host: String, port: UInt16) throws(SystemFailure) {
        guard let pipe = SocketCalls.makePipe() else { throw SystemFailure(call: "pipe", code: errno) }
        (wakeReading, wakeWriting) = pipe
        do throws(SystemFailure) {
            descriptor = try unsafe NumericAddress.withSocket(host: host, port: port, "bind") {
                SocketCalls.setOption($0, SOL_SOCKET, SO_REUSEADDR, Int32(1))
                return unsafe bind($0, $1, $2) == 0 ? listen($0, SOMAXCONN) : -1
            }
        } catch {
            for end in [pipe.reading, pipe.writing] { _ = SocketCalls.close(end) }
            throw error
        }
        (self.host, self.port) = NumericAddress.local(descriptor) ?? (host, port)
        SocketCalls.setNonBlocking(descriptor)
    }

    deinit { close() }

    /// Refuses further connections and ends `accept`, now or when it is called next. To be called once.
    func stop() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
        _ = unsafe write(wakeWriting, [0], 1)
    }

    /// Frees the port; to be called by the thread that accepts, after it was told to stop.
    func close() {
        isClosed.withLock { isClosed in
            if !isClosed { for number in [descriptor, wakeReading, wakeWriting] { _ = SocketCalls.close(number) } }
            isClosed = true
        }
    }

    /// Waits for a connection.
    func accept() -> Outcome {
        while true {
            var entries = [descriptor, wakeReading].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard unsafe poll(&entries, 2, -1) > 0 else { continue }
            guard entries[1].revents == 0 else { return .woken }
            let accepted = SocketCalls.acceptSocket(descriptor)
            if accepted >= 0 { return .connection(Socket(accepted)) }
            switch errno {
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
            // Otherwise the connection was given up before it was accepted, or a signal came.
            default: continue
            }
        }
    }
}

extension ListeningSocket {
    /// The URL that leads here.
    func url(scheme: String) -> URL? {
        URL(string: "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)")
    }
}
