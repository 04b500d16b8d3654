public import Foundation
public import HTTPTransport
public import RemoteContract
internal import Synchronization

/// A Datasync or Azure Mobile Apps service as the sync engine sees it.
///
/// Every call is one request; some need more: bringing a row back, a conflict whose answer lacks the server's row, a row
/// found deleted, in protocol 2 one that is missing, the first page of a pull from a server that does not say what time it
/// is, a page larger than the server allows, and one that the server cannot hand over because of one of its rows; in
/// protocol 2 also a page that is empty though perhaps only because no row has filled a column of its query yet, which is null in
/// all of them then, and the first search for text within text, for which servers have two words. No rows are cached.
/// Redirects are not followed.
///
/// When the connection breaks, a request that only reads, or that is known not to have been sent, is sent once more at
/// once. Nothing else is sent twice: whether a change is to be repeated is for the engine to decide.
public final class DatasyncRemote: OnlineRemote, AnsweringRemote {
    let endpoint: DatasyncEndpoint
    let wire: any WireProtocol
    let settlingTime: Duration
    let knowledge = Mutex(ServerKnowledge())
    let requestTimeout: Duration
    let authentication: (any RequestAuthentication)?
    let tokens: TokenCache?
    let tokenField: HTTPField.Name
    let exchanges = RunningExchanges()
    let readers = RowReaders()
    let now: @Sendable () -> ContinuousClock.Instant
    private let transport: any EndableTransport
    private let counter = Atomic<Int>(0)

    /// Gives the token of whoever is signed in; nil when nobody is. What it throws is no answer of the service: nothing is sent, and
    /// the request ends as with ``RequestAuthentication/headerField()``, with a `CancellationError` only when it was cancelled itself.
    public typealias TokenProvider = @Sendable () async throws -> AccessToken?

    /// Describes a service that is asked anonymously, or with credentials that are asked for before every request;
    /// nothing is sent yet.
    ///
    /// - Parameters:
    ///   - baseURL: Scheme, host and path of the service, above the table endpoint. `https`, or `http` to this machine
    ///     (`localhost`, `127.0.0.0/8`, `::1`), unless the options allow more.
    ///   - dialect: The protocol that the service speaks.
    ///   - options: Settings with defaults.
    ///   - authentication: What proves to the server who is asking; nil asks anonymously.
    ///   - transport: What carries requests; one that all remotes share unless another is given.
    /// - Throws: ``/RemoteContract/RemoteError`` with code `invalidAddress` for an address that is refused, and
    ///   `invalidRequest` for an installation id or a header field that no request can carry.
    public convenience init(
        baseURL: URL,
        dialect: DatasyncDialect,
        options: DatasyncOptions = DatasyncOptions(),
        authentication: (any RequestAuthentication)? = nil,
        transport: any ClientTransport = .shared
    ) throws(RemoteError) {
        try self.init(baseURL, dialect, options, authentication, transport) { .now }
    }

    /// Describes a service that is asked with a token; nothing is sent yet.
    ///
    /// The token is asked for when the first request needs it, once for all requests that wait, and kept until a minute
    /// before it ends. When the server answers 401 it is asked for anew, once, and the request is sent once more; what the
    /// server says then counts. Without a token nothing is sent: nil from the provider is an error with code
    /// `unauthorized` that says that nobody is signed in, and what it throws is the cause of one, unless it is a
    /// `RemoteError`, which is passed on.
    ///
    /// The token goes to this service only, in the field that ``DatasyncOptions/tokenField`` names. It is never part of a
    /// message.
    ///
    /// - Parameters:
    ///   - baseURL: As in the other initializer.
    ///   - dialect: The protocol that the service speaks.
    ///   - options: Settings with defaults.
    ///   - transport: What carries requests; one that all remotes share unless another is given.
    ///   - token: Gives the token of whoever is signed in.
    /// - Throws: As the other initializer.
    public convenience init(
        baseURL: URL,
        dialect: DatasyncDialect,
        options: DatasyncOptions = DatasyncOptions(),
        transport: any ClientTransport = .shared,
        token: @escaping TokenProvider
    ) throws(RemoteError) {
        let tokens = TokenCache(now: { Date() }, token)
        try self.init(baseURL, dialect, options, nil, transport, tokens: tokens) { .now }
    }

    /// As the other ones, with a clock to measure requests by.
    init(
        _ baseURL: URL,
        _ dialect: DatasyncDialect,
        _ options: DatasyncOptions = DatasyncOptions(),
        _ authentication: (any RequestAuthentication)? = nil,
        _ transport: any ClientTransport,
        tokens: TokenCache? = nil,
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) throws(RemoteError) {
        self.now = now
        endpoint = try DatasyncEndpoint(baseURL, options: options)
        wire = dialect.wireProtocol(maximumFilterNodes: options.maximumFilterNodes)
        settlingTime = max(.zero, options.settlingTime)
        requestTimeout = options.requestTimeout
        tokenField = try options.tokenFieldName(dialect, isUsed: tokens != nil)
        self.authentication = authentication
        self.tokens = tokens
        self.transport = transport as? any EndableTransport ?? TaskTransport(transport)
    }

    /// Whether an update replaces the whole row: true for protocol 3, false for protocol 2.
    public var replacesWholeRows: Bool { wire.replacesWholeRows }

    /// Whether bringing a row back takes several requests: true for protocol 2.
    public var restoresInSteps: Bool { !wire.replacesWholeRows }

    /// Whether `createdAt` is a column like any other: true for protocol 3.
    public var keepsCreatedAt: Bool { !wire.reservesCreatedAt }

    /// How many HTTP requests were sent so far, whoever asked for them.
    public var requestCount: Int { counter.load(ordering: .relaxed) }

    /// Forgets the token, and ends what is under way with an error of code `unauthorized`.
    ///
    /// A push or pull that has begun sends nothing further, whoever is signed in by then; the next one asks the provider
    /// anew. Call this after the provider has ceased to give the token. Whether a change that was under way was carried
    /// out is not known, as after any request without an answer.
    public func signOut() {
        tokens?.signOut()
        exchanges.signOut()
    }

    /// The transport's, unless something of the app's own is asked for every request: it may take its time.
    package var answerExecutor: (any TaskExecutor)? { authentication == nil ? transport.answerExecutor : nil }

    func sendOnce(
        _ request: HTTPRequest,
        _ streams: ExchangeStreams?,
        _ whenEndable: (@escaping @Sendable () -> Void) -> Void
    ) async throws -> HTTPResponse {
        try Task.checkCancellation()
        counter.add(1, ordering: .relaxed)
        RequestCounter.countRequest()
        guard let streams else { return try await transport.send(request, whenEndable: whenEndable) }
        return try await transport.send(
            request,
            body: streams.body,
            receiving: { try streams.reception(of: $0) },
            whenEndable: whenEndable
        )
    }
}
