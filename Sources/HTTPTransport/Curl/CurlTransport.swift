#if !canImport(Darwin)
/// Carries requests with libcurl: HTTP/1.1, plain or over TLS 1.2 and later.
///
/// Connections are kept for a while and used again, also for requests of other tasks. All exchanges of one transport are
/// driven by one thread, which begins with the first request. Neither an idle transport nor one that is dropped needs to
/// be closed.
public final class CurlTransport: ClientTransport, EndableTransport {
    private let options: TransportOptions
    private let driver: TransferDriver

    /// A transport with connections of its own; nothing is opened or read yet.
    public init(_ options: TransportOptions = TransportOptions()) {
        self.options = options
        driver = TransferDriver(options)
    }

    deinit { driver.close() }

    /// Sends a request; see ``ClientTransport/send(_:)``.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await send(request) { _ in } }

    package func send(
        _ request: HTTPRequest,
        whenEndable: (@escaping @Sendable () -> Void) -> Void
    ) async throws -> HTTPResponse {
        let transfer = TransferRequest(request, to: try request.address(), timeout: request.timeout ?? options.timeout)
        let number = driver.nextNumber()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                driver.start(number, transfer, continuation)
                // Behind the order to start it: one to end it that came first would find nothing.
                whenEndable { [driver] in driver.cancel(number) }
            }
        } onCancel: {
            driver.cancel(number)
        }
    }

    /// Ends what is under way, with ``TransportError/Code/closed``, and refuses what comes. It does not wait for that.
    public func close() { driver.close() }
}

/// A request that is known to be fit for sending.
final class TransferRequest: Sendable {
    let request: HTTPRequest
    let address: HTTPRequest.Address
    let timeout: Duration

    init(_ request: HTTPRequest, to address: HTTPRequest.Address, timeout: Duration) {
        self.request = request
        self.address = address
        self.timeout = timeout
    }
}
#endif
