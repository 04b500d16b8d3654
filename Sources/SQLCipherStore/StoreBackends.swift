import ItemCoding
package import SyncContract

/// A transaction that reads.
class ReadBackend: StoreReadBackend {
    let catalog: StoreCatalog
    private let openDatabase: Database
    private let beganInTransaction: Bool
    private var isFinished = false

    /// The failure by which SQLite undid the whole transaction.
    private var undoing: (any Error)?

    init(_ database: Database, _ catalog: StoreCatalog) {
        openDatabase = database
        self.catalog = catalog
        beganInTransaction = database.isInTransaction
    }

    /// The connection, as long as the transaction lasts.
    ///
    /// On a full disk, an input or output error and a lack of memory SQLite may undo the transaction by itself
    /// (https://sqlite.org/lang_transaction.html, "Response To Errors Within A Transaction"). Each statement after that
    /// would be a transaction of its own: nothing is run any more.
    ///
    /// - Throws: The failure that undid the transaction.
    func database() throws -> Database {
        guard !isFinished else { throw StoreError(.internal, "A transaction was used after its end.") }
        try checkNotUndone()
        return openDatabase
    }

    /// Throws the failure that undid the transaction, if one did.
    func checkNotUndone() throws {
        guard beganInTransaction, !openDatabase.isInTransaction else { return }
        throw undoing ?? StoreError(.inputOutput, "SQLite undid the transaction; nothing of it was kept. Try again.")
    }

    /// Runs a closure that reads.
    func run<Value>(_ body: (inout StoreReader) throws -> Value) throws -> Value {
        defer { finish() }
        var reader = StoreReader(self)
        let value = try body(&reader)
        // What was read after that would be of another instant.
        try checkNotUndone()
        return value
    }

    /// Marks the transaction as ended.
    func finish() { isFinished = true }

    var answersSyncStates: Bool { true }

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

    func stored(_ record: Record, ignoring columns: [String], in table: String) throws -> StoredRow {
        try reportingFailures { try access(to: table).stored(record, ignoring: columns, in: database()) }
    }

    func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
        try reportingFailures { try access(to: query.table).plans.forEach(query, in: database(), body) }
    }

    func count(_ query: Query) throws -> Int {
        try reportingFailures {
            let compiled = try QueryCompiler.count(query, catalog.layout(of: query.table))
            return try database()
                .withStatement(compiled) { try $0.step() ? Int($0.int64(0)) : 0 }
        }
    }

    func aggregate(_ query: AggregateQuery) throws -> [AggregateGroup] {
        try reportingFailures {
            let plan = try AggregatePlan(query, catalog.layout(of: query.rows.table))
            return try plan.results(in: database())
        }
    }

    func forEach(_ query: SQLQuery, _ body: (SQLRow) throws -> Void) throws -> Set<String> {
        try forEachRow(query, body)
    }

    /// Turns SQLite's failures into errors of the contract; others pass as they are.
    func reportingFailures<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let failure as SQLiteFailure {
            // Only what was cancelled is interrupted while a closure of the caller's runs.
            let error: any Error =
                failure.isInterruption ? CancellationError() : StoreError(failure, at: openDatabase.path)
            if undoing == nil, !openDatabase.isInTransaction { undoing = error }
            throw error
        }
    }
}

/// A transaction that writes.
final class WriteBackend: ReadBackend, ItemWriteBackend {
    /// The tables in which a row was written or deleted.
    private(set) var touchedTables: Set<String> = []

    /// The first failure of a call that may have left its work half done: the transaction must not be committed, even
    /// when the closure went on.
    private var failure: (any Error)?

    func upsert(_ records: [Record], into table: String) throws {
        try writing(to: table) { writer, database, hasWritten in
            try writer.upsert(records, in: database, hasWritten: &hasWritten)
        }
    }

    func upsert<Item: Encodable & Identifiable>(items: [Item], into table: String) throws where Item.ID: RowID {
        try writing(to: table) { writer, database, hasWritten in
            try writer.upsert(items: items, in: database, hasWritten: &hasWritten)
        }
    }

    func insert(_ record: Record, into table: String) throws -> Bool {
        try insert(record, into: table, uniqueIn: [])
    }

    func insert<Item: Encodable & Identifiable>(
        made item: Item,
        id: String,
        into table: String
    ) throws -> Bool where Item.ID: RowID {
        try writing(to: table) { writer, database, hasWritten in
            if writer.hasTriggers, try record(.string(id), in: table) != nil { return false }
            hasWritten = try writer.insert(made: item, id: id, in: database)
            return hasWritten
        }
    }

    func insert(_ record: Record, into table: String, uniqueIn columns: [String]) throws -> Bool {
        try writing(to: table) { writer, database, hasWritten in
            if writer.hasTriggers, try self.record(record.id, in: table) != nil { return false }
            hasWritten = try writer.insert(record, uniqueColumns: columns, in: database)
            return hasWritten
        }
    }

