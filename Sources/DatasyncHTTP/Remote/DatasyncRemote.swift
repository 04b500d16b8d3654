public import Foundation
public import HTTPTransport
public import RemoteContract
internal import Synchronization

/// A Datasync or Azure Mobile Apps service as the sync engine sees it.
///
/// Every call is one request. These need more: bringing a row back in protocol 2, a conflict whose answer lacks the
/// server's row, a row found deleted, the first page of a pull from a server that does not say what time it is, a page
/// larger than the server allows, and one that the server cannot hand over because of one of its rows. No rows are cached.
/// Redirects are not followed.
///
/// When the connection breaks, a request that only reads, or that is known not to have been sent, is sent once more at
/// once. Nothing else is sent twice: whether a change is to be repeated is for the engine to decide.
public final class DatasyncRemote: SyncRemote {
    let endpoint: DatasyncEndpoint
    let wire: any WireProtocol
    let settlingTime: Duration
    let knowledge = Mutex(ServerKnowledge())
    private let requestTimeout: Duration
    private let authentication: (any RequestAuthentication)?
    private let transport: any ClientTransport
    private let now: @Sendable () -> ContinuousClock.Instant
    private let counter = Atomic<Int>(0)

    /// Describes a service; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - baseURL: Scheme, host and path of the service, above the table endpoint. `https`, or `http` to this machine
    ///     (`localhost`, `127.0.0.0/8`, `::1`), unless the options allow more.
    ///   - dialect: The protocol that the service speaks.
    ///   - options: Settings with defaults.
    ///   - authentication: What proves to the server who is asking; nil asks anonymously.
    ///   - transport: What carries requests.
    /// - Throws: ``RemoteContract/RemoteError`` with code `invalidAddress` for an address that is refused, and
    ///   `invalidRequest` for an installation id that no header can carry.
    public convenience init(
        baseURL: URL,
        dialect: DatasyncDialect,
        options: DatasyncOptions = DatasyncOptions(),
        authentication: (any RequestAuthentication)? = nil,
        transport: any ClientTransport = DefaultTransport()
    ) throws(RemoteError) {
        try self.init(baseURL, dialect, options, authentication, transport) { .now }
    }

    /// As the other one, with a clock to measure requests by.
    init(
        _ baseURL: URL,
        _ dialect: DatasyncDialect,
        _ options: DatasyncOptions = DatasyncOptions(),
        _ authentication: (any RequestAuthentication)? = nil,
        _ transport: any ClientTransport,
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) throws(RemoteError) {
        self.now = now
        endpoint = try DatasyncEndpoint(baseURL, options: options)
        wire = dialect.wireProtocol(maximumFilterNodes: options.maximumFilterNodes)
        settlingTime = max(.zero, options.settlingTime)
        requestTimeout = options.requestTimeout
        self.authentication = authentication
        self.transport = transport
    }

    /// Whether an update replaces the whole row: true for protocol 3, false for protocol 2.
    public var replacesWholeRows: Bool { wire.replacesWholeRows }

    /// How many HTTP requests were sent so far, whoever asked for them.
    public var requestCount: Int { counter.load(ordering: .relaxed) }

    /// Sends one request and returns the answer, whatever its status.
    func exchange(_ request: WireRequest) async throws -> ServerResponse {
        do {
            return try await exchangeOrBreak(request)
        } catch let error as TransportError {
            throw RemoteError(error)
        }
    }

    /// As ``exchange(_:)``, but leaves an exchange that came to nothing to the caller, as a `TransportError`.
    func exchangeOrBreak(_ request: WireRequest) async throws -> ServerResponse {
        var http = try endpoint.httpRequest(request, version: wire.version)
        if let field = try await authenticationField() { http.headerFields.append(field) }
        http.body = request.body.map { Array($0.utf8) }
        http.timeout = requestTimeout
        let start = now()
        do {
            let response = try await send(http)
            return ServerResponse(
                status: response.status.code,
                fields: response.headerFields,
                body: response.body,
                server: endpoint.authority,
                duration: now() - start
            )
        } catch let error as TransportError {
            throw error
        } catch let error as RemoteError {
            throw error
        } catch let error as CancellationError {
            throw error
        } catch {
            throw RemoteError(
                .unreachable,
                "The request to \(endpoint.authority) failed in the transport.",
                cause: error
            )
        }
    }

    /// Sends a request, and once more when that can do nothing twice.
    private func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let start = ContinuousClock.now
        do {
            return try await sendOnce(request)
        } catch let error as TransportError where error.allowsRepetition(of: request.method) {
            var again = request
            let left = requestTimeout - (.now - start)
            guard left > .zero else { throw error }
            again.timeout = left
            return try await sendOnce(again)
        }
    }

    private func sendOnce(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Task.checkCancellation()
        counter.add(1, ordering: .relaxed)
        RequestCounter.countRequest()
        return try await transport.send(request)
    }

    private func authenticationField() async throws -> HTTPField? {
        do {
            return try await authentication?.headerField()
        } catch let error as RemoteError {
            throw error
        } catch let error as CancellationError {
            throw error
        } catch {
            throw RemoteError(
                .unauthorized,
                "No credentials for \(endpoint.authority) could be had; sign in again.",
                cause: error
            )
        }
    }
}
