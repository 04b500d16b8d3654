/// Limits and settings of a transport.
public struct TransportOptions: Sendable, Hashable {
    /// The longest time from a call to the last byte of its answer, for requests that name none of their own.
    public var timeout: Duration = .seconds(60)

    /// The longest time until a connection stands: name look-up, TCP and TLS together.
    ///
    /// On Apple platforms it is part of ``timeout`` and has no limit of its own.
    public var connectTimeout: Duration = .seconds(30)

    /// The longest pause between two pieces of an answer that has begun, or while the server takes nothing of a body.
    ///
    /// A server that thinks before it answers does not pause: for that there is ``timeout``. On Apple platforms there is
    /// that only.
    public var stallTimeout: Duration = .seconds(30)

    /// The largest head of an answer that is taken, in bytes, interim answers included. A larger one ends the exchange
    /// while it arrives. libcurl takes none above 300 KB.
    public var maximumHeadSize = 64 * 1_024

    /// The largest body of an answer that is taken, in bytes and after decompression. A larger one ends the exchange
    /// while it arrives.
    public var maximumBodySize = 64 * 1_024 * 1_024

    /// How long a connection is kept for a later request after the last one, in whole seconds; zero keeps none.
    ///
    /// A server may close a kept connection at any time, also while a request is on its way to it; that request then
    /// fails, and whether it was processed is not known. So this is shorter than servers usually wait (Node 5 seconds,
    /// nginx 75, Kestrel 130). A setting of one second may become two. What was kept too long is closed with the next
    /// request, or with the transport. On Apple platforms the system decides, unless it is zero.
    public var maximumIdleTime: Duration = .seconds(4)

    /// Whether connections are used for more than one request.
    var keepsConnections: Bool { maximumIdleTime >= .seconds(1) }

    /// A file of certificates in PEM format that are trusted beside the system's: a private authority, or a server's own
    /// certificate. Nil trusts the system's only.
    ///
    /// On Apple platforms, install the certificate in the system instead: naming a file makes every request fail.
    public var additionalCertificateFile: String?

    /// Whether proxies are taken from the environment (`http_proxy`, `https_proxy`, `no_proxy`), or on Apple platforms
    /// from the system's settings, which are followed in any case.
    public var usesProxyOfEnvironment = false

    /// The defaults.
    public init() {}
}
