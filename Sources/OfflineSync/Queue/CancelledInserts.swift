internal import RecordJSON
package import SyncContract
internal import SyncMachines
internal import Synchronization

/// Inserts that were never sent and whose items were deleted: kept until the next push starts, so that the deletion can be
/// taken back; where none starts, for a week.
package enum CancelledInserts {
    /// How long they are kept where no push starts, in milliseconds: a week. Those that are older go when the next one is kept,
    /// which looks once a day, and when whoever carries files looks for such as nothing names.
    static let keptTime: Int64 = 7 * 86_400_000

    static func keep(
        _ operation: TableOperation,
        _ row: Record,
        _ table: TableDefinition,
        _ clock: CancelledInsertClock,
        _ schema: StoreSchema,
        _ transaction: inout StoreTransaction
    ) throws {
        let now = clock.now
        if clock.isTimeToLook(now) { try removeOld(schema, asOf: now, &transaction) }
        var json = JSONWriter()
        json.add("number", operation.id)
        json.add("date", now.milliseconds)
        json.add("edits", operation.editCounter)
        if let groups = GroupCoding.text(operation.memberships).stringValue { json.add("groups", groups) }
        json.add("item", json: try RecordCoding.object(row))
        try ConfigurationTable.set(
            .cancelledInsert,
            table.name,
            OperationCoding.itemKey(operation.itemID, table),
            ["value": .string(json.object)],
            &transaction
        )
    }

    /// The insert of an item and its row; nil when there is none. It is not kept any longer.
    static func take(
        _ itemID: String,
        in table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws -> (TableOperation, Record)? {
        let key = OperationCoding.itemKey(itemID, table)
        guard
            let value = try ConfigurationTable.row(.cancelledInsert, table.name, key, &transaction)?["value"]?
                .stringValue
        else { return nil }
        try transaction.delete(ConfigurationTable.query(.cancelledInsert, table.name, key))
        let node = try JSONNode(parsing: Array(value.utf8))
        guard let number = node["number"]?.int64Value, let item = node["item"] else { return nil }
        let row = try RecordCoding(table).record(item)
        let id = row.id.stringValue ?? itemID
        var operation = TableOperation(id: number, table: table.name, itemID: id, change: QueuedChange(.insert))
        operation.memberships = node["groups"]?.stringValue.flatMap(GroupCoding.memberships) ?? []
        // That it comes back counts as an edit, by which a push that passes over it meanwhile is seen to have left something.
        // Nor do its groups hold changes that seem to be made after all of its edits.
        let edits = [node["edits"]?.int64Value ?? 0] + operation.memberships.map(\.editCounter)
        operation.change.editCounter = (edits.max() ?? 0) + 1
        return (operation, row)
    }

    /// Changes the rows of those of a table.
    static func change(
        in table: TableDefinition,
        _ transaction: inout StoreTransaction,
        _ change: (Record) -> Record
    ) throws {
        for row in try transaction.records(ConfigurationTable.query(.cancelledInsert, table.name)) {
            guard let value = row["value"]?.stringValue,
                case .object(let members, _) = try JSONNode(parsing: Array(value.utf8)),
                let before = members.last(where: { $0.name == "item" })?.value
            else { continue }
            let (record, isWhole) = try RecordCoding(table).fittingRecord(before)
            let item = change(record)
            guard isWhole, item != record else { continue }
            var json = JSONWriter()
            for member in members where member.name != "item" { json.add(member.name, json: member.value.text) }
            json.add("item", json: try RecordCoding.object(item))
            let changed = Record(id: row.id, ["value": .string(json.object)])
            try transaction.upsert([changed], into: SystemTables.configuration.name)
        }
    }

    /// The rows of a table that are kept so.
    static func rows(
        of table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [Record] {
        try transaction.records(ConfigurationTable.query(.cancelledInsert, table.name))
            .compactMap { row in
                guard let value = row["value"]?.stringValue else { return nil }
                return try JSONNode(parsing: Array(value.utf8))["item"].map { try RecordCoding(table).record($0) }
            }
    }

    /// Whether there are any.
    static func isNotEmpty(
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> Bool {
        try transaction.first(query(schema)) != nil
    }

    /// Forgets all of them.
    static func removeAll(_ transaction: inout StoreTransaction, _ schema: StoreSchema) throws {
        try transaction.delete(query(schema))
    }

    /// Removes those that were kept for a week. Of one without a time, as earlier versions have written it, and of one from
    /// before the clock was set back, the week begins now.
    ///
    /// - Parameters:
    ///   - schema: The schema of the store.
    ///   - now: The time.
    ///   - isSetAhead: Whether the clock was, so that nobody knows how old they are: the week of all begins anew.
    ///   - transaction: The one in which they go.
    /// - Throws: What the store throws.
    package static func removeOld(
        _ schema: StoreSchema,
        asOf now: Timestamp,
        isSetAhead: Bool = false,
        _ transaction: inout StoreTransaction
    ) throws {
        var (dated, old): ([Record], [RecordID]) = ([], [])
        for row in try transaction.records(ConfigurationTable.query(.cancelledInsert, anyOf: tables(schema))) {
            guard let members = members(of: row) else { continue }
            let date = members.last { $0.name == "date" }?.value.int64Value
            if let date, date <= now.milliseconds, !isSetAhead {
                if date <= now.milliseconds - keptTime { old.append(row.id) }
                continue
            }
            var json = JSONWriter()
            for member in members where member.name != "date" { json.add(member.name, json: member.value.text) }
            json.add("date", now.milliseconds)
            dated.append(Record(id: row.id, ["value": .string(json.object)]))
        }
        if !dated.isEmpty { try transaction.upsert(dated, into: SystemTables.configuration.name) }
        if !old.isEmpty { try transaction.delete(old, from: SystemTables.configuration.name) }
    }

    /// What is kept of one; nil when it cannot be read, which is for verification to find.
    private static func members(of row: Record) -> [(name: String, value: JSONNode)]? {
        guard let value = row["value"]?.stringValue else { return nil }
        do {
            guard case .object(let members, _) = try JSONNode(parsing: Array(value.utf8)) else { return nil }
            return members
        } catch {
            return nil
        }
    }

    private static func tables(_ schema: StoreSchema) -> [String] { schema.tables.map(\.name) }

    private static func query(_ schema: StoreSchema) -> Query {
        ConfigurationTable.query(.cancelledInsert, anyOf: tables(schema)).selecting([])
    }
}

/// The clock that cancelled inserts go by, and when it was looked last for those whose time is over.
final class CancelledInsertClock: Sendable {
    private let date: @Sendable () -> Timestamp
    private let looked = Mutex<Timestamp?>(nil)

    init(_ date: @escaping @Sendable () -> Timestamp = { .current }) { self.date = date }

    var now: Timestamp { date() }

    /// Whether it is to be looked now: at the first time, and whenever a day has passed. Each look goes over all.
    func isTimeToLook(_ now: Timestamp) -> Bool {
        looked.withLock { looked in
            if let last = looked, abs(now.milliseconds - last.milliseconds) < 86_400_000 { return false }
            looked = now
            return true
        }
    }
}
