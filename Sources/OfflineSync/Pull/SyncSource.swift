public import SyncContract

/// A table on this device, or rows of one: what ``SyncContext/pull(_:_:options:)`` is given.
public protocol SyncSource: Sendable {
    /// The rows meant, without their type.
    var source: Query { get }
}

extension Query: SyncSource {
    /// The query itself.
    public var source: Query { self }
}

extension SyncTable: SyncSource {
    /// All rows of the table.
    public var source: Query { query }
}
