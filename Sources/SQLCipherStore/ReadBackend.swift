package import SyncContract

/// A transaction that reads.
class ReadBackend: StoreReadBackend {
    let catalog: StoreCatalog
    private let openDatabase: Database
    private var isFinished = false

    init(_ database: Database, _ catalog: StoreCatalog) {
        openDatabase = database
        self.catalog = catalog
    }

    /// The connection, as long as the transaction lasts.
    func database() throws(StoreError) -> Database {
        guard !isFinished else { throw StoreError(.internal, "a transaction was used after its end") }
        return openDatabase
    }

    /// Runs a closure that reads.
    func run<Value>(_ body: (inout StoreReader) throws -> Value) throws -> Value {
        defer { finish() }
        var reader = StoreReader(self)
        return try body(&reader)
    }

    /// Marks the transaction as ended.
    func finish() { isFinished = true }

    func definition(of table: String) throws -> TableDefinition { try catalog.layout(of: table).definition }

    /// What the connection keeps ready for a table.
    func access(to table: String) throws -> TableAccess {
        if let access = openDatabase.tableAccess[table] { return access }
        let access = TableAccess(try catalog.layout(of: table))
        openDatabase.tableAccess[table] = access
        return access
    }

    func record(_ id: RecordID, in table: String) throws -> Record? {
        try reportingFailures { try access(to: table).record(id, in: database()) }
    }

    func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
        try reportingFailures {
            let access = try access(to: query.table)
            let reader = query.selection.map { RowReader(access.layout, selection: $0) } ?? access.reader
            let compiled = try QueryCompiler.select(query, access.layout, columns: reader.sqlColumns)
            try database()
                .withStatement(compiled) { statement in
                    while try statement.step() { try body(reader.record(statement)) }
                }
        }
    }

    func count(_ query: Query) throws -> Int {
        try reportingFailures {
            let compiled = try QueryCompiler.count(query, catalog.layout(of: query.table))
            return try database()
                .withStatement(compiled) { try $0.step() ? Int($0.int64(0)) : 0 }
        }
    }

    /// Turns SQLite's failures into errors of the contract; others pass as they are.
    func reportingFailures<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let failure as SQLiteFailure {
            // Only what was cancelled is interrupted while a closure of the caller's runs.
            throw failure.isInterruption ? CancellationError() : StoreError(failure, at: openDatabase.path)
        }
    }
}

extension Database {
    /// Lends a reader of the tables that have the given layouts, within the transaction that is open.
    package func withReader<Value>(
        of layouts: [TableLayout],
        _ body: (inout StoreReader) throws -> Value
    ) throws -> Value {
        let backend = ReadBackend(self, StoreCatalog(layouts))
        defer { backend.finish() }
        var reader = StoreReader(backend)
        return try body(&reader)
    }
}
