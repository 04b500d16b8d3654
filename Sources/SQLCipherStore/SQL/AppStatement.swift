import CSQLCipher
import SyncContract

/// A statement of the app's own that was checked to read, and to read nothing but the app's tables.
struct AppStatement {
    let statement: Statement

    /// The tables that it reads.
    let tables: Set<String>

    private let names: [String]

    /// The columns that are given out, and the kinds of those that come from declared ones.
    private let columns: [(index: Int, kind: ColumnType?)]

    fileprivate init(
        _ statement: Statement,
        _ tables: Set<String>,
        hiding hidden: Set<String>,
        _ catalog: StoreCatalog
    ) {
        self.statement = statement
        self.tables = tables
        var columns: [(index: Int, kind: ColumnType?)] = []
        var names: [String] = []
        for index in 0..<statement.columnCount {
            // SQLite 3.15 puts the table's name before some that have no other one: `i.paid`.
            let name = statement.name(index)
            let lastName = name.split(separator: ".").last.map(String.init) ?? name
            if let origin = statement.origin(index) {
                let isDeclared = tables.contains(origin.table)
                columns.append((index, isDeclared ? catalog.kind(of: origin.column, in: origin.table) : nil))
                names.append(lastName == origin.column ? lastName : name)
            } else if !hidden.contains(lastName) {
                columns.append((index, nil))
                names.append(name)
            }
        }
        self.columns = columns
        self.names = names
    }

    /// The values of the current row.
    func row() -> SQLRow {
        SQLRow(names: names, values: columns.map { statement.value($0.index, ofOrigin: $0.kind) })
    }
}

/// Prepares statements of the app's own, on one connection.
final class AppStatements {
    let authorizer: StatementAuthorizer
    private let catalog: StoreCatalog

    /// The tables of the app by the root pages of the tables and their indexes: these do not change while the store is
    /// open.
    private let tables: [Int64: String]

    init(_ database: Database, _ catalog: StoreCatalog) throws {
        self.catalog = catalog
        authorizer = StatementAuthorizer(catalog.appTables)
        let names = Set(catalog.appTables.map(\.name))
        var tables: [Int64: String] = [:]
        try database.withStatement("SELECT rootpage, tbl_name FROM sqlite_master WHERE rootpage > 0") { row in
            while try row.step() {
                if names.contains(row.text(1)) { tables[row.int64(0)] = row.text(1) }
            }
        }
        self.tables = tables
        authorizer.install(on: database)
    }

    /// Prepares a statement and binds its values.
    ///
    /// - Throws: ``StoreError/Code/invalidQuery`` for what is not taken; `SQLiteFailure`.
    func prepare(_ query: SQLQuery, in database: Database) throws -> AppStatement {
        let (sql, values) = (query.text, query.values)
        guard !sql.utf8.contains(0) else { throw Self.refused("it holds a U+0000; give text as a value") }
        authorizer.hiddenColumns = []
        let statement = try whole(sql, in: database)
        guard statement.isReading, statement.columnCount > 0 else { throw Self.refused("it does not read rows") }
        guard statement.parameterCount == values.count else {
            throw Self.refused("it holds parameters of its own; values are written as \\(value)")
        }
        let read = try readTables(sql, in: database)
        // A `*` leaves it out. Nothing that an app declares or names has such a name.
        if authorizer.hiddenColumns.contains(TableLayout.extraColumn),
            sql.asciiLowercased().contains(TableLayout.extraColumn)
        {
            throw Self.refused("no such column: \(TableLayout.extraColumn)")
        }
        try statement.bind(values.map(SQLValue.init))
        return AppStatement(statement, read, hiding: authorizer.hiddenColumns, catalog)
    }

    /// The statement, which must be the only one of the text.
    private func whole(_ sql: String, in database: Database) throws -> Statement {
        let first = try prepared(sql, in: database)
        guard let statement = first.statement else { throw Self.refused("it is empty") }
        var rest = first.rest
        while !rest.isEmpty {
            let next = try prepared(rest, in: database)
            guard next.statement == nil else { throw Self.refused("it is more than one statement") }
            rest = next.rest
        }
        return statement
    }

    private func prepared(_ sql: String, in database: Database) throws -> (statement: Statement?, rest: String) {
        do {
            return try authorizer.asked { try Statement.first(of: sql, in: database) }
        } catch let failure as SQLiteFailure {
            if let refusal = authorizer.refusal { throw Self.refused(refusal) }
            // It quotes what the app has written, never what is in a row.
            let message = database.message
            guard database.diagnosed(failure).primaryCode == SQLITE_ERROR else { throw failure }
            throw Self.refused(message)
        }
    }

    /// What the statement's program opens: the authorizer is not told of a table of which no column is read.
    private func readTables(_ sql: String, in database: Database) throws -> Set<String> {
        var read: Set<String> = []
        guard let program = try prepared("EXPLAIN " + sql, in: database).statement else {
            throw Self.refused("it cannot be looked into")
        }
        while try program.step() {
            switch program.text(1) {
            case "OpenRead", "ReopenIdx":
                guard program.int64(4) == 0, let table = tables[program.int64(3)] else {
                    throw Self.refused("it reads what is no declared table of the app")
                }
                read.insert(table)
            case "OpenWrite", "VOpen": throw Self.refused("it reads what is no declared table of the app")
            default: break
            }
        }
        return read
    }

    private static func refused(_ reason: String) -> StoreError {
        StoreError(.invalidQuery, "The SQL is refused: \(reason).")
    }
}

extension StoreCatalog {
    /// The kind of a column's values; nil for what is not declared.
    fileprivate func kind(of column: String, in table: String) -> ColumnType? {
        appTables.first { $0.name == table }?.kind(of: column)
    }
}

extension Statement {
    /// The value of a column: of a declared column's kind where it is stored as that, and otherwise as SQL has it.
    fileprivate func value(_ index: Int, ofOrigin kind: ColumnType?) -> FieldValue {
        switch (storageClass(index), kind) {
        case (.null, _): return .null
        case (.integer, .bool): return .bool(int64(index) != 0)
        case (.integer, .date): return .date(Timestamp(milliseconds: int64(index)))
        case (.integer, _): return .int64(int64(index))
        case (.real, _): return .double(double(index))
        case (.blob, _): return .bytes(bytes(index))
        case (.text, _):
            let text = text(index)
            switch kind {
            case .decimal: return DecimalText(text).map(FieldValue.decimal) ?? .string(text)
            case .json: return JSONText(text).map(FieldValue.json) ?? .string(text)
            default: return .string(text)
            }
        }
    }
}
