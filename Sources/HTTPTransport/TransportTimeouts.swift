/// How long requests may take, as one value.
public struct TransportTimeouts: Sendable, Hashable {
    /// Until a connection stands: see ``TransportOptions/connectTimeout``.
    public var connect: Duration

    /// From a call to the last byte of its answer: see ``TransportOptions/timeout``. A `DatasyncRemote` has a limit of its
    /// own for its requests, `DatasyncOptions.requestTimeout`, which is the same unless it is changed.
    public var request: Duration

    /// Between two pieces of an answer: see ``TransportOptions/stallTimeout``.
    public var idle: Duration

    /// Creates them; the defaults are those of ``TransportOptions``.
    public init(connect: Duration = .seconds(30), request: Duration = .seconds(60), idle: Duration = .seconds(30)) {
        self.connect = connect
        self.request = request
        self.idle = idle
    }
}

extension TransportOptions {
    /// The three limits in time.
    public var timeouts: TransportTimeouts {
        get { TransportTimeouts(connect: connectTimeout, request: timeout, idle: stallTimeout) }
        set { (connectTimeout, timeout, stallTimeout) = (newValue.connect, newValue.request, newValue.idle) }
    }
}
