public import SyncContract

/// A row as a Swift value: `struct TodoItem: SyncItem { var id = ""; var text: String }`, or with `var id = UUID()`.
///
/// Tables take any type that is `Codable`, `Identifiable` and `Sendable`, with a text or a `UUID` as its id. This says all of
/// it in one word, also in a module whose types belong to the main actor.
public protocol SyncItem: Codable, Identifiable, Sendable where ID: RowID {}

/// What tables ask of an item beside its id.
public typealias TableItem = Codable & Identifiable & Sendable

extension RowID {
    /// The id in the form in which it is stored.
    var text: String { recordID.stringValue ?? "" }
}
