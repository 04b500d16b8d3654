#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What the `id` of an item can be: a `String` or a `UUID`.
///
/// A UUID is stored as its text in upper case, with dashes, which is the form that this package makes ids in. The same UUID
/// in lower case is the same row: tables of items with such ids ignore the case of ids, see
/// ``IDComparison/asciiCaseInsensitive``. Every other text that a server has as an id is none: such a row has no item.
public protocol RowID: ColumnValue, Codable {
    /// The id as a store keeps it.
    var recordID: RecordID { get }
}

extension String: RowID {
    /// The text. An empty one is replaced by a new UUID when the item is inserted.
    public var recordID: RecordID { .string(self) }
}

extension UUID: RowID {
    /// The text in upper case.
    public var recordID: RecordID { .string(uuidString) }
}
