// Steps with Swift types. Closures that take or give a ``FieldValue`` are those of ``MigrationStep``.
extension MigrationStep {
    /// Gives a column another type, in rows and in changes that wait:
    /// `.convertColumn("amount", in: "Invoice") { (old: Double) in Decimal(old) }`.
    ///
    /// - Parameters:
    ///   - column: The column.
    ///   - table: Its table.
    ///   - convert: Is given every value that is not null, of the type that the column had, and returns one of the new type;
    ///     nil, where that is optional, for null. It must give the same
    ///     for the same value. What it throws stops the opening, with an error that names the row, and so does a value that
    ///     is none of the old type.
    /// - Returns: The step.
    public static func convertColumn<Old: ColumnValue, New: ColumnValue>(
        _ column: String,
        in table: String,
        _ convert: @escaping @Sendable (Old) throws -> New
    ) -> Self {
        convertColumn(column, in: table) { (value: FieldValue) throws -> FieldValue in
            guard let old = Old(fieldValue: value) else {
                throw StoreError(
                    .schemaMismatch,
                    "A value of column '\(column)' is no \(Old.self); let the step take what the column had."
                )
            }
            return try convert(old).fieldValue
        }
    }

    /// Gives every row the same value in a column that is new: `.fillColumn("status", in: "Invoice", with: Status.sent)`.
    ///
    /// The value is not queued to be sent: it goes along with the next change of its row.
    public static func fillColumn(_ column: String, in table: String, with value: some ColumnValue) -> Self {
        fillColumn(column, in: table, with: value.fieldValue)
    }

    /// Gives every row a value in a column that is new, made from the row as it is when the step's turn comes:
    /// `.fillColumn("status", in: "Invoice") { row in row["paidAt"] == .null ? Status.sent : Status.paid }`.
    ///
    /// The value is not queued to be sent: it goes along with the next change of its row. What the closure throws stops the
    /// opening, with an error that names the row.
    public static func fillColumn<New: ColumnValue>(
        _ column: String,
        in table: String,
        _ value: @escaping @Sendable (Record) throws -> New
    ) -> Self {
        fillColumn(column, in: table) { (row: Record) throws -> FieldValue in try value(row).fieldValue }
    }

    /// The same of values of several types, and of none: `{ row in row["paidAt"] == .null ? nil : 3 }`.
    @_disfavoredOverload
    public static func fillColumn(
        _ column: String,
        in table: String,
        _ value: @escaping @Sendable (Record) throws -> (any ColumnValue)?
    ) -> Self {
        fillColumn(column, in: table) { (row: Record) throws -> FieldValue in try value(row)?.fieldValue ?? .null }
    }
}
