package import SyncContract

/// What a device may say of a row: the values of declared columns, if they can be sent.
///
/// System properties are the server's and are passed over. What is refused is named here, the same for records and items.
package enum LocalValues {
    /// Why a value under a name that is no column is refused.
    package static func undeclared(_ name: String, _ table: TableDefinition) -> String {
        "Table '\(table.name)' has no declared column '\(name)'; declare it to write it."
    }

    /// Why an infinity or a NaN is refused.
    package static func notFinite(_ name: String, _ table: TableDefinition) -> String {
        "Column '\(name)' of '\(table.name)' would hold a number that is not finite, which cannot be sent; use null or"
            + " another number."
    }

    /// Whether a value that is to be sent is an instant that no service reads: `Date.distantPast` is one.
    package static func isBeyondServices(
        _ value: borrowing FieldValue,
        _ column: ColumnDefinition,
        _ table: TableDefinition
    ) -> Bool {
        switch value {
        case .date(let date):
            !column.isLocal && !table.isLocalOnly && !Timestamp.wireMilliseconds.contains(date.milliseconds)
        default: false
        }
    }

    /// Why such an instant is refused.
    package static func beyondServices(_ name: String, _ table: TableDefinition) -> String {
        "Column '\(name)' of '\(table.name)' would hold a date before the year 1 or after 9999, which services do not read;"
            + " use null or another date (Date.distantPast lies in the year 0)."
    }
}
