import SyncContract

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

    /// Marks the transaction as ended.
    func finish() { isFinished = true }

    func record(_ id: RecordID, in table: String) throws -> Record? {
        try reportingFailures {
            let layout = try catalog.layout(of: table)
            let value = try layout.sqlValue(of: id)
            let reader = RowReader(layout)
            let sql = "SELECT \(reader.sqlColumns) FROM \(layout.sqlName) WHERE \"id\" = ?1"
            return try database()
                .withStatement(sql) { statement in
                    try statement.bind(value, at: 1)
                    return try statement.step() ? reader.record(statement) : nil
                }
        }
    }

    func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
        try reportingFailures {
            let layout = try catalog.layout(of: query.table)
            let reader = RowReader(layout, selection: query.selection)
            let compiled = try QueryCompiler.select(query, layout, columns: reader.sqlColumns)
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
            throw StoreError(failure, at: openDatabase.path)
        }
    }
}
