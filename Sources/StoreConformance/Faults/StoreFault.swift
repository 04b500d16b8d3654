internal import ConformanceRunner
public import SyncContract

/// What goes wrong in a call to a ``FaultyStore``.
public struct StoreFault: Sendable {
    /// When it goes wrong.
    public enum Moment: Sendable, Hashable, CaseIterable {
        /// Before the closure runs.
        case beforeClosure
        /// After the closure returned: what it wrote is rolled back.
        case beforeCommit
        /// After the commit: what the closure wrote is kept, and the caller is not told so. A store never does that
        /// while its process lives; it is what the end of a process between a commit and the next line looks like.
        case afterCommit
    }

    /// When it goes wrong.
    public let moment: Moment

    private let error: StoreError?

    /// The call throws an error: an input or output error unless another is given.
    public static func fails(
        _ moment: Moment,
        _ error: StoreError = StoreError(.inputOutput, "This failure was planned; no disk is broken.")
    ) -> StoreFault {
        StoreFault(moment: moment, error: error)
    }

    /// The process is killed, as by a power failure: nothing of it runs any more.
    public static func stopsProcess(_ moment: Moment) -> StoreFault { StoreFault(moment: moment, error: nil) }

    func happen() -> StoreError {
        guard let error else { killThisProcess() }
        return error
    }
}
