/// What a rewrite of a store has done.
public struct StoreRewriteResult: Sendable, Hashable {
    /// Whether there is a new file; false when nothing had to be done, after which the file is as it was.
    public let isRewritten: Bool

    /// The bytes of the database and of a WAL beside it, before.
    public let sizeBefore: Int64

    /// The bytes of the database after; there is no WAL then.
    public let sizeAfter: Int64

    /// The format before.
    public let formatBefore: StoreFormat

    /// The format after.
    public let formatAfter: StoreFormat
}
