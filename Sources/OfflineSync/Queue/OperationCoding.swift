internal import RecordJSON
internal import SyncContract

/// Operations as rows of `MS_TableOperations` and back.
///
/// The column `properties` holds UTF-8 JSON: `{"type":N}`, and for deletes `{"type":2,"item":{…}}`, as in the original
/// SDKs. `"sent":[…]`, `"restores":true`, `"base":{…}` and `"unknown":{…}` were added here.
enum OperationCoding {
    static func record(_ operation: TableOperation, _ table: TableDefinition) throws -> Record {
        Record(
            id: .int64(operation.id),
            [
                "table": .string(operation.table),
                "tableKind": 0,
                "itemId": .string(operation.itemID),
                "itemKey": .string(itemKey(operation.itemID, table)),
                "properties": .bytes(Array(try properties(of: operation, table).utf8)),
                "baseVersion": operation.baseVersion.map(FieldValue.string) ?? .null,
                "editCounter": .int64(operation.editCounter),
                "state": .int64(operation.storedState),
                "attempted": .bool(operation.isAttempted),
                "serverItem": try operation.serverItem
                    .map { .bytes(Array(try RecordCoding(table).object($0).utf8)) } ?? .null,
            ]
        )
    }

    private static func properties(of operation: TableOperation, _ table: TableDefinition) throws -> String {
        // So it is with every insert that was not sent yet.
        if operation.deletedItem == nil, operation.sentItems.isEmpty, !operation.restores, operation.base == nil,
            operation.unknownOutcome == nil
        {
            return #"{"type":\#(operation.kind.rawValue)}"#
        }
        var properties = JSONWriter()
        properties.add("type", operation.kind.rawValue)
        let coding = RecordCoding(table)
        if let item = operation.deletedItem { properties.add("item", json: try coding.object(item)) }
        if !operation.sentItems.isEmpty {
            let items = try operation.sentItems.map { try coding.object($0) }
            properties.add("sent", json: "[" + items.joined(separator: ",") + "]")
        }
        if operation.restores { properties.add("restores", true) }
        if let base = operation.base { properties.add("base", json: try coding.object(base)) }
        if let failure = operation.unknownOutcome {
            var unknown = JSONWriter()
            if let status = failure.status { unknown.add("status", Int64(status)) }
            unknown.add("message", failure.message)
            unknown.add("pushes", Int64(failure.pushes))
            properties.add("unknown", json: unknown.object)
        }
        return properties.object
    }

    static func operation(_ record: Record, _ schema: StoreSchema) throws -> TableOperation {
        guard case .int64(let number) = record.id, let name = record["table"]?.stringValue,
            let itemID = record["itemId"]?.stringValue, let properties = record["properties"]?.bytesValue
        else { throw damaged("lacks a column") }
        guard let table = schema.table(name) else { throw StoreError.tableNotFound(name) }
        let node = try JSONNode(parsing: properties)
        guard let kind = node["type"]?.int64Value.flatMap(TableOperation.Kind.init) else {
            throw damaged("is of no known type")
        }
        var operation = TableOperation(id: number, table: name, itemID: itemID, kind: kind)
        let coding = RecordCoding(table)
        operation.deletedItem = try node["item"].map { try coding.record($0) }
        operation.sentItems = try node["sent"]?.elements?.map { try coding.record($0) } ?? []
        operation.restores = node["restores"]?.isTrue ?? false
        operation.base = node["base"].flatMap { base($0, coding) }
        operation.unknownOutcome = node["unknown"]
            .map { node in
                TableOperation.UnknownOutcome(
                    status: node["status"]?.int64Value.map(Int.init),
                    message: node["message"]?.stringValue ?? "",
                    pushes: Int(node["pushes"]?.int64Value ?? 0)
                )
            }
        operation.baseVersion = record["baseVersion"]?.stringValue
        operation.editCounter = record["editCounter"]?.int64Value ?? 0
        // One that is not known waits: what it says is found by verification.
        _ = operation.restoreState(record["state"]?.int64Value)
        operation.isAttempted = record["attempted"]?.boolValue ?? false
        operation.serverItem = try record["serverItem"]?.bytesValue
            .map {
                try coding.record(JSONNode(parsing: $0))
            }
        return operation
    }

    /// The row that a change is based on; nil when it does not fit the table any more, in which a column may be declared
    /// since. Then it is not known that nobody has changed the row, and a conflict asks.
    private static func base(_ node: JSONNode, _ coding: RecordCoding) -> Record? {
        do throws(RecordCodingError) {
            return try coding.record(node)
        } catch {
            return nil
        }
    }

    /// The item id in the form the table compares ids by.
    static func itemKey(_ itemID: String, _ table: TableDefinition) -> String {
        RecordID.string(itemID).folded(for: table.idComparison).stringValue ?? itemID
    }

    private static func damaged(_ what: String) -> SyncError {
        SyncError(.damagedQueue, "An operation in the queue \(what); verify the store, or force a purge of its table.")
    }
}
