/// When a session syncs.
public struct SessionOptions: Sendable, Hashable {
    /// How old what was pulled may become before the server is asked for news; nil asks at the start and when told only.
    public var pullInterval: Duration?

    /// How long a local change waits for others to go with it.
    public var pushDelay: Duration

    /// How long to wait after a failure.
    public var backoff: Backoff

    /// Creates options.
    public init(
        pullInterval: Duration? = .seconds(300),
        pushDelay: Duration = .milliseconds(500),
        backoff: Backoff = Backoff()
    ) {
        self.pullInterval = pullInterval
        self.pushDelay = pushDelay
        self.backoff = backoff
    }
}