    private func writing<Value>(
        to table: String,
        _ body: (RowWriter, Database, inout Bool) throws -> Value
    ) throws -> Value {
        var hasWritten = false
        do {
            let value = try reportingFailures { try body(access(to: table).writer, database(), &hasWritten) }
            if hasWritten { touchedTables.insert(table) }
            return value
        } catch {
            if hasWritten { touchedTables.insert(table) }
            // What was refused before anything was written leaves nothing half done.
            if hasWritten || !Self.isRefusal(error) { failure = failure ?? error }
            throw error
        }
    }

    func delete(_ ids: [RecordID], from table: String) throws -> Int {
        let layout = try catalog.layout(of: table)
        for id in ids { try layout.check(id) }
        return try deleting(from: table) { try access(to: table).delete(ids, in: $0) }
    }

    func delete(_ query: Query) throws -> Int {
        let compiled = try QueryCompiler.delete(query, catalog.layout(of: query.table))
        return try deleting(from: query.table) { database in
            try database.withStatement(compiled) { statement in
                try statement.run()
                return database.changes
            }
        }
    }

    /// A statement of the app's own may run for ever, and would keep all others from writing.
    override func forEach(_ query: SQLQuery, _ body: (SQLRow) throws -> Void) throws -> Set<String> {
        let database = try database()
        database.allowInterruption()
        return try database.withInterruption(briefRows: nil) { try forEachRow(query, body) }
    }

    /// Refuses to go on to the commit when a call failed half-way.
    func checkForCommit() throws {
        if let failure { throw failure }
        try checkNotUndone()
    }

    private func deleting(from table: String, _ body: (Database) throws -> Int) throws -> Int {
        do {
            let count = try reportingFailures { try body(database()) }
            if count > 0 { touchedTables.insert(table) }
            return count
        } catch {
            if !Self.isRefusal(error) { failure = failure ?? error }
            throw error
        }
    }

    private static func isRefusal(_ error: any Error) -> Bool {
        // What an item throws is not a failure of the store's.
        guard let error = error as? StoreError else { return true }
        return [.invalidRecord, .invalidItem, .tableNotFound, .invalidQuery].contains(error.code)
    }
}

/// What one connection keeps ready for one table, so that the commonest calls neither write SQL nor look it up.
final class TableAccess {
    /// Reads the rows of queries.
    let plans: QueryPlans
    /// Writes rows.
    let writer: RowWriter

    private let layout: TableLayout
    private let reader: RowReader
    private let rowByID: CachedStatement
    private let deletionByID: CachedStatement
    private var buffer = RowBuffer()
    /// Of the row that was compared last.
    private var comparison: StoredRowComparison?

    init(_ layout: TableLayout) {
        self.layout = layout
        plans = QueryPlans(layout)
        reader = RowReader(layout)
        writer = RowWriter(layout)
        rowByID = CachedStatement("SELECT \(reader.sqlColumns) FROM \(layout.sqlName) WHERE \"id\" = ?1")
        deletionByID = CachedStatement("DELETE FROM \(layout.sqlName) WHERE \"id\" = ?1")
    }

    /// The record with an id, nil when there is none.
    func record(_ id: RecordID, in database: Database) throws -> Record? {
        try layout.check(id)
        return try rowByID.use(in: database) { statement in
            buffer.removeAll()
            try statement.bind(buffer.append(id), in: buffer, at: 1)
            return try statement.step() ? reader.record(statement) : nil
        }
    }

    /// What is stored under the id of a record that is expected to be there.
    func stored(_ record: Record, ignoring columns: [String], in database: Database) throws -> StoredRow {
        try layout.check(record.id)
        let comparison = comparison(with: record, ignoring: columns)
        return try rowByID.use(in: database) { statement in
            buffer.removeAll()
            try statement.bind(buffer.append(record.id), in: buffer, at: 1)
            guard try statement.step() else { return .missing }
            return comparison.isSame(record, statement) ? .asExpected : .other(try reader.record(statement))
        }
    }

    /// Rows that are compared one after the other mostly share their lists of names.
    private func comparison(with record: Record, ignoring columns: [String]) -> StoredRowComparison {
        if let comparison, comparison.isOf(record, ignoring: columns) { return comparison }
        let made = StoredRowComparison(layout, record, ignoring: columns)
        comparison = made
        return made
    }

    /// Deletes the rows with ids that were checked.
    ///
    /// - Returns: How many there were.
    func delete(_ ids: [RecordID], in database: Database) throws -> Int {
        try deletionByID.use(in: database) { statement in
            var count = 0
            for id in ids {
                buffer.removeAll()
                try statement.bind(buffer.append(id), in: buffer, at: 1)
                try statement.run()
                count += database.changes
            }
            return count
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
