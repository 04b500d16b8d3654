import Foundation
import FlyingSocks

/// A socket pool that turns Nagle's algorithm off on every socket it waits for.
///
/// FlyingFox writes head and body of an answer separately. With Nagle's algorithm on, the body then waits for the
/// client's delayed acknowledgement of the head: about 40 ms per request. The listening socket is the first one waited
/// for, and accepted sockets inherit the option from it.
struct NoDelaySocketPool: AsyncSocketPool {
    private let pool: any AsyncSocketPool

    init(_ pool: some AsyncSocketPool) {
        self.pool = pool
    }

    func prepare() async throws {
        try await pool.prepare()
    }

    func run() async throws {
        try await pool.run()
    }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        try socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
        try await pool.suspendSocket(socket, untilReadyFor: events)
    }
}
