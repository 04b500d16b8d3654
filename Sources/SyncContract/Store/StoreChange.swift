/// What committed transactions touched since a subscriber last looked.
public struct StoreChange: Sendable, Hashable {
    /// The tables in which a row was written or deleted, system tables included. Never empty.
    public var tables: Set<String>

    /// Creates a change.
    public init(tables: Set<String>) { self.tables = tables }
}
