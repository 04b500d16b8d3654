package import SyncContract

/// How the rows of a table lie in the database: the id, the columns, and one text for the extra values.
package struct TableLayout: Sendable {
    /// The column that holds values of undeclared keys and the finer texts of dates: see ``ExtraValues``.
    package static let extraColumn = "__sealed_extra"

    /// The declaration.
    package let definition: TableDefinition

    /// The stored columns: the declared ones, then those that once were declared.
    package let columns: [ColumnDefinition]

    /// How many of the columns are declared.
    package let declaredCount: Int

    /// The index of each column by its name.
    let slots: [String: Int]

    /// The indexes of the declared columns that hold dates.
    let dateSlots: [Int]

    /// The indexes of the searchable columns by the columns' names.
    let searchIndexes: [String: SearchIndex]

    /// The name, ready for SQL.
    package let sqlName: String

    /// Whether ids that differ only in the case of ASCII letters are one.
    var foldsIDs: Bool { definition.idComparison == .asciiCaseInsensitive }

    init(_ definition: TableDefinition, undeclared: [ColumnDefinition] = []) {
        self.definition = definition
        let declared = definition.allColumns
        columns = declared + undeclared
        declaredCount = declared.count
        var slots = [String: Int](minimumCapacity: columns.count)
        for (slot, column) in columns.enumerated() { slots[column.name] = slot }
        self.slots = slots
        dateSlots = declared.indices.filter { declared[$0].type == .date }
        let searchable = definition.columns.filter(\.isSearchable)
            .map { ($0.name, SearchIndex(table: definition.name, column: $0.name)) }
        searchIndexes = Dictionary(searchable) { first, _ in first }
        sqlName = definition.name.sqlIdentifier
    }

    /// What comes behind UPDATE and INSERT, with a space behind it.
    ///
    /// A statement with triggers that might have to be undone alone keeps a journal of its own, which makes writing
    /// several times slower under SQLite 3.15. None has to: a transaction in which one fails is rolled back as a whole.
    var conflictClause: String { searchIndexes.isEmpty ? "" : "OR FAIL " }

    /// The kind of a column's values that are not null; nil for a column that is not declared.
    func kind(of column: String) -> ColumnType? { definition.kind(of: column) }

    /// Refuses an id of the wrong kind.
    ///
    /// - Throws: ``StoreError/Code/invalidRecord``.
    func check(_ id: RecordID) throws(StoreError) {
        switch (definition.idKind, id) {
        case (.string, .string), (.int64, .int64): break
        case (.string, .int64):
            throw StoreError(.invalidRecord, "Table '\(definition.name)' has strings as ids; this id is a number.")
        case (.int64, .string):
            throw StoreError(.invalidRecord, "Table '\(definition.name)' has numbers as ids; this id is a string.")
        }
    }
}

extension String {
    /// This name in double quotes, as SQL writes identifiers.
    package var sqlIdentifier: String {
        // Mostly there is none to double.
        guard utf8.contains(UInt8(ascii: "\"")) else { return "\"" + self + "\"" }
        return "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}

extension ColumnType {
    /// The type in SQL. Each has the affinity that leaves the stored values as they are: a decimal in a NUMERIC column
    /// would become a binary number, and a REAL column drops the sign of a zero. Without a type doubles stay doubles.
    package var sqlType: String {
        switch self {
        case .bool, .int64, .date: "INTEGER"
        case .double: ""
        case .decimal, .string, .json: "TEXT"
        case .bytes: "BLOB"
        }
    }
}

extension FieldValue {
    /// The kind of a value that compares with others; nil for null and NaN.
    var comparableKind: ColumnType? {
        switch self {
        case .null: nil
        case .bool: .bool
        case .int64: .int64
        case .double(let value): value.isNaN ? nil : .double
        case .decimal: .decimal
        case .string: .string
        case .date: .date
        case .bytes: .bytes
        case .json: .json
        }
    }
}

extension IDKind {
    /// The column of the id in SQL.
    var sqlColumn: String {
        switch self {
        case .int64: "\"id\" INTEGER NOT NULL PRIMARY KEY"
        case .string(.exact): "\"id\" TEXT NOT NULL PRIMARY KEY"
        case .string(.asciiCaseInsensitive): "\"id\" TEXT NOT NULL PRIMARY KEY COLLATE NOCASE"
        }
    }

    /// The word under which the kind is remembered.
    var storedName: String {
        switch self {
        case .int64: "id.int64"
        case .string(.exact): "id.string.exact"
        case .string(.asciiCaseInsensitive): "id.string.asciiCaseInsensitive"
        }
    }
}
