/// A table the emulator serves. A string literal is a table of that name with nothing declared.
public struct EmulatedTableDefinition: Sendable, ExpressibleByStringLiteral {
    /// What a declared column holds. Protocol 2 converts values to it; under protocol 3 a declared column is known to
    /// filters before a row has it, and dates are checked and sent in the protocol's form. Filters and orders take ``decimal`` and ``date`` columns for what they are declared,
    /// and every other column for what its values look like.
    public enum ColumnType: Sendable {
        /// Text; numbers are stored as their text.
        case string
        /// A number; text that reads as a number becomes one.
        case number
        /// A number with which filters compute exactly, in decimals. The emulator itself keeps 17 digits.
        case decimal
        /// A truth value; anything that JavaScript takes for true becomes true.
        case boolean
        /// An instant; it comes back as UTC with milliseconds. What is not a date becomes null, under protocol 3 a 400.
        case date
    }

    /// The table's name as it stands in paths; looked up ignoring case.
    public var name: String
    /// The columns known before any row has them. Protocol 2 gives them in every row, as null when not set.
    public var columns: [String: ColumnType]
    /// The only columns that filters, orders and selections may name besides the system's, under protocol 3.
    ///
    /// Nil means: declared columns and those any row has had; on a table that never had a row, any column.
    public var strictColumns: Set<String>?
    /// Whether a deletion marks the row instead of removing it.
    public var softDelete: Bool

    /// Makes a definition.
    public init(
        _ name: String,
        columns: [String: ColumnType] = [:],
        strictColumns: Set<String>? = nil,
        softDelete: Bool = true
    ) {
        self.name = name
        self.columns = columns
        self.strictColumns = strictColumns
        self.softDelete = softDelete
    }

    /// Makes a table with nothing declared and soft delete on.
    public init(stringLiteral name: String) {
        self.init(name)
    }
}
