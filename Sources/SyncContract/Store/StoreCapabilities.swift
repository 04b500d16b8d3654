/// What a store can do beyond what every store must.
///
/// Capabilities are part of the product: apps read them, and the engine refuses what a store cannot keep safe.
public struct StoreCapabilities: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// What is written is still there after the store is closed and opened again.
    public static let durable = StoreCapabilities(rawValue: 1 << 0)

    /// Values under undeclared keys are kept and come back in reads without a selection; no query can name them.
    public static let unknownColumns = StoreCapabilities(rawValue: 1 << 1)

    /// Nothing the store writes to disk can be read without its key, and bytes that were changed there are an error,
    /// never other data.
    public static let encrypted = StoreCapabilities(rawValue: 1 << 2)

    /// Queries about ``SyncState`` are answered by the store itself, by an index of the operations, orders included:
    /// ``StoreReadBackend/answersSyncStates``. For a store without it the transaction answers them.
    public static let syncStates = StoreCapabilities(rawValue: 1 << 3)

    /// A store that is opened again with a schema of a higher version is migrated, as ``SchemaMigration`` says.
    public static let migrations = StoreCapabilities(rawValue: 1 << 4)

    /// Reports in SQL are answered: see ``SQLQuery``.
    public static let sql = StoreCapabilities(rawValue: 1 << 5)
}
