public import OfflineSync
public import SyncContract

/// A pull that a session makes again and again, with settings of its own: where a table or a query alone would not say
/// enough.
public struct SessionPull: SyncSource {
    /// The rows.
    public let source: Query

    /// The name under which its progress is kept; nil makes one of the query. The same query under another name starts
    /// from the beginning.
    public var queryID: String?

    /// How it is done. `PullOptions.Order.pullFirst` has every push wait until this was pulled wholly, however long it fails, and
    /// what the server has already dropped; where it says no order, `SyncOptions.order` does. `PullOptions.Order.pullOnly` is as
    /// `PullOptions.Order.pushFirst`: the session pushes by itself.
    ///
    /// A bound makes parts of the pull, one behind the other, between which others have their turn; so does a change that is due
    /// to be sent. `PullOptions.maximumTime`
    /// does not bound one that reconciles: it begins at the beginning each time, and would never come to an end.
    public var options: PullOptions

    /// Creates one.
    public init(_ source: any SyncSource, queryID: String? = nil, options: PullOptions = PullOptions()) {
        self.source = source.source
        self.queryID = queryID
        self.options = options
    }

    /// What it is made of: itself, or a table or query without settings.
    init(of source: any SyncSource) { self = source as? SessionPull ?? SessionPull(source) }

    var name: PullName { PullName(queryID: queryID, parameters: options.parameters) }

    /// Whether every push of a context waits for it.
    func precedesPush(in context: SyncContext) -> Bool { (options.order ?? context.order) == .pullFirst }

    /// How one part of it is done: one that gets on, whatever the bounds are.
    func options(_ order: PullOptions.Order) -> PullOptions {
        var options = options
        options.order = order
        options.maximumRows = options.maximumRows.map { max(1, $0) }
        if options.reconciles { options.maximumTime = nil }
        return options
    }
}
