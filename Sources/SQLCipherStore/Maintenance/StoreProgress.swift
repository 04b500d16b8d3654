/// How far work on a whole store has come.
public struct StoreProgress: Sendable, Hashable {
    /// A part of the work. Phases follow one another in the order of this list.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// The content is being written to the new file.
        case copying
        /// The new file is being read back and compared.
        case verifying
    }

    /// What is being done.
    public var phase: Phase

    /// How much of the phase is done, in bytes of the database; an estimate that never falls and ends at ``total``.
    public var completed: Int64

    /// How much there is to do, in bytes; the same throughout a phase.
    public var total: Int64
}

/// Is told how far work has come: at the beginning and at the end of each phase, and in between when there is news.
///
/// Called in order, on a thread of the work's own, which waits for it to return.
public typealias StoreProgressHandler = @Sendable (StoreProgress) -> Void
