import Foundation
import SyncContract

/// The file: a line of JSON for each row that was written or deleted, and a line with a point after each transaction.
final class RowLog {
    private struct Place {
        var offset: UInt64
        var count: Int
    }

    /// One row as a line.
    private struct Line: Codable {
        var table: String
        var key: StoredValue
        var id: StoredValue
        /// Nil for a row that was deleted.
        var values: [String: StoredValue]?
    }

    private let file: FileHandle
    private var end: UInt64 = 0
    private var places: [String: [RecordID: Place]] = [:]

    init(_ path: String, creating: Bool) throws {
        guard creating != FileManager.default.fileExists(atPath: path) else {
            throw creating
                ? StoreError(.alreadyExists, "There is a store at this place; open it, or choose another place.")
                : StoreError(.notFound, "There is no store at this place; make one.")
        }
        if creating { try Data().write(to: URL(filePath: path)) }
        file = try FileHandle(forUpdating: URL(filePath: path))
        // The lock ends with this process, however that ends.
        guard flock(file.fileDescriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw StoreError(.inUse, "The store is open; close it first.")
        }
        try replay(try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe))
    }

    /// A program that this process is just starting has a duplicate of the descriptor until it runs, and a lock lasts as
    /// long as any: unlocking lifts it for all of them, closing alone would not.
    deinit { _ = flock(file.fileDescriptor, LOCK_UN) }

    /// Finds the rows of all transactions that came to their end, and cuts off what a killed process left behind them.
    private func replay(_ data: Data) throws {
        var made: [(line: Line, place: Place)] = []
        var start = data.startIndex
        while let newline = data[start...].firstIndex(of: 10) {
            let text = data[start..<newline]
            if text.elementsEqual([UInt8(ascii: ".")]) {
                for (line, place) in made { keep(line, place) }
                made = []
                end = UInt64(newline + 1)
            } else {
                do {
                    let line = try JSONDecoder().decode(Line.self, from: text)
                    made.append((line, Place(offset: UInt64(start), count: text.count)))
                } catch {
                    throw StoreError(.damaged, "A line of the store cannot be read; restore a backup.", cause: error)
                }
            }
            start = newline + 1
        }
        try file.truncate(atOffset: end)
    }

    private func keep(_ line: Line, _ place: Place) {
        places[line.table, default: [:]][line.key.id] = line.values == nil ? nil : place
    }

    func keys(of table: String) -> Set<RecordID> { places[table].map { Set($0.keys) } ?? [] }

    func row(_ key: RecordID, of table: String) throws -> Record? {
        guard let place = places[table]?[key] else { return nil }
        do {
            try file.seek(toOffset: place.offset)
            let line = try JSONDecoder().decode(Line.self, from: try file.read(upToCount: place.count) ?? Data())
            return Record(id: line.id.id, (line.values ?? [:]).mapValues(\.value))
        } catch {
            throw StoreError(.damaged, "A row of the store cannot be read; restore a backup.", cause: error)
        }
    }

    /// Appends a transaction. It counts from its last line on: a process that is killed before has written nothing.
    func commit(_ changes: [String: [RecordID: Record?]]) throws {
        var (bytes, made) = (Data(), [(line: Line, place: Place)]())
        for (table, rows) in changes {
            for (key, row) in rows {
                let values = row.map { $0.fields.mapValues(StoredValue.init) }
                let id = StoredValue((row?.id ?? key).fieldValue)
                let line = Line(table: table, key: StoredValue(key.fieldValue), id: id, values: values)
                let text = try JSONEncoder().encode(line)
                made.append((line, Place(offset: end + UInt64(bytes.count), count: text.count)))
                bytes += text + [10]
            }
        }
        guard !made.isEmpty else { return }
        bytes += Data(".\n".utf8)
        do {
            try file.seek(toOffset: end)
            try file.write(contentsOf: bytes)
        } catch {
            try file.truncate(atOffset: end)
            throw StoreError(.inputOutput, "The store cannot be written; look at its disk.", cause: error)
        }
        end += UInt64(bytes.count)
        for (line, place) in made { keep(line, place) }
    }

    /// Compares the tables with those that are stored, and stores what is new: as rows of a table that no app can declare.
    func declare(_ schema: StoreSchema) throws {
        var changes: [RecordID: Record?] = [:]
        for table in schema.allTables {
            var row = try self.row(.string(table.name), of: "") ?? Record(id: .string(table.name))
            let before = row
            let types = [("", "\(table.idKind)")] + table.allColumns.map { ($0.name, $0.type.rawValue) }
            for (name, type) in types {
                guard row[name] ?? .string(type) == .string(type) else {
                    let message = "'\(name)' of table '\(table.name)' is stored with another type; declare that one."
                    throw StoreError(.schemaMismatch, message)
                }
                row[name] = .string(type)
            }
            if row != before { changes[row.id] = row }
        }
        try commit(["": changes])
    }
}

/// A value with its kind, so that it comes back as it went in.
struct StoredValue: Codable {
    private var kind: String
    private var text: String

    init(_ value: FieldValue) {
        (kind, text) =
            switch value {
            case .null: ("null", "")
            case .bool(let value): ("bool", "\(value)")
            case .int64(let value): ("int64", "\(value)")
            case .double(let value): ("double", "\(value.bitPattern)")
            case .decimal(let value): ("decimal", value.text)
            case .string(let value): ("string", value)
            case .date(let value): ("date", value.finerText ?? "\(value.milliseconds)")
            case .bytes(let value): ("bytes", Data(value).base64EncodedString())
            case .json(let value): ("json", value.text)
            }
    }

    var value: FieldValue {
        switch kind {
        case "bool": .bool(text == "true")
        case "int64": Int64(text).map(FieldValue.int64) ?? .null
        case "double": UInt64(text).map { .double(Double(bitPattern: $0)) } ?? .null
        case "decimal": DecimalText(text).map(FieldValue.decimal) ?? .null
        case "string": .string(text)
        case "date": (Int64(text).map(Timestamp.init(milliseconds:)) ?? Timestamp(text)).map(FieldValue.date) ?? .null
        case "bytes": Data(base64Encoded: text).map { .bytes(Array($0)) } ?? .null
        case "json": JSONText(text).map(FieldValue.json) ?? .null
        default: .null
        }
    }

    var id: RecordID { value.int64Value.map(RecordID.int64) ?? .string(text) }
}
