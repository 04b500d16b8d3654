internal import RemoteContract
internal import SyncContract
internal import SyncMachines

/// Removes rows locally inside a transaction of the store.
struct Purge: Sendable {
    let takesWholeTable: Bool
    private let query: Query
    private let table: TableDefinition
    private let remote: any SyncRemote
    private let resetsDeltaTokens: Bool

    init(_ query: Query, _ table: TableDefinition, _ remote: any SyncRemote, _ resettingDeltaTokens: Bool?) {
        takesWholeTable = query.predicate == nil && query.limit == nil && query.offset == 0
        self.query = query
        self.table = table
        self.remote = remote
        resetsDeltaTokens = resettingDeltaTokens ?? takesWholeTable
    }

    /// Whether the next pulls bring everything of the table, and nothing is owed from before.
    var startsAnew: Bool { takesWholeTable && resetsDeltaTokens }

    /// The numbers of the operations that wait for the rows; for a whole table also those whose rows are not here.
    func waiting(_ transaction: inout StoreTransaction) throws -> [Int64] {
        let operations = Query(SystemTables.operations.name).filtered(by: Column("table") == .string(table.name))
        var numbers: [String: Int64] = [:]
        try transaction.forEach(operations.selecting(["itemKey"])) { row in
            guard let number = row.id.int64Value else { return }
            // One without a key is damaged, and waits all the same.
            numbers[row["itemKey"]?.stringValue ?? "\(number)"] = number
        }
        guard !takesWholeTable, !numbers.isEmpty else { return numbers.values.sorted() }
        var waiting: [Int64] = []
        try transaction.forEach(query.selecting([])) { row in
            guard let id = row.id.stringValue, let number = numbers[OperationCoding.itemKey(id, table)] else { return }
            waiting.append(number)
        }
        return waiting.sorted()
    }

    /// Removes the rows, and sees to it that they do not come back as they were.
    ///
    /// - Returns: How many there were.
    @discardableResult
    func run(givingUp operations: [TableOperation] = [], _ transaction: inout StoreTransaction) throws -> Int {
        // Where the progress of pulls stays, so does what they still owe: no page brings it again.
        if startsAnew { try Self.removeTraces(of: table.name, &transaction) }
        if resetsDeltaTokens {
            try PullCursorStorage.removeAll(of: table.name, &transaction)
            try PurgedRowStorage.removeAll(of: table.name, &transaction)
        } else {
            try keepAway(operations, &transaction)
        }
        try keepMarkedAway(&transaction)
        return try transaction.delete(query)
    }

    /// Forgets what is to be fetched of a table, and what of it was left out.
    static func removeTraces(of table: String, _ transaction: inout StoreTransaction) throws {
        // Otherwise the next pull would ask for rows that are not wanted.
        try ConfigurationTable.removeRefetches(in: table, &transaction)
        try SetAsideStorage.removeAll(of: table, &transaction)
        try PurgedRowStorage.removeAll(of: table, &transaction)
    }

    /// Remembers what changes have sent that are given up and may still arrive: the next change of such a row would take its
    /// own for somebody else's.
    static func remember(
        sentBy operations: [TableOperation],
        of table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        for operation in operations where !operation.change.sent.isEmpty {
            let memory = try ItemMemoryStorage.memory(of: operation.itemID, in: table, &transaction)
            var machine = ItemMachine(change: operation.change, memory: memory)
            machine.drop()
            try ItemMemoryStorage.set(machine.memory, of: operation.itemID, in: table, &transaction)
        }
    }

    /// Has a row come all the same that was passed over while one of the changes waited that are given up. What was here says
    /// nothing of it.
    func askForNews(of operations: [TableOperation], _ transaction: inout StoreTransaction) throws {
        guard !resetsDeltaTokens else { return }
        for operation in operations where operation.change.asksForRow {
            try ConfigurationTable.requestRefetch(of: operation.itemID, in: table.name, &transaction)
        }
    }

