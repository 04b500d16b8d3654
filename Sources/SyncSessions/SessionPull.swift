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

    /// How it is done. `PullOptions.Order.pullFirst` has every push wait until this was pulled, however long it fails, and what the server has
    /// already dropped. `PullOptions.Order.pullOnly` is as `PullOptions.Order.pushFirst`: the session pushes by itself.
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
    var precedesPush: Bool { options.order == .pullFirst }
}
