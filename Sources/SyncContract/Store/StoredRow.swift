/// What is stored under the id of a row that is expected there.
public enum StoredRow: Sendable, Hashable {
    /// There is no row with this id.
    case missing
    /// The row has the id in this casing, and the expected values: ``FieldValue`` says which are equal.
    case asExpected
    /// The row, which may have other values. A store may give it also where it would have to look closer.
    case other(Record)
}

extension Record {
    /// Whether this row, as a store gives it, has what another record says.
    func isAsExpected(_ expected: Record, ignoring columns: [String]) -> Bool {
        guard id == expected.id else { return false }
        return Set(slotNames).union(expected.slotNames).subtracting(columns)
            .allSatisfy { (self[$0] ?? .null) == (expected[$0] ?? .null) }
    }
}
