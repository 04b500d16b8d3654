import Foundation
import Synchronization

/// Why bytes did not pass.
enum TransferFailure: Error {
    /// The other side neither sent nor took anything for as long as it was given.
    case timedOut
    /// The other side is gone, or this one was shut down.
    case disconnected
}

/// A connected stream socket, closed with its last reference at the latest.
///
/// One thread reads and writes; it alone closes and resets, after which it does neither again. Any thread may shut the
/// socket down, which ends what the first one waits for.
final class Socket: Sendable {
    private static let readSize = 16_384

    private let descriptor: Int32
    /// Held while the descriptor is closed or shut down, so that the latter never meets a number that already means
    /// another file.
    private let isClosed = Mutex(false)

    /// Takes over a descriptor, and makes it one whose calls do not block: waiting is done with `poll`, so that every
    /// wait has an end. Small writes are sent at once, for answers are written whole.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        SocketCalls.prepare(descriptor)
    }

    /// Connects to a port of this machine.
    convenience init(connectingTo port: UInt16) throws(SystemFailure) {
        self.init(
            try unsafe NumericAddress.withSocket(host: "127.0.0.1", port: port, "connect") {
                unsafe connect($0, $1, $2)
            }
        )
    }

    deinit { close() }

    // MARK: Bytes

    /// What has arrived, as soon as there is something; nothing when the other side has sent its last byte.
    func receive(until deadline: ContinuousClock.Instant) throws(TransferFailure) -> [UInt8] {
        while true {
            try wait(for: POLLIN, until: deadline)
            var failure: Int32 = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.readSize) { buffer, count in
                let result = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
                failure = result < 0 ? errno : 0
                count = max(0, result)
            }
            switch failure {
            case 0: return bytes
            case EINTR, EAGAIN: continue
            default: throw .disconnected
            }
        }
    }

    /// Writes bytes, in one call of the system if it takes them, and fails when the other side takes nothing for as
    /// long as the limit says. They have not necessarily arrived when this returns.
    func send(_ bytes: ArraySlice<UInt8>, limit: Duration) throws(TransferFailure) {
        var rest = bytes
        while !rest.isEmpty {
            var failure: Int32 = 0
            let count = unsafe rest.withUnsafeBytes { buffer in
                let result = unsafe Foundation.send(descriptor, buffer.baseAddress, buffer.count, SocketCalls.sendFlags)
                failure = result < 0 ? errno : 0
                return max(0, result)
            }
            rest = rest.dropFirst(count)
            switch failure {
            case 0, EINTR: continue
            case EAGAIN: try wait(for: POLLOUT, until: .now + limit)
            default: throw .disconnected
            }
        }
    }

    /// Whether all that was sent has been acknowledged.
    var hasArrived: Bool { SocketCalls.unacknowledgedCount(descriptor) == 0 }

    private func wait<Events: BinaryInteger>(
        for events: Events,
        until deadline: ContinuousClock.Instant
    ) throws(TransferFailure) {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while true {
            switch unsafe poll(&entry, 1, SocketCalls.milliseconds(until: deadline)) {
            case 0: throw .timedOut
            case 1...: return
            default: if errno != EINTR { throw .disconnected }
            }
        }
    }

    // MARK: Ends

    /// Nothing more is received: whoever waits for something gets the end.
    func endReceiving() {
        shutDown(Int32(SHUT_RD))
    }

    /// Nothing more is sent; the other side sees the end after the last byte.
    func endSending() {
        shutDown(Int32(SHUT_WR))
    }

    /// Both at once: whoever waits fails.
    func endBoth() {
        shutDown(Int32(SHUT_RDWR))
    }

    private func shutDown(_ how: Int32) {
        // What is shut down already, or was never connected, is as it should be.
        isClosed.withLock { if !$0 { _ = shutdown(descriptor, how) } }
    }

    /// Closes the socket. Bytes that arrived and were not read make that a reset.
    func close() {
        isClosed.withLock { isClosed in
            if !isClosed { _ = SocketCalls.close(descriptor) }
            isClosed = true
        }
    }

    /// Closes the socket so that the other side sees a reset connection. What has not arrived yet never will.
    func reset() {
        isClosed.withLock { isClosed in
            guard !isClosed else { return }
            SocketCalls.setOption(descriptor, SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
            _ = SocketCalls.close(descriptor)
            isClosed = true
        }
    }
}
