/// A reading statement in SQL, with its values: written as a text in which values and names stand.
///
/// ```swift
/// let query: SQLQuery = """
///     SELECT c.name, count(*) AS invoices, decimal_sum(i.amount) AS total
///     FROM \(invoices) i JOIN \(customers) c ON c.id = i.customerID
///     WHERE i.due >= \(today) GROUP BY c.id ORDER BY total COLLATE decimal DESC
///     """
/// ```
///
/// A value of any ``ColumnValue`` type is bound as a parameter: whatever text it holds, it is never read as SQL. A table
/// stands as its quoted name.
/// Columns have the names under which they are declared, `id` among them.
///
/// What a value is in SQL: a whole number and a double are themselves; a truth value is 0 or 1; a date is its whole
/// milliseconds since 1970; text, JSON and decimals are text, the latter as they came, so that they compare byte by
/// byte: `COLLATE decimal` behind a decimal column or result compares and orders numerically, and `decimal_sum` adds
/// decimals exactly, of any length, where `sum` makes doubles of them. `decimal_sum` takes whole numbers and doubles as
/// well, gives the decimal text, and null without a value. Texts compare by their bytes, and ids of a table that
/// ignores their case without it. Nulls are those of SQL, whose logic has three values.
///
/// One statement is taken, which reads. It sees the declared columns of the app's tables and nothing else: no system
/// table, no undeclared column, no `rowid`. It calls functions that compute: those of text, numbers, dates and
/// aggregates, and with SQLite 3.25 and later the ranking ones. All else is refused with
/// ``StoreError/Code/invalidQuery`` before a row is read, and the message says what it was and why.
public struct SQLQuery: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// A piece of the statement.
    package enum Part: Sendable, Hashable {
        /// SQL as it stands.
        case text(String)
        /// The name of a table or column, to be quoted.
        case name(String)
        /// A value, to be bound.
        case value(FieldValue)
    }

    package let parts: [Part]

    /// Creates a statement without values. The text is SQL: never make it of what a user wrote.
    public init(stringLiteral text: String) { parts = [.text(text)] }

    /// Creates a statement from text, names and values.
    public init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

    /// The text of the statement, as a database takes it: names quoted, and the parameters `?1`, `?2` and so on where values stand.
    /// Parameters that the text itself holds are not told apart from these: `?1` is the first value, and others make more of them
    /// than there are ``values``.
    public var text: String {
        var (text, count) = ("", 0)
        for part in parts {
            switch part {
            case .text(let piece): text += piece
            case .name(let name):
                text +=
                    "\""
                    + name.split(separator: "\"", omittingEmptySubsequences: false)
                    .joined(separator: "\"\"") + "\""
            case .value:
                count += 1
                text += "?\(count)"
            }
        }
        return text
    }

    /// The values of the parameters, in order. What each is in SQL is said above.
    public var values: [FieldValue] {
        parts.compactMap { if case .value(let value) = $0 { value } else { nil } }
    }

    /// What collects the pieces of a statement.
    public struct StringInterpolation: StringInterpolationProtocol {
        package var parts: [Part] = []

        /// Begins with nothing.
        public init(literalCapacity: Int, interpolationCount: Int) { parts.reserveCapacity(2 * interpolationCount + 1) }

        /// Appends SQL as it stands.
        public mutating func appendLiteral(_ literal: String) {
            if !literal.isEmpty { parts.append(.text(literal)) }
        }

        /// Appends the name of a table, quoted.
        public mutating func appendInterpolation(_ table: TableDefinition) { parts.append(.name(table.name)) }

        /// Appends the name of a table, quoted.
        public mutating func appendInterpolation(table name: String) { parts.append(.name(name)) }

        /// Appends the name of a column, quoted.
        public mutating func appendInterpolation(column name: String) { parts.append(.name(name)) }

        /// Binds a value in the form in which stores keep it: an enum by its raw value, a UUID in upper case, nil as null.
        public mutating func appendInterpolation<Value: ColumnValue>(_ value: Value?) {
            parts.append(.value(value?.fieldValue ?? .null))
        }

        /// Binds a decimal, or null.
        public mutating func appendInterpolation(_ value: DecimalText?) {
            parts.append(.value(value.map(FieldValue.decimal) ?? .null))
        }
    }
}

/// One row of a result in SQL.
///
/// A column that comes straight from a declared one, under whatever name and through whatever joins and subqueries, has
/// values of that column's type; dates in whole milliseconds. What is computed has whole numbers, doubles, texts, bytes
/// and nulls, as SQL has them.
public struct SQLRow: Sendable, Hashable {
    /// The names of the columns, in order; those of one result share the list.
    public let names: [String]

    /// The values, in the same order.
    public let values: [FieldValue]

    /// Creates a row, with a value for each name.
    public init(names: [String], values: [FieldValue]) {
        precondition(names.count == values.count, "every column has a value")
        self.names = names
        self.values = values
    }

    /// The value under a name, the first if there are several; nil for a name that no column has.
    public subscript(name: String) -> FieldValue? { names.firstIndex(of: name).map { values[$0] } }
}
