#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

public import SyncContract

/// Turns records of one table into JSON objects and back, by the declared types of its columns.
///
/// Values of undeclared columns are read by what they look like (text stays text: nothing is taken for a date) and are
/// written so that the server gets the same JSON back. Numbers keep their text where a type would change it.
public struct RecordCoding: Sendable {
    private let types: [String: ColumnType]
    private let idKind: IDKind
    private let tableName: String

    /// A coding for the records of one table.
    public init(_ table: TableDefinition) {
        types = Dictionary(table.allColumns.map { ($0.name, $0.type) }) { first, _ in first }
            .merging(SystemProperties(rawValue: 15).columns.map { ($0.name, $0.type) }) { declared, _ in declared }
        idKind = table.idKind
        tableName = table.name
    }

    /// The record of a JSON object.
    ///
    /// - Parameter json: A JSON object with a member `id`. Of two members with one name the last counts.
    /// - Returns: The record; members that are not declared columns are in it by what they look like.
    /// - Throws: ``RecordCodingError`` when the text is not an object, has no usable `id`, or has a value that does not fit
    ///   its declared column. The message names the column, never the value.
    public func record(from json: JSONText) throws(RecordCodingError) -> Record {
        let node: JSONNode
        do throws(JSONError) {
            node = try JSONNode(parsing: json.text.utf8)
        } catch {
            // It was valid when it was made; a store that keeps such texts may have been damaged since.
            throw RecordCodingError("the item is \(error)")
        }
        return try record(node)
    }

    /// The JSON object of a record: `id` first, then the other members by name.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - includingNulls: Whether a null is written; otherwise its member is left out.
    /// - Returns: The object, without white space.
    /// - Throws: ``RecordCodingError`` for an infinite number, which JSON cannot express.
    public func json(of record: Record, includingNulls: Bool = true) throws(RecordCodingError) -> JSONText {
        JSONText(validated: try Self.object(record, includingNulls: includingNulls))
    }

    /// The record of a JSON object that is parsed already.
    ///
    /// - Throws: ``RecordCodingError`` when the node is not an object, has no usable `id`, or has a value that does not fit
    ///   its declared column. The message names the column, never the value.
    package func record(_ node: JSONNode) throws(RecordCodingError) -> Record {
        guard case .object(let members, _) = node else { throw .init("the item is not a JSON object") }
        guard let idNode = node["id"], let id = recordID(idNode) else {
            throw .init("the item has no usable 'id'")
        }
        var record = Record(id: id)
        for (name, value) in members where name != "id" {
            guard let field = field(value, as: types[name]) else {
                throw .init(
                    "column '\(name)' of table '\(tableName)' is declared as \(types[name]?.rawValue ?? "another type")"
                        + " and holds something else; declare it with the type the server uses"
                )
            }
            record[name] = field
        }
        return record
    }

    /// The JSON object of a record: `id` first, unless it is to be left out, then the other members by name.
    ///
    /// - Throws: ``RecordCodingError`` for an infinite number, which JSON cannot express.
    package static func object(
        _ record: Record,
        includingNulls: Bool = true,
        includingID: Bool = true
    ) throws(RecordCodingError) -> String {
        var writer = JSONWriter()
        if includingID { writer.add("id", json: try json(record.id.fieldValue, column: "id")) }
        let (names, values) = (record.slotNames, record.slotValues)
        for slot in names.indices.sorted(by: { names[$0] < names[$1] }) {
            switch values[slot] {
            case nil: break
            case .null?: if includingNulls { writer.add(names[slot], json: "null") }
            case .string(let text)?: writer.add(names[slot], text)
            case .some(let value): writer.add(names[slot], json: try json(value, column: names[slot]))
            }
        }
        return writer.object
    }

    /// One value as JSON.
    package static func json(_ value: FieldValue, column: String) throws(RecordCodingError) -> String {
        switch value {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .int64(let value): return String(value)
        case .double(let value):
            guard value.isFinite else {
                throw .init("column '\(column)' holds a number that is not finite, which JSON cannot express")
            }
            return value.description
        case .decimal(let value): return value.text
        case .string(let value): return JSONText.quoted(value)
        case .date(let value): return JSONText.quoted(value.wireText)
        case .bytes(let value): return JSONText.quoted(Data(value).base64EncodedString())
        case .json(let value): return value.text
        }
    }

    private func recordID(_ node: JSONNode) -> RecordID? {
        switch (idKind, node) {
        case (.string, .string(let text)): text.isEmpty ? nil : .string(text)
        case (.int64, .number(let text)): Int64(text).map(RecordID.int64)
        default: nil
        }
    }

    /// The value of a column of the given type, of any type when none is given; nil when it does not fit.
    package func field(_ node: JSONNode, as type: ColumnType?) -> FieldValue? {
        guard let type else { return Self.undeclared(node) }
        switch (type, node) {
        case (_, .null): return .null
        case (.bool, .bool(let value)): return .bool(value)
        case (.int64, .number(let text)), (.int64, .string(let text)):
            return Self.wholeNumber(text).map(FieldValue.int64)
        case (.double, .number(let text)), (.double, .string(let text)):
            return Double(text).flatMap { $0.isFinite ? .double($0) : nil }
        case (.decimal, .number(let text)), (.decimal, .string(let text)):
            return DecimalText(text).map(FieldValue.decimal)
        case (.string, .string(let text)): return .string(text)
        case (.date, .string(let text)):
            // Some servers leave the zone out where a property has none, and mean UTC.
            return (Timestamp(text) ?? Timestamp(text + "Z")).map(FieldValue.date)
        case (.bytes, .string(let text)): return Data(base64Encoded: text).map { .bytes(Array($0)) }
        case (.json, _): return .json(JSONText(validated: node.text))
        default: return nil
        }
    }

    /// The whole number of a text, however it is written: `7`, `7.0` and `0.7e1` are the same one.
    private static func wholeNumber(_ text: String) -> Int64? {
        if let number = Int64(text) { return number }
        // A double rounds beyond 2⁵³, so what it gives is held against the text.
        guard let decimal = DecimalText(text), let number = Double(text).flatMap(Int64.init(exactly:)),
            DecimalText(number).isNumericallyEqual(to: decimal)
        else { return nil }
        return number
    }

    private static func undeclared(_ node: JSONNode) -> FieldValue? {
        switch node {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .string(let text): return .string(text)
        case .array, .object: return .json(JSONText(validated: node.text))
        case .number(let text):
            // A number is kept as a type only if that type writes the very same text again.
            if let value = Int64(text), String(value) == text { return .int64(value) }
            if let value = Double(text), value.description == text { return .double(value) }
            return DecimalText(text).map(FieldValue.decimal)
        }
    }
}

/// Why a record and JSON do not fit each other. The text names columns, never values.
public struct RecordCodingError: Error, Sendable, CustomStringConvertible {
    /// What does not fit, and where it can be mended.
    public let message: String

    init(_ message: String) { self.message = message }

    /// The message.
    public var description: String { message }
}

extension RecordCodingError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}
