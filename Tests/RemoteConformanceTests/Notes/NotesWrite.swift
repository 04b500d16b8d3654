import HTTPTransport
import RecordJSON
import RemoteContract
import SyncContract

/// A change as the service takes it, in a request of its own or as a line of a batch.
struct NotesWrite {
    /// What has to be there for the change to be made.
    enum Base {
        case new, any
        case revision(String)

        init(_ version: String?) { self = version.map { .revision($0) } ?? .any }

        var word: String {
            switch self {
            case .new: "new"
            case .any: "any"
            case .revision(let revision): revision
            }
        }
    }

    let table: TableDefinition
    let id: String
    let base: Base
    var restores = false
    /// The whole row; nil for a deletion.
    private(set) var row: JSONText?

    var method: HTTPRequest.Method { row == nil ? .delete : .put }

    init(_ record: Record, in table: TableDefinition, base: Base, restoring: Bool = false) throws {
        guard let id = record.id.stringValue else {
            throw RemoteError(.invalidRequest, "A row of table '\(table.name)' has a number as its id.")
        }
        // Neither what the server sets nor what stays on the device is sent; undeclared columns are.
        var sent = record.withoutSystemProperties()
        // To the service it is a column like any other, and would be blanked.
        if let created = record["createdAt"] { sent["createdAt"] = created }
        for column in table.columns where column.isLocal { sent[column.name] = nil }
        do {
            row = try RecordCoding(table).json(of: sent, includingNulls: false)
        } catch {
            throw RemoteError(.invalidRequest, "A row of table '\(table.name)' cannot be sent: \(error.message).")
        }
        (self.table, self.id, self.base, self.restores) = (table, id, base, restoring)
    }

    init(deletionOf id: String, from table: TableDefinition, base: Base) {
        (self.table, self.id, self.base) = (table, id, base)
    }

    /// Makes the row that is written a deleted one.
    mutating func makeTombstone() {
        row = row.flatMap { JSONText($0.text.dropLast() + #","deleted":true}"#) }
    }

    /// The change as a line of a batch.
    var line: String {
        get throws {
            let line = Record(
                id: .string(id),
                [
                    "table": .string(table.name), "base": .string(base.word), "restore": .bool(restores),
                    "row": row.map(FieldValue.json) ?? .null,
                ]
            )
            return try RecordCoding(Self.lines).json(of: line).text
        }
    }

    private static let lines = TableDefinition(
        "lines",
        columns: [.init("table", .string), .init("base", .string), .init("restore", .bool), .init("row", .json)]
    )
}
