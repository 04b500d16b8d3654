/// What is stored under the id of a row that is expected there.
public enum StoredRow: Sendable, Hashable {
    /// There is no row with this id.
    case missing
    /// The row has the id in this casing, and the expected values: ``FieldValue`` says which are equal.
    case asExpected
    /// The row, which may have other values. A store may give it also where it would have to look closer.
    case other(Record)

    /// Compares a row, as a store gives it, with what is expected.
    package init(_ row: Record?, expecting expected: Record, ignoring columns: [String]) {
        guard let row else {
            self = .missing
            return
        }
        let names = Set(row.slotNames).union(expected.slotNames).subtracting(columns)
        let isSame = row.id == expected.id && names.allSatisfy { (row[$0] ?? .null) == (expected[$0] ?? .null) }
        self = isSame ? .asExpected : .other(row)
    }
}
