/// How far work on a whole store has come.
public struct StoreProgress: Sendable, Hashable {
    /// A part of the work. Phases follow one another in the order of this list.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// The content is being written to the new file.
        case copying
        /// A file is being read and checked: a new one against the old, or the one there is.
        case verifying
    }

    /// What is being done.
    public var phase: Phase

    /// How much of the phase is done, in bytes of the database; an estimate that never falls and ends at ``total``.
    public var completed: Int64

    /// How much there is to do, in bytes; the same throughout a phase.
    public var total: Int64

    /// Creates news, for instance for a progress view that is being tried out.
    public init(phase: Phase, completed: Int64, total: Int64) {
        self.phase = phase
        self.completed = completed
        self.total = total
    }
}

/// Is told how far work has come: at the beginning and at the end of each phase, and in between when there is news.
///
/// Called in order, on a thread of the work's own, which waits for it to return.
public typealias StoreProgressHandler = @Sendable (StoreProgress) -> Void
