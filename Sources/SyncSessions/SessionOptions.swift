/// When a session syncs. A time that is out of range counts as its nearest end.
public struct SessionOptions: Sendable {
    /// How old what was pulled may become before the server is asked for news; nil asks at the start and when told only.
    /// 100 ms to 100 years.
    public var pullInterval: Duration? {
        didSet { pullInterval = pullInterval?.asPause }
    }

    /// How long a local change waits for others to go with it, 0 to 100 years.
    public var pushDelay: Duration {
        didSet { pushDelay = pushDelay.asWait }
    }

    /// How long to wait after a failure.
    public var backoff: Backoff

    /// What is done when the server no longer has the history that this device goes on from.
    public var resetMode: ResetMode

    /// After how long without a complete pull of something that is kept that is done as well, before anything else is sent or
    /// pulled, 0 to 100 years; nil for never. For servers that forget what was deleted some time ago: a device that was away for longer would
    /// keep such rows for ever. While one of the pulls fails on its own, which may show in the middle only and ends it then, the
    /// others go on, and what is that old is brought by
    /// reconciling pulls (`PullOptions.reconciles`), but for tables of which a pull has parameters: those wait for that. With
    /// ``ResetMode/manual`` the session fails in any case.
    public var maximumOfflineTime: Duration? {
        didSet { maximumOfflineTime = maximumOfflineTime?.asWait }
    }

    /// Creates options.
    public init(
        pullInterval: Duration? = .seconds(300),
        pushDelay: Duration = .milliseconds(500),
        backoff: Backoff = Backoff(),
        resetMode: ResetMode = .recoverUnsyncedChanges(),
        maximumOfflineTime: Duration? = nil
    ) {
        self.pullInterval = pullInterval?.asPause
        self.pushDelay = pushDelay.asWait
        self.backoff = backoff
        self.resetMode = resetMode
        self.maximumOfflineTime = maximumOfflineTime?.asWait
    }
}
