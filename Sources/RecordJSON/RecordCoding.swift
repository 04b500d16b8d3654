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
        let columns = table.allColumns + SystemProperties(rawValue: 15).columns
        types = Dictionary(columns.map { ($0.name, $0.type) }) { declared, _ in declared }
        idKind = table.idKind
        tableName = table.name
    }

    /// The record of a JSON object.
    ///
    /// - Parameter json: A JSON object with a member `id`. Of two members with one name the last counts.
    /// - Returns: The record; members that are not declared columns are in it by what they look like.
    /// - Throws: ``RecordCodingError`` when the text is not an object, has no usable `id`, or has a value that does not fit
    ///   its declared column. The message names the column, never the value.
    public func record(from json: JSONText) throws(RecordCodingError) -> Record { try record(Array(json.text.utf8)) }

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
        guard case .object(_, let source) = node else { throw .init("the item is not a JSON object") }
        return try record(Array(source))
    }

    private func record(_ json: [UInt8]) throws(RecordCodingError) -> Record {
        var reader = JSONReader(json)
        var decoder = RecordDecoder(self)
        let content: Result<Record, RecordCodingError>
        do throws(JSONError) {
            content = try decoder.row(from: &reader).content
            try reader.end()
        } catch {
            // It was valid when it was made; a store that keeps such texts may have been damaged since.
            throw RecordCodingError("the item is \(error)")
        }
        return try content.get()
    }

    /// The JSON object of a record: `id` first, unless it is to be left out, then the other members by name.
    ///
    /// - Throws: ``RecordCodingError`` for an infinite number, which JSON cannot express.
    package static func object(
        _ record: Record,
        includingNulls: Bool = true,
        includingID: Bool = true
    ) throws(RecordCodingError) -> String {
        String(
            decoding: try utf8(record, includingNulls: includingNulls, includingID: includingID),
            as: UTF8.self
        )
    }

    /// The same in UTF-8.
    package static func utf8(
        _ record: Record,
        includingNulls: Bool = true,
        includingID: Bool = true
    ) throws(RecordCodingError) -> [UInt8] {
        var writer = JSONWriter()
        writer.reserveCapacity(512)
        try write(record, to: &writer, includingNulls: includingNulls, includingID: includingID)
        return writer.utf8()
    }

    /// Adds the members of a record to an object, `id` first, unless it is to be left out, then the others by name.
    ///
    /// - Throws: ``RecordCodingError`` for an infinite number, which JSON cannot express.
    package static func write(
        _ record: Record,
        to writer: inout JSONWriter,
        includingNulls: Bool = true,
        includingID: Bool = true
    ) throws(RecordCodingError) {
        if includingID {
            switch record.id {
            case .string(let text): writer.add("id", text)
            case .int64(let number): writer.add("id", number)
            }
        }
        let (names, values) = (record.slotNames, record.slotValues)
        for slot in names.placesInOrder {
            switch values[slot] {
            case nil: break
            case .null?: if includingNulls { writer.add(names[slot], json: "null") }
            case .string(let text)?: writer.add(names[slot], text)
            case .date(let instant)?: writer.add(names[slot], instant.wireText)
            case .some(let value): writer.add(names[slot], json: try json(value, column: names[slot]))
            }
        }
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

    // MARK: For the decoder

    /// The type of a column's values; nil for an undeclared one.
    func type(of column: String) -> ColumnType? { types[column] }

    /// Reads the next value as an id; nil when it is none of the table's kind. It may be empty.
    func id(from reader: inout JSONReader) throws(JSONError) -> RecordID? {
        switch (idKind, try reader.kind()) {
        case (.string, .string): return .string(reader.string(try reader.string()))
        case (.int64, .number): return Int64(reader.text(try reader.number())).map(RecordID.int64)
        default:
            try reader.skip()
            return nil
        }
    }

    /// What is wrong with a value that does not fit its column.
    func misfit(_ column: String) -> RecordCodingError {
        RecordCodingError(
            "column '\(column)' of table '\(tableName)' is declared as \(types[column]?.rawValue ?? "another type")"
                + " and holds something else; declare it with the type the server uses"
        )
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
