/// What a connection's thread reads requests from and writes answers to.
protocol ByteStream: AnyObject {
    /// Makes the stream usable; to be called first.
    func begin(until deadline: ContinuousClock.Instant) throws(TransferFailure)

    /// What has arrived, as soon as there is something; nothing when the client has sent its last byte.
    func receive(until deadline: ContinuousClock.Instant) throws(TransferFailure) -> [UInt8]

    /// Writes bytes; fails when the client takes nothing for as long as the limit says.
    func send(_ bytes: ArraySlice<UInt8>, limit: Duration) throws(TransferFailure)

    /// Tells the client that nothing more comes, where that is not the connection's end alone.
    func announceEnd()
}

/// Bytes as they are.
final class PlainStream: ByteStream {
    private let socket: Socket

    init(_ socket: Socket) { self.socket = socket }

    func begin(until deadline: ContinuousClock.Instant) {}

    func receive(until deadline: ContinuousClock.Instant) throws(TransferFailure) -> [UInt8] {
        try socket.receive(until: deadline)
    }

    func send(_ bytes: ArraySlice<UInt8>, limit: Duration) throws(TransferFailure) {
        try socket.send(bytes, limit: limit)
    }

    func announceEnd() {}
}
