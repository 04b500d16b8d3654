/// How one pull is done.
public struct PullOptions: Sendable {
    /// What comes first.
    public enum Order: Sendable, Hashable {
        /// Push, then pull: fewer conflicts.
        case pushFirst
        /// Pull, drop the changes that have become pointless because the server has the same content, then push the rest.
        case pullFirst
        /// Pull and push nothing.
        case pullOnly
    }

    /// What comes first; nil is what the context says (``SyncOptions/order``).
    public var order: Order?

    /// Whether every row is fetched, changed or not, and rows that the server no longer has or that left the condition
    /// are removed here; never ones with a waiting change, nor ones that were kept (``ConflictResolution/keepLocal(_:)``) where
    /// the server had none. What the pages did not bring is asked for by id, many rows at a time, with the condition and then
    /// without it, before any of it is removed: a row that the server has stays as long as what came of it satisfies the
    /// condition here, whatever the server says. A row that cannot be asked for, as its id is too long for a question, stays,
    /// and is among the rows set aside. A pull that fails in its pages or meets a bound removes nothing.
    public var reconciles: Bool

    /// Further parameters for the service, by name. Where they choose rows, a reconciling pull takes those that it does not
    /// bring for gone. A row that is asked for by its id is asked for without them first. Those that are the protocol's own, such
    /// as `$filter` and `__includeDeleted`, are refused before anything is sent, with ``SyncError/Code/invalidParameter``; in
    /// a session it is that pull alone which fails so, but where everything has to be brought anew: that cannot be without it.
    public var parameters: [String: String]

    /// How many rows to ask for at a time; nil, and what is below 1, for what the context says.
    public var pageSize: Int?

    /// How many rows may change here before the pull stops; what was applied stays, and the next pull goes on. Looked at
    /// after every page: a server that sends larger pages than it is asked for goes beyond it by one of them.
    public var maximumRows: Int?

    /// How long the pull may take before it stops, likewise. A page that is being applied is not interrupted; and a pull that
    /// does not reconcile goes on until something has changed here or the next one will begin farther on, however short the
    /// time is: otherwise that would do the same again.
    public var maximumTime: Duration?

    /// Told after every page; exact when the server counts.
    public var progress: (@Sendable (SyncProgress) -> Void)?

    /// Asked after every page whether to stop all the same, as at a bound.
    package var isInterrupted: (@Sendable () -> Bool)?

    /// Called by a pull that reconciles, after every page but the last and between the rows that are asked for behind them: it
    /// would begin at the beginning again if it were interrupted. What it throws ends the pull.
    package var betweenPages: (@Sendable () async throws -> Void)?

    /// Creates options.
    public init(
        order: Order? = nil,
        reconciles: Bool = false,
        parameters: [String: String] = [:],
        pageSize: Int? = nil,
        maximumRows: Int? = nil,
        maximumTime: Duration? = nil,
        progress: (@Sendable (SyncProgress) -> Void)? = nil
    ) {
        self.order = order
        self.reconciles = reconciles
        self.parameters = parameters
        self.pageSize = pageSize
        self.maximumRows = maximumRows
        self.maximumTime = maximumTime
        self.progress = progress
    }
}
