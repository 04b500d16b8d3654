internal import SealedSync

/// A to-do as the tool prints it.
struct TodoItem: Encodable, Sendable {
    var id: String
    var text: String
    var complete: Bool
    var syncState: String

    init(_ record: Record) {
        id = record.id.stringValue ?? ""
        text = record["text"]?.stringValue ?? ""
        complete = record["complete"]?.boolValue ?? false
        syncState = (record.syncState ?? .synced).rawValue
    }
}

/// One side of a conflict.
struct TodoSide: Encodable, Sendable {
    var text: String?
    var complete: Bool?
    var deleted: Bool

    init(_ record: Record, isDeleted: Bool) {
        text = record["text"]?.stringValue
        complete = record["complete"]?.boolValue
        deleted = isDeleted
    }

    /// For a person.
    var summary: String {
        deleted ? "deleted" : "\(complete == true ? "[x]" : "[ ]") \(TextTable.printable(text ?? "", atMost: 60))"
    }
}
