import DatasyncEmulator
import Foundation
import SealedSync

/// What a store holds, in plain JSON. It is made without the package's own JSON, so that the two cannot err together.
struct StoreDescription {
    /// The rows of every table, system tables included, by table and id: columns and their values.
    var rows: JSONValue
    /// The changes that wait, as the engine gives them, in their order.
    var operations: JSONValue
    /// What the server did not take, as the engine gives it.
    var operationErrors: JSONValue
    /// The ids that a search finds, by what is looked for.
    var searches: JSONValue
    /// What the server held when the store was made: rows by table.
    var server: JSONValue
    /// What the server has of the changed rows when every change has arrived: members by table and id.
    var arrived: JSONValue

    init(json: JSONValue) {
        rows = json["rows"] ?? .null
        operations = json["operations"] ?? .null
        operationErrors = json["operationErrors"] ?? .null
        searches = json["searches"] ?? .null
        server = json["server"] ?? .null
        arrived = json["arrived"] ?? .null
    }

    /// Describes an open store.
    init(_ store: EncryptedStore, server: JSONValue, arrived: JSONValue) async throws {
        self.server = server
        self.arrived = arrived
        rows = try await store.read { reader in
            var tables: [String: JSONValue] = [:]
            for table in FixtureStory.schema.tables + SystemTables.all {
                var rows: [String: JSONValue] = [:]
                for record in try reader.records(Query(table.name)) {
                    let id = record.id.stringValue ?? record.id.int64Value.map(String.init) ?? ""
                    rows[id] = Self.describe(record)
                }
                tables[table.name] = .object(rows)
            }
            return .object(tables)
        }
        let context = SyncContext(store: store, remote: try FixtureStory.unreachable)
        operations = .array(try await context.operations().map(Self.describe))
        operationErrors = .array(try await context.operationErrors().map(Self.describe))
        var found: [String: JSONValue] = [:]
        for text in ["чай", "ЧАЙ мол", "елка", "lodz"] {
            let query = Query("Paper").filtered(by: Column("text").matches(words: text)).ordered(by: "id")
            found[text] = .array(try await store.read(query).records.map { .string($0.id.stringValue ?? "") })
        }
        searches = .object(found)
    }

    /// What another description lacks of this one, or has otherwise. The system tables may have more columns there: later
    /// versions add them.
    func differences(from other: StoreDescription) -> [String] {
        var differences: [String] = []
        for (name, expected, found) in [
            ("operations", operations, other.operations), ("operation errors", operationErrors, other.operationErrors),
            ("searches", searches, other.searches),
        ] where expected.encoded != found.encoded { differences.append("\(name): \(found)") }
        let systemTables = Set(SystemTables.all.map(\.name))
        for (table, expected) in rows.object ?? [:] {
            let (expected, found) = (expected.object ?? [:], other.rows[table]?.object ?? [:])
            for id in Set(expected.keys).union(found.keys) {
                var row = found[id]?.object
                if systemTables.contains(table) {
                    row = row?.filter { expected[id]?[$0.key] != nil }
                }
                // By bytes: texts that merely look alike differ.
                if row.map(JSONValue.object)?.encoded != expected[id]?.encoded {
                    differences.append("row '\(id)' of '\(table)': \(found[id].map { "\($0)" } ?? "missing")")
                }
            }
        }
        return differences
    }

    /// The text that is committed.
    var text: Data {
        get throws {
            let all: JSONValue = .object([
                "rows": rows, "operations": operations, "operationErrors": operationErrors, "searches": searches,
                "server": server, "arrived": arrived,
            ])
            let object = try JSONSerialization.jsonObject(with: all.encoded)
            let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return try JSONSerialization.data(withJSONObject: object, options: options) + Data("\n".utf8)
        }
    }
}

extension StoreDescription {
    static func describe(_ record: Record) -> JSONValue { .object(record.fields.mapValues(describe)) }

    /// A value with its kind. Numbers are text, so that none is rounded.
    private static func describe(_ value: FieldValue) -> JSONValue {
        switch value {
        case .null: .null
        case .bool(let value): ["bool": .bool(value)]
        case .int64(let value): ["int64": .string(String(value))]
        case .double(let value): ["double": .string(value.description)]
        case .decimal(let value): ["decimal": .string(value.text)]
        case .string(let value): ["string": .string(value)]
        case .date(let value):
            ["date": .string(value.finerText ?? value.text), "milliseconds": .integer(value.milliseconds)]
        case .bytes(let value):
            // What the engine keeps as bytes is JSON, and better to read than digits.
            if value.first == UInt8(ascii: "{"), let text = String(validating: value, as: UTF8.self) {
                ["utf8": .string(text)]
            } else {
                ["bytes": .array(value.map { .integer(Int64($0)) })]
            }
        case .json(let value): ["json": .string(value.text)]
        }
    }

    private static func describe(_ operation: TableOperation) -> JSONValue {
        [
            "id": .integer(operation.id),
            "table": .string(operation.table),
            "itemID": .string(operation.itemID),
            "kind": .string("\(operation.kind)"),
            "state": .string("\(operation.state)"),
            "baseVersion": operation.baseVersion.map(JSONValue.string) ?? .null,
            "editCounter": .integer(operation.editCounter),
            "isAttempted": .bool(operation.isAttempted),
            "deletedItem": operation.deletedItem.map(describe) ?? .null,
            "serverItem": operation.serverItem.map(describe) ?? .null,
        ]
    }

    private static func describe(_ error: TableOperationError<Record>) -> JSONValue {
        [
            "id": .string(error.id),
            "operationID": .integer(error.operationID),
            "table": .string(error.table),
            "itemID": .string(error.itemID),
            "kind": .string("\(error.kind)"),
            "isConflict": .bool(error.isConflict),
            "status": error.status.map { .integer(Int64($0)) } ?? .null,
            "message": .string(error.message),
            "item": error.item.map(describe) ?? .null,
            "serverItem": error.serverItem.map(describe) ?? .null,
            "isMissingOnServer": .bool(error.isMissingOnServer),
        ]
    }
}
