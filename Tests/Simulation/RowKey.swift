/// A row by its table and its id; by the form of the id that tells it apart, where it is looked up.
struct RowKey: Hashable, Comparable, CustomStringConvertible {
    let table: String
    let id: String

    var description: String { "\(table)/\(id)" }

    static func < (left: RowKey, right: RowKey) -> Bool { (left.table, left.id) < (right.table, right.id) }
}
