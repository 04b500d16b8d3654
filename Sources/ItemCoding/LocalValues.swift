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
}
