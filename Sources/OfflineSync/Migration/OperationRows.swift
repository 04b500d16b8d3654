internal import RecordJSON
internal import SyncContract
internal import SyncMachines

/// The changes that wait, by the tables that were migrated.
struct OperationRows: TranslatedRows {
    let tables: [String: TableMigration]
    let systemTable = SystemTables.operations

    func translated(_ row: Record) throws -> RowTranslation? {
        guard let table = row["table"]?.stringValue.flatMap({ tables[$0] }), let new = table.new else { return nil }
        var changed = Record(id: row.id, ["table": .string(new.name)])
        // What cannot be read stays as it is, for verification to find.
        guard var operation = Self.readable(row, table.old) else { return .changed(changed) }
        let before = operation.change
        // They are without local columns, and are completed by those of the row that is changed or deleted.
        let remembered = before.deletedRow.map(table.localValues) ?? table.remembered(of: operation.itemID)
        let local = remembered ?? Record(id: .string(operation.itemID))
        operation.change.base = try before.base.map { try table.translated($0, local) }
        operation.change.shown = try before.shown.map { try table.translated($0, local) }
        operation.change.deletedRow = try before.deletedRow.map {
            try table.translated($0, local, hasLocalColumns: true)
        }
        operation.change.sent = try before.sent.flatMap { try Self.sent($0, table, local) }
        if let base = before.base, !table.filledColumns.isEmpty, before.isKnownByContent(of: base) {
            // The server may fill its row or not, and its version is not known: both are the base.
            operation.change.sent = try Self.sent(SentRequest(.update, content: base), table, local)
        }
        guard operation.change != before else { return .changed(changed) }
        changed["properties"] = .bytes(try OperationPropertyCoding.properties(of: operation))
        changed["serverItem"] =
            try operation.serverItem.map { .bytes(try RecordCoding.utf8($0)) } ?? .null
        return .changed(changed)
    }

    /// The operation in a row; nil for one that cannot be read.
    static func readable(_ row: Record, _ table: TableDefinition) -> TableOperation? {
        do {
            return try OperationCoding.operation(row, in: table)
        } catch {
            return nil
        }
    }

    /// A request that has left, in every form in which the server may show what it wrote: with the values that were sent, as
    /// far as they are of the type that their column has now, and with those that the steps make of them; with and without
    /// the columns that are filled, as the server may have filled them or not. They live and die together.
    static func sent(
        _ request: SentRequest<Record>,
        _ table: TableMigration,
        _ local: Record?
    ) throws -> [SentRequest<Record>] {
        guard let content = request.content else { return [request] }
        let converted = try table.translated(content, local)
        var asSent = converted
        let renamed = table.renamed(content)
        for column in table.new?.columns ?? [] {
            guard let value = renamed[column.name] else { continue }
            if try Self.fits(value, column.type) { asSent[column.name] = value }
        }
        var contents: [Record] = []
        for var content in [asSent, converted] {
            for isFilled in [true, false] {
                if !isFilled { for name in table.filledColumns { content[name] = nil } }
                if !contents.contains(content) { contents.append(content) }
            }
        }
        // What is written again, if need be, is the last one: as the steps make it.
        return contents.map { SentRequest(request.kind, content: $0, version: request.version) }
    }

    /// Whether a value that was stored as JSON is read as one of a type.
    private static func fits(_ value: FieldValue, _ type: ColumnType) throws -> Bool {
        let json = try RecordCoding.json(value, column: "")
        return try FieldValue.parse(Array(json.utf8), as: type) != nil
    }
}

extension QueuedChange<Record> {
    /// Whether only its content tells that the server's row is still the one that the change is based on.
    fileprivate func isKnownByContent(of base: Record) -> Bool {
        sent.isEmpty && !isUndo && baseVersion == nil && base.version == nil && !base.isDeleted && !base.names.isEmpty
    }
}

/// What the server said about them.
struct ErrorRows: TranslatedRows {
    let tables: [String: TableMigration]
    let systemTable = SystemTables.operationErrors

    func translated(_ row: Record) throws -> RowTranslation? {
        guard let properties = row["properties"]?.bytesValue,
            case .object(let members, _) = try JSONNode(parsing: properties),
            let table = members.last(where: { $0.name == "table" })?.value.stringValue.flatMap({ tables[$0] }),
            let new = table.new
        else { return nil }
        var json = JSONWriter()
        for member in members {
            switch member.name {
            case "table": json.add("table", new.name)
            case "item", "serverItem":
                // The one is the row of this device, the other one the server's.
                let item = try table.translated(member.value, hasLocalColumns: member.name == "item")
                if let item { json.add(member.name, json: item) }
            default: json.add(member.name, json: member.value.text)
            }
        }
        return .changed(Record(id: row.id, ["properties": .bytes(Array(json.object.utf8))]))
    }
}
