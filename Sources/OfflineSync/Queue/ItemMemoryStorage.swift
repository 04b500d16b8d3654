internal import RecordJSON
internal import SyncContract
internal import SyncMachines

/// What is remembered of a row beyond the changes that wait for it, in the rows of `MS_TableConfig`.
enum ItemMemoryStorage {
    private static let deleted = "deleted"
    private static let live = "live"
    private static let holdsRowOfOthers = "decided"

    static func memory(
        of itemID: String,
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> ItemMemory<Record> {
        let key = OperationCoding.itemKey(itemID, table)
        return try ConfigurationTable.row(.itemMemory, table.name, key, &transaction)?["value"]?.stringValue
            .map { try memory(in: $0, table) } ?? ItemMemory()
    }

    /// What a stored text says.
    static func memory(in value: String, _ table: TableDefinition) throws -> ItemMemory<Record> {
        var memory = ItemMemory<Record>()
        // What may still arrive is on a line of its own. Neither its end nor a tab is part of a version.
        let lines = value.split(separator: "\n", maxSplits: 1)
        let parts = lines.first?.split(separator: "\t").map(String.init) ?? []
        let flags = parts.first?.split(separator: " ") ?? []
        memory.isDeleted = flags.contains { $0 == deleted }
        memory.holdsRowOfOthers = flags.contains { $0 == holdsRowOfOthers }
        memory.ownVersions = Array(parts.dropFirst())
        if lines.count > 1 {
            memory.sent = OperationPropertyCoding(table).requests(try JSONNode(parsing: Array(lines[1].utf8)))
        }
        return memory
    }

    static func set(
        _ memory: ItemMemory<Record>,
        of itemID: String,
        in table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        let key = OperationCoding.itemKey(itemID, table)
        if table.assignsIDs { try markInsert(in: memory, of: itemID, key, table, &transaction) }
        guard !memory.isEmpty else {
            try transaction.delete(ConfigurationTable.query(.itemMemory, table.name, key))
            return
        }
        let value = FieldValue.string(try text(of: memory))
        try ConfigurationTable.set(.itemMemory, table.name, key, ["value": value], &transaction)
    }

    /// What is stored.
    static func text(of memory: ItemMemory<Record>) throws -> String {
        let state = memory.isDeleted ? deleted : live
        let flags = memory.holdsRowOfOthers ? "\(state) \(holdsRowOfOthers)" : state
        // One that no entity tag can hold (RFC 9110, 8.8.3) is none that a request could name.
        let versions = memory.ownVersions.filter { !$0.utf8.contains(where: { $0 < 0x20 }) }
        let text = ([flags] + versions).joined(separator: "\t")
        guard !memory.sent.isEmpty else { return text }
        return text + "\n" + (try OperationPropertyCoding.requests(memory.sent))
    }

    /// Keeps the items apart whose insert was dropped and may arrive: where the server chooses ids they are looked for in
    /// every page, among as many as there may be of which something is remembered.
    private static func markInsert(
        in memory: ItemMemory<Record>,
        of itemID: String,
        _ key: String,
        _ table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        if memory.sent.contains(where: { $0.kind == .insert }) {
            try ConfigurationTable.set(.droppedInsert, table.name, key, ["value": .string(itemID)], &transaction)
        } else {
            try transaction.delete(ConfigurationTable.query(.droppedInsert, table.name, key))
        }
    }

    /// The inserts of a table that were dropped and may have arrived: what they have written, by the ids of their items.
    static func droppedInserts(
        of table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [String: [Record]] {
        let marks = try transaction.records(ConfigurationTable.query(.droppedInsert, table.name))
        var inserts: [String: [Record]] = [:]
        for itemID in marks.compactMap({ $0["value"]?.stringValue }) {
            inserts[itemID] = try memory(of: itemID, in: table, &transaction).sent.insertedRows
        }
        return inserts
    }

    /// Whether the insert of an item was dropped and may have arrived, where the server chooses ids.
    static func isDroppedInsert(
        _ itemID: String,
        of table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Bool {
        let key = OperationCoding.itemKey(itemID, table)
        return try ConfigurationTable.row(.droppedInsert, table.name, key, &transaction) != nil
    }

    /// The items among some of which something is remembered, in the form the table compares ids by.
    static func remembered(
        among keys: () -> [String],
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Set<String> {
        // Mostly nothing is remembered of any.
        guard try remembersAny(of: table.name, &transaction) else { return [] }
        let query = ConfigurationTable.query(.itemMemory, table.name)
            .filtered(by: Column("key").isAny(of: keys().map(FieldValue.string)))
        return Set(try transaction.records(query).compactMap { $0["key"]?.stringValue })
    }

    /// The items among some whose local rows stay where the server has none, in the form the table compares ids by.
    static func staying(
        among keys: [String],
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Set<String> {
        let query = ConfigurationTable.query(.itemMemory, table.name)
            .filtered(by: Column("key").isAny(of: keys.map(FieldValue.string)))
        let staying = try transaction.records(query)
            .filter { row in
                try row["value"]?.stringValue.map { try memory(in: $0, table).staysWithoutRow } ?? false
            }
        return Set(staying.compactMap { $0["key"]?.stringValue })
    }

    /// Changes what was sent for the items of a table and dropped, and may still arrive.
    static func changeSent(
        in table: TableDefinition,
        _ transaction: inout StoreTransaction,
        _ change: ([SentRequest<Record>]) -> [SentRequest<Record>]
    ) throws {
        for row in try transaction.records(ConfigurationTable.query(.itemMemory, table.name)) {
            guard let value = row["value"]?.stringValue else { continue }
            let before = try memory(in: value, table)
            var memory = before
            memory.sent = change(memory.sent)
            guard memory != before else { continue }
            let changed = Record(id: row.id, ["value": .string(try text(of: memory))])
            try transaction.upsert([changed], into: SystemTables.configuration.name)
        }
    }

    /// Whether something is remembered of a row of a table.
    static func remembersAny(
        of table: String,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Bool {
        let query = ConfigurationTable.query(.itemMemory, table).ordered(by: "key").selecting([])
        return try transaction.first(query) != nil
    }

    /// Forgets which versions were left behind of a table's rows, but for those with a change that waits: over which row one
    /// of those was kept is what its change is based on.
    static func forgetVersions(of table: TableDefinition, _ transaction: inout StoreTransaction) throws {
        var last: String?
        while true {
            var query = ConfigurationTable.query(.itemMemory, table.name).ordered(by: "key").limited(to: 500)
            if let last { query = query.filtered(by: Column("key") > .string(last)) }
            let rows = try transaction.records(query)
            let keys = rows.compactMap { $0["key"]?.stringValue }
            let waiting = try OperationQueue.waitingItemKeys(among: keys, in: table, &transaction)
            for row in rows where !waiting.contains(row["key"]?.stringValue ?? "") {
                var memory = try memory(in: row["value"]?.stringValue ?? "", table)
                memory.forgetVersions()
                if memory.isEmpty {
                    try transaction.delete([row.id], from: SystemTables.configuration.name)
                } else {
                    let value = FieldValue.string(try text(of: memory))
                    try transaction.upsert(
                        [Record(id: row.id, ["value": value])],
                        into: SystemTables.configuration.name
                    )
                }
            }
            guard let end = rows.last?["key"]?.stringValue else { return }
            last = end
        }
    }

    /// Forgets everything about the rows of a table.
    static func removeAll(of table: String, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(ConfigurationTable.query(.itemMemory, table))
        try transaction.delete(ConfigurationTable.query(.droppedInsert, table))
    }
}
