internal import Synchronization
public import SyncContract

/// Reads the state of one instant. It is lent to the closure of ``SyncContext/read(_:)``.
///
/// It cannot be copied, stored or returned, and no `await` can stand beside it: the compiler refuses all of these.
public struct SyncReader: ~Copyable, SyncReading {
    private let context: SyncContext
    private var reader: StoreReader
    private let tables: ReadTables?

    init(_ context: SyncContext, _ reader: consuming StoreReader, noticing tables: ReadTables? = nil) {
        self.context = context
        self.reader = reader
        self.tables = tables
    }

    /// The item with an id; nil when there is none, which is no error.
    public mutating func read(_ id: String, in table: SyncTable<Record>) throws -> Record? {
        try context.check(table)
        tables?.insert([table.name])
        return try reader.record(.string(id), in: table.name)
    }

    /// Hands every row of a query to a closure, in order.
    @_disfavoredOverload
    public mutating func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
        tables?.insert(query.readTables)
        try query.checkKinds(for: reader.definition(of: query.table))
        try reader.forEach(query, body)
    }

    /// How many rows satisfy a query's condition, whatever its limit and offset.
    public mutating func count(_ query: Query) throws -> Int {
        tables?.insert(query.readTables)
        try query.checkKinds(for: reader.definition(of: query.table))
        return try reader.count(query)
    }

    /// The rows of a statement in SQL, in its order.
    public mutating func rows(_ query: SQLQuery) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        do {
            let names = try reader.forEach(query) { rows.append($0) }
            tables?.insert(names)
        } catch {
            // Which tables it is about is not known, and who goes on without it may have rows another time.
            tables?.insertAll()
            throw error
        }
        return rows
    }

    /// What was computed over the rows of a query, for all of them or for each group.
    public mutating func aggregate(_ query: AggregateQuery) throws -> [AggregateGroup] {
        tables?.insert(query.readTables)
        try query.rows.checkKinds(for: reader.definition(of: query.rows.table))
        return try reader.aggregate(query)
    }
}

/// The tables that a closure has read in any of its runs.
final class ReadTables: Sendable {
    private struct State {
        var names: Set<String> = []
        var hasRun = false
    }

    private let state = Mutex(State())
    private let all: Set<String>

    init(of store: any SyncContextDataSource) { all = Set(store.schema.allTables.map(\.name)) }

    /// All tables until the closure has run: it may have to wait until the store is unlocked.
    var names: Set<String> { state.withLock { $0.hasRun ? $0.names : all } }

    func insertAll() { insert(all) }

    func insert(_ names: Set<String>) { state.withLock { $0.names.formUnion(names) } }

    func ran() { state.withLock { $0.hasRun = true } }
}
