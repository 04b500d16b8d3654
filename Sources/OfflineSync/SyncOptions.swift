/// Settings of a context, each with a default.
public struct SyncOptions: Sendable {
    /// How many operations a push has under way at a time, 1 to 8; how many batches, where the remote takes batches.
    ///
    /// The order of the changes of one item and of one group is kept; others may arrive in another order than that in
    /// which they were made.
    public var parallelOperations: Int {
        didSet { parallelOperations = Self.bounded(parallelOperations) }
    }

    /// How many rows a pull asks for at a time; nil, and what is below 1, leaves it to the server.
    public var pageSize: Int?

    /// What comes first in pulls that do not say it themselves, those of a session included, and in ``SyncContext/sync()``.
    /// ``PullOptions/Order/pullOnly`` is about pulls: ``SyncContext/sync()`` and sessions send what waits all the same, before they
    /// pull.
    public var order: PullOptions.Order

    /// Told one line for each event, without content, for the app's log. It is called on the engine's tasks and must not
    /// block. With swift-log (`Logger(label:)`) as with `os.Logger`:
    ///
    /// ```swift
    /// let logger = Logger(label: "org.example.todos.sync")
    /// var options = SyncOptions()
    /// options.log = { logger.debug("\($0)") }
    /// ```
    public var log: (@Sendable (String) -> Void)?

    /// How the files of rows travel; nil, the default, where there are none. An encrypted store is opened with it:
    /// `SyncContext.open(…)` of the umbrella.
    public var attachments: AttachmentOptions?

    /// How many operations of the queue a push looks at in one query for where its groups end. It changes nothing but the
    /// time that takes; in tests small ones show that.
    package var queuePortion = 1_024

    /// Creates settings. A number beyond its bounds is brought to the nearest one.
    public init(
        parallelOperations: Int = 1,
        pageSize: Int? = nil,
        order: PullOptions.Order = .pushFirst,
        log: (@Sendable (String) -> Void)? = nil,
        attachments: AttachmentOptions? = nil
    ) {
        self.parallelOperations = Self.bounded(parallelOperations)
        self.pageSize = pageSize
        self.order = order
        self.log = log
        self.attachments = attachments
    }

    /// Creates settings of a context with files: `SyncOptions(attachments: AttachmentOptions()) { logger.debug("\($0)") }`.
    public init(
        parallelOperations: Int = 1,
        pageSize: Int? = nil,
        order: PullOptions.Order = .pushFirst,
        attachments: AttachmentOptions,
        log: (@Sendable (String) -> Void)? = nil
    ) {
        self.init(
            parallelOperations: parallelOperations,
            pageSize: pageSize,
            order: order,
            log: log,
            attachments: attachments
        )
    }

    private static func bounded(_ parallelOperations: Int) -> Int { min(max(parallelOperations, 1), 8) }
}
