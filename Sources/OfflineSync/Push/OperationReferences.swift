/// An item, in the form in which its table compares ids.
struct ItemKey: Hashable, Sendable {
    var table: String
    var key: String
}

/// Which items the row of an operation refers to: the order in which operations are sent keeps to it.
enum OperationReferences {
    /// The items that a row of the operation refers to. No column says yet that it holds the ids of other rows.
    static func references(of operation: TableOperation) -> [ItemKey] { [] }
}