    /// Remembers those of the rows that a cursor may bring again as they are.
    private func keepAway(_ givenUp: [TableOperation], _ transaction: inout StoreTransaction) throws {
        // What an editor of an older state was saved over is what the server has, and not what it was saved as.
        let shown = Dictionary(
            givenUp.filter { $0.change.isBasedOnOlderRow && !$0.change.asksForRow }
                .compactMap { operation in operation.change.shown.map { (operation.itemID, $0) } }
        ) { _, last in last }
        for (queryID, cursor) in try PullCursorStorage.all(of: table.name, &transaction) {
            // The cursor is the server's, and so are the ids that it brings.
            let ids = table.assignsIDs ? try serverIDs(&transaction) : [:]
            var repeated: [Record] = []
            try transaction.forEach(query.selecting(table.systemProperties.columns.map(\.name))) { row in
                var row = row
                if let known = row.id.stringValue.flatMap({ shown[$0] }) {
                    for column in table.systemProperties.columns where column.name != "id" {
                        row[column.name] = known[column.name]
                    }
                }
                row.id = ids[row.id] ?? row.id
                guard PurgedRowStorage.isTold(row), remote.mayRepeat(row, of: table, after: cursor) else { return }
                repeated.append(row)
            }
            for row in repeated { try PurgedRowStorage.insert(row, queryID, of: table.name, &transaction) }
        }
    }

    private func serverIDs(_ transaction: inout StoreTransaction) throws -> [RecordID: RecordID] {
        let ids = try transaction.records(query.selecting([])).map(\.id)
        let serverIDs = try IdentifierMapping.serverIDs(of: ids.compactMap(\.stringValue), in: table, &transaction)
        return Dictionary(
            ids.compactMap { id in
                guard let text = id.stringValue, let known = serverIDs[OperationCoding.itemKey(text, table)] else {
                    return nil
                }
                return (id, .string(known))
            }
        ) { _, last in last }
    }

    /// Sees to it that those of the rows that are to be asked for, also because they were set aside since they came, come only
    /// if they are not what was here. Where all rows come anyway, nothing is to be asked for.
    private func keepMarkedAway(_ transaction: inout StoreTransaction) throws {
        let marked = try ConfigurationTable.refetches(in: table.name, &transaction)
        let setAside = try SetAsideStorage.ids(of: table.name, &transaction)
        guard !marked.isEmpty || !setAside.isEmpty else { return }
        let names = Dictionary(marked.map { (OperationCoding.itemKey($0, table), $0) }) { _, last in last }
        let asked = Set(setAside.map { $0.folded(for: table.idComparison) })
        let due = Set(try SetAsideStorage.dueIDs(of: table, all: true, &transaction))
        let ids = table.assignsIDs ? try serverIDs(&transaction) : [:]
        var rows: [(mark: String?, row: Record)] = []
        try transaction.forEach(query.selecting(table.systemProperties.columns.map(\.name))) { row in
            guard let key = row.id.stringValue.map({ OperationCoding.itemKey($0, table) }) else { return }
            var row = row
            row.id = ids[row.id] ?? row.id
            guard names[key] != nil || asked.contains(row.id.folded(for: table.idComparison)) else { return }
            rows.append((names[key], row))
        }
        for (mark, row) in rows {
            // Of one that says nothing of itself nobody could tell whether it is what was here.
            guard resetsDeltaTokens || !PurgedRowStorage.isTold(row) else {
                try PurgedRowStorage.insert(row, PurgedRowStorage.marked, of: table.name, &transaction)
                continue
            }
            if let mark { try ConfigurationTable.removeRefetch(of: mark, in: table.name, &transaction) }
            // One that was set aside for good is another than what was here.
            let mayBeAsItWas = !resetsDeltaTokens && row.id.stringValue.map(due.contains) ?? false
            if mayBeAsItWas { try SetAsideStorage.remove([row.id], of: table, &transaction) }
        }
    }
}
