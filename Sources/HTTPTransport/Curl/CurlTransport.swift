#if !canImport(Darwin)
/// Carries requests with libcurl: HTTP/1.1, plain or over TLS 1.2 and later.
///
/// Connections are kept for a while and used again, also for requests of other tasks. All exchanges of one transport are
/// driven by one thread, which begins with the first request. Neither an idle transport nor one that is dropped needs to
/// be closed.
public final class CurlTransport: ClientTransport, EndableTransport {
    let options: TransportOptions
    let driver: TransferDriver
    private let executor: TransferExecutor

    /// A transport with connections of its own; nothing is opened or read yet.
    public init(_ options: TransportOptions = TransportOptions()) {
        self.options = options
        driver = TransferDriver(options)
        executor = TransferExecutor(driver)
    }

    deinit { driver.close() }

    /// Runs tasks on the thread that drives all exchanges.
    package var answerExecutor: (any TaskExecutor)? { executor }

    /// Sends a request; see ``ClientTransport/send(_:)``.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await send(request) { _ in } }

    package func send(
        _ request: HTTPRequest,
        whenEndable: (@escaping @Sendable () -> Void) -> Void
    ) async throws -> HTTPResponse {
        let order = TransferRequest(request, to: try request.address(), timeout: request.timeout ?? options.timeout)
        return try await exchange(driver.nextNumber(), order, whenEndable)
    }

    func exchange(
        _ number: Int,
        _ order: TransferRequest,
        _ whenEndable: (@escaping @Sendable () -> Void) -> Void
    ) async throws -> HTTPResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                driver.start(number, order, continuation)
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
    /// For the whole, or with streamed bodies until the answer begins.
    let timeout: Duration
    /// What brings and takes streamed bodies; nil where there are none.
    let stream: TransferStream?

    init(
        _ request: HTTPRequest,
        to address: HTTPRequest.Address,
        timeout: Duration,
        stream: TransferStream? = nil
    ) {
        self.request = request
        self.address = address
        self.timeout = timeout
        self.stream = stream
    }

    /// How many bytes of a body are sent; nil when there is none.
    var bodySize: Int64? { stream?.body?.length ?? request.body.map { Int64($0.count) } }

    /// What brings the body; nil when it is there as a whole.
    var contentStream: TransferStream? { stream?.body.map { $0.length > 0 } ?? false ? stream : nil }
}
#endif
