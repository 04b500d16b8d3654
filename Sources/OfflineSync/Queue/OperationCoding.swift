internal import RecordJSON
internal import SyncContract
internal import SyncMachines

/// An operation and the properties with which it was written.
struct WrittenOperation: Sendable {
    var operation: TableOperation
    var properties: [UInt8]
}

/// Operations as rows of `MS_TableOperations` and back.
///
/// The column `properties` holds UTF-8 JSON: `{"type":N}`, and for deletes `{"type":2,"item":{…}}`, as in the original
/// SDKs. The rest was added here: see ``OperationPropertyCoding``.
enum OperationCoding {
    // Every row is written under these names: they are made once.
    private static let columns = [
        "table", "tableKind", "itemId", "itemKey", "properties", "baseVersion", "editCounter", "state", "attempted",
        "serverItem", "groups",
    ]
    private static let columnsOfNew = columns + ["highest"]
    private static let columnsOfSent = ["properties", "attempted", "push"]

    static func record(_ operation: TableOperation, _ table: TableDefinition) throws -> Record {
        Record(id: .int64(operation.id), names: columns, values: try values(operation, table))
    }

    /// The row of an operation whose number is the highest that was ever given.
    static func newRecord(_ operation: TableOperation, _ table: TableDefinition) throws -> Record {
        Record(id: .int64(operation.id), names: columnsOfNew, values: try values(operation, table) + [true])
    }

    /// What is written of an operation that is about to be sent, when nothing else of it has changed; nil when something has.
    ///
    /// The columns of the index by items are not among it: SQLite writes the entry anew when one of them is set, to whatever,
    /// and it lies in the order of ids, so that each operation would cost a page.
    static func sentRecord(
        _ operation: TableOperation,
        from before: TableOperation,
        mark: FieldValue
    ) throws -> Record? {
        guard operation.itemID == before.itemID, operation.storedState == before.storedState,
            operation.editCounter == before.editCounter, operation.baseVersion == before.baseVersion,
            operation.memberships == before.memberships, operation.serverItem == before.serverItem
        else { return nil }
        let properties = try OperationPropertyCoding.properties(of: operation)
        let values: [FieldValue?] = [.bytes(properties), .bool(operation.isAttempted), mark]
        return Record(id: .int64(operation.id), names: columnsOfSent, values: values)
    }

    private static func values(_ operation: TableOperation, _ table: TableDefinition) throws -> [FieldValue?] {
        [
            .string(operation.table),
            0,
            .string(operation.itemID),
            .string(itemKey(operation.itemID, table)),
            .bytes(try OperationPropertyCoding.properties(of: operation)),
            operation.baseVersion.map(FieldValue.string) ?? .null,
            .int64(operation.editCounter),
            .int64(operation.storedState),
            .bool(operation.isAttempted),
            try operation.serverItem.map { .bytes(try RecordCoding.utf8($0)) } ?? .null,
            GroupCoding.text(operation.memberships),
        ]
    }

    /// Reads an operation. The properties of one that was written by the caller need not be parsed as long as they are the
    /// same.
    static func operation(
        _ record: Record,
        _ schema: StoreSchema,
        written: WrittenOperation? = nil
    ) throws -> TableOperation {
        guard let name = record["table"]?.stringValue else { throw damaged("lacks a column") }
        guard let table = schema.table(name) else { throw StoreError.tableNotFound(name) }
        return try operation(record, in: table, written: written)
    }

    static func operation(
        _ record: Record,
        in table: TableDefinition,
        written: WrittenOperation? = nil
    ) throws -> TableOperation {
        guard case .int64(let number) = record.id, let itemID = record["itemId"]?.stringValue,
            let properties = record["properties"]?.bytesValue
        else { throw damaged("lacks a column") }
        let wasSent = record["attempted"]?.boolValue ?? false
        // Most operations of a long queue are inserts of which nothing was sent.
        let isPlain = !wasSent && properties == OperationPropertyCoding.plainInsert
        let known = written.flatMap { $0.properties == properties ? $0.operation : nil }
        let node = isPlain || known != nil ? nil : try JSONNode(parsing: properties)
        guard
            let kind = isPlain
                ? .insert : known?.change.kind ?? node?["type"]?.int64Value.flatMap(QueuedChange<Record>.Kind.init)
        else { throw damaged("is of no known type") }
        var operation = TableOperation(
            id: number,
            table: table.name,
            itemID: itemID,
            change: known?.change ?? QueuedChange(kind)
        )
        operation.change.baseVersion = record["baseVersion"]?.stringValue
        operation.change.editCounter = record["editCounter"]?.int64Value ?? 0
        operation.change.wasSent = wasSent
        // One that is not known waits: what it says is found by verification.
        _ = operation.restoreState(record["state"]?.int64Value)
        // What cannot be read is found by verification.
        operation.memberships = record["groups"]?.stringValue.flatMap(GroupCoding.memberships) ?? []
        if let node { try OperationPropertyCoding(table).read(node, into: &operation) }
        if let known {
            operation.unknownOutcome = known.unknownOutcome
            operation.change.hasUnknownOutcome = known.unknownOutcome != nil
        }
        if let shown = record["serverItem"]?.bytesValue {
            operation.change.shown = try RecordCoding(table).serverRow(JSONNode(parsing: shown))
            // One that does not fit is not known: it is asked for when the change has ended, and is set aside then.
            if operation.change.shown == nil { operation.change.asksForRow = true }
        }
        return operation
    }

    /// The item id in the form the table compares ids by.
    static func itemKey(_ itemID: String, _ table: TableDefinition) -> String {
        RecordID.string(itemID).folded(for: table.idComparison).stringValue ?? itemID
    }

    private static func damaged(_ what: String) -> SyncError {
        SyncError(.damagedQueue, "An operation in the queue \(what); verify the store, or force a purge of its table.")
    }
}
