internal import RecordJSON
internal import SyncContract

/// Errors as rows of `MS_TableOperationErrors` and back. The column `properties` holds the JSON of the original SDKs.
///
/// `unasked` was added here: nobody was asked about it yet who has a say while a push runs. Errors of older versions
/// lack it.
enum OperationErrorCoding {
    private static let unasked = "unasked"

    static func record(_ error: TableOperationError<Record>) throws -> Record {
        var properties = JSONWriter()
        properties.add("table", error.table)
        properties.add("itemId", error.itemID)
        properties.add("operation", error.kind.rawValue)
        properties.add("conflict", error.isConflict)
        if error.isMissingOnServer { properties.add("missingOnServer", true) }
        properties.add("statusCode", Int64(error.status ?? 0))
        properties.add("description", error.message)
        if let item = error.item { properties.add("item", json: try RecordCoding.object(item)) }
        if let item = error.serverItem { properties.add("serverItem", json: try RecordCoding.object(item)) }
        if error.isUnasked { properties.add(unasked, true) }
        if let exchange = error.rawExchange { properties.add("exchange", json: ExchangeCoding.text(exchange)) }
        return Record(
            id: .string(error.id),
            [
                "operationId": .int64(error.operationID), "tableKind": 0,
                "properties": .bytes(Array(properties.object.utf8)), "editCounter": .int64(error.editCounter),
            ]
        )
    }

    /// The errors of declared tables, in the order of their operations.
    static func all(
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> [TableOperationError<Record>] {
        let declared = Set(schema.tables.map(\.name))
        let query = Query(SystemTables.operationErrors.name).ordered(by: "operationId")
        return try transaction.records(query)
            .compactMap { record in
                let properties = try JSONNode(parsing: record["properties"]?.bytesValue ?? [])
                guard let table = properties["table"]?.stringValue, declared.contains(table) else { return nil }
                return try withBase(error(record, schema), &transaction, schema)
            }
    }

    /// The numbers of the operations that have errors.
    static func operations(_ reader: inout some StoreReading & ~Copyable) throws -> [Int64] {
        var numbers: [Int64] = []
        try reader.forEach(Query(SystemTables.operationErrors.name).selecting(["operationId"])) { row in
            if let number = row["operationId"]?.int64Value { numbers.append(number) }
        }
        return numbers
    }

    /// The error with an id; nil when there is none any more.
    static func error(
        _ id: String,
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> TableOperationError<Record>? {
        try transaction.record(.string(id), in: SystemTables.operationErrors.name)
            .map { try withBase(error($0, schema), &transaction, schema) }
    }

    /// An error with the row that its change is based on.
    private static func withBase(
        _ error: TableOperationError<Record>,
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> TableOperationError<Record> {
        var error = error
        error.baseItem = try OperationQueue.operation(error.operationID, &transaction, schema)?.baseItem
        return error
    }

    /// What the server said about an operation; nil when it said nothing.
    static func error(
        ofOperation number: Int64,
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> TableOperationError<Record>? {
        let query = Query(SystemTables.operationErrors.name).filtered(by: Column("operationId") == .int64(number))
        return try transaction.first(query).map { try withBase(error($0, schema), &transaction, schema) }
    }

    /// Takes note that somebody was asked about an error, if it is still there. All else of it stays as it is stored.
    static func wasAsked(about error: TableOperationError<Record>, _ transaction: inout StoreTransaction) throws {
        let table = SystemTables.operationErrors.name
        guard let stored = try transaction.record(.string(error.id), in: table),
            case .object(let members, _) = try JSONNode(parsing: stored["properties"]?.bytesValue ?? [])
        else { return }
        var properties = JSONWriter()
        for member in members where member.name != unasked { properties.add(member.name, json: member.value.text) }
        let row = Record(id: stored.id, ["properties": .bytes(Array(properties.object.utf8))])
        try transaction.upsert([row], into: table)
    }

    static func error(_ record: Record, _ schema: StoreSchema) throws -> TableOperationError<Record> {
        guard let id = record.id.stringValue, let operationID = record["operationId"]?.int64Value,
            let properties = record["properties"]?.bytesValue
        else { throw damaged() }
        let node = try JSONNode(parsing: properties)
        guard let name = node["table"]?.stringValue, let itemID = node["itemId"]?.stringValue,
            let kind = node["operation"]?.int64Value.flatMap(TableOperation.Kind.init)
        else { throw damaged() }
        guard let table = schema.table(name) else { throw StoreError.tableNotFound(name) }
        let coding = RecordCoding(table)
        let status = node["statusCode"]?.int64Value ?? 0
        // One that does not fit its table any more counts as not shown.
        let serverItem = try node["serverItem"].flatMap { try coding.serverRow($0) }
        let isMissing = node["missingOnServer"]?.isTrue ?? false
        return TableOperationError<Record>(
            id: id,
            operationID: operationID,
            table: name,
            itemID: itemID,
            kind: kind,
            isConflict: node["conflict"]?.isTrue ?? false,
            status: status == 0 ? nil : Int(status),
            message: node["description"]?.stringValue ?? "",
            item: try node["item"].map { try coding.fittingRecord($0).record },
            serverItem: serverItem,
            isMissingOnServer: isMissing,
            isDeletedOnServer: isMissing || (serverItem?.isDeleted ?? false),
            rawExchange: node["exchange"].flatMap(ExchangeCoding.exchange),
            editCounter: record["editCounter"]?.int64Value ?? 0,
            isUnasked: node[unasked]?.isTrue ?? false
        )
    }

    private static func damaged() -> SyncError {
        SyncError(
            .damagedQueue,
            "An error of the queue lacks a column; verify the store, or force a purge of its table."
        )
    }
}
