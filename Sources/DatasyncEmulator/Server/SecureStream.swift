import CLibSSL

/// Bytes over TLS, on the socket of one thread.
///
/// The library never sees the socket: what arrived is put into one of two buffers, and what it put into the other is
/// sent. So reading and writing wait just as they do without TLS, and nothing but `Socket` calls the system.
@safe final class SecureStream: ByteStream {
    private let socket: Socket
    /// Keeps what the connection was made from.
    private let context: SecureContext
    private let connection: OpaquePointer
    /// Both belong to the connection.
    private let arrived: OpaquePointer
    private let leaving: OpaquePointer
    /// For how long the client may take nothing.
    private var sendLimit: Duration

    /// Nil when there is no memory for it.
    init?(_ socket: Socket, _ context: SecureContext, sendLimit: Duration) {
        guard let connection = unsafe SSL_new(context.handle), let arrived = unsafe BIO_new(BIO_s_mem()),
            let leaving = unsafe BIO_new(BIO_s_mem())
        else { return nil }
        unsafe SSL_set_bio(connection, arrived, leaving)
        self.socket = socket
        self.context = context
        unsafe self.connection = connection
        unsafe self.arrived = arrived
        unsafe self.leaving = leaving
        self.sendLimit = sendLimit
    }

    deinit { unsafe SSL_free(connection) }

    func begin(until deadline: ContinuousClock.Instant) throws(TransferFailure) {
        guard try perform(until: deadline, { unsafe SSL_accept(connection) }) > 0 else { throw .disconnected }
    }

    func receive(until deadline: ContinuousClock.Instant) throws(TransferFailure) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = try perform(until: deadline) { unsafe SSL_read(connection, &buffer, Int32(buffer.count)) }
        return Array(buffer.prefix(Int(count)))
    }

    func send(_ bytes: ArraySlice<UInt8>, limit: Duration) throws(TransferFailure) {
        guard !bytes.isEmpty else { return }
        sendLimit = limit
        // The buffer takes everything at once; an answer is far below 2 GB.
        let count = try perform(until: .now + limit) {
            unsafe bytes.withUnsafeBytes { unsafe SSL_write(connection, $0.baseAddress, Int32($0.count)) }
        }
        guard count == bytes.count else { throw .disconnected }
    }

    func announceEnd() {
        ERR_clear_error()
        unsafe SSL_shutdown(connection)
        ERR_clear_error()
        // A client that is gone needs no announcement.
        try? flush()
    }

    /// Calls the library until it need not wait any more.
    ///
    /// - Returns: What the library returned, or 0 when the client has sent its last byte.
    private func perform(
        until deadline: ContinuousClock.Instant,
        _ call: () -> Int32
    ) throws(TransferFailure) -> Int32 {
        while true {
            ERR_clear_error()
            let result = call()
            let outcome = unsafe SSL_get_error(connection, result)
            ERR_clear_error()
            try flush()
            if result > 0 { return result }
            switch outcome {
            case SSL_ERROR_ZERO_RETURN: return 0
            case SSL_ERROR_WANT_READ:
                let bytes = try socket.receive(until: deadline)
                if bytes.isEmpty { return 0 }
                _ = unsafe BIO_write(arrived, bytes, Int32(bytes.count))
            default: throw .disconnected
            }
        }
    }

    /// Sends what the library wants to be sent.
    private func flush() throws(TransferFailure) {
        let count = unsafe BIO_ctrl_pending(leaving)
        guard count > 0 else { return }
        var bytes = [UInt8](repeating: 0, count: count)
        let taken = unsafe BIO_read(leaving, &bytes, Int32(count))
        try socket.send(bytes.prefix(Int(taken)), limit: sendLimit)
    }
}
