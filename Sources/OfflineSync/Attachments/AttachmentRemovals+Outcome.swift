package import RemoteContract
package import SyncContract

// What becomes of what was noted, when it is known what becomes of the change.
extension AttachmentRemovals {
    /// Where a note stands.
    package enum Standing: Sendable {
        /// The change that has given the file up waits: it may still be taken back, or be given up.
        case waiting
        /// The server has taken the change, or the app has removed the file.
        case due
        /// The change is no more, and the server has not taken it: the server's row has the file.
        case withdrawn
    }

    package static func standing(
        of note: Record,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Standing {
        if isDue(note) { return .due }
        guard let number = note["operation"] else { return .withdrawn }
        let operation = Query(SystemTables.operations.name).filtered(by: Column("id") == number).selecting([])
        return try transaction.first(operation) == nil ? .withdrawn : .waiting
    }

    /// Whether the file may go, as far as this note is concerned.
    package static func isDue(_ note: Record) -> Bool { isAsked(note) || note["isTaken"] == true }

    /// Whether the app itself has removed the file, whatever names it.
    package static func isAsked(_ note: Record) -> Bool { note["table"]?.stringValue == nil }

    /// Whether the app has removed a file that is still to go from the server.
    package static func isAsked(
        _ file: AttachmentID,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Bool {
        try transaction.record(.string("//\(file.text)"), in: table.name) != nil
    }

    /// Takes note that the server has what an operation held at an edit. A file that its row names again is not given up.
    static func taken(
        _ operation: TableOperation,
        through editCounter: Int64,
        in table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        guard try concern(table, &transaction) else { return }
        let notes = try transaction.records(untaken(operation.id).filtered(by: Column("edit") <= .int64(editCounter)))
        guard !notes.isEmpty else { return }
        let named = files(of: try transaction.record(.string(operation.itemID), in: table.name), in: table)
        for note in notes {
            if let file = note["file"].flatMap(AttachmentID.init(fieldValue:)), named.contains(file) {
                try transaction.delete([note.id], from: Self.table.name)
            } else {
                try transaction.upsert([Record(id: note.id, ["isTaken": .bool(true)])], into: Self.table.name)
            }
        }
    }

    /// Takes back what was noted for an operation that is no more.
    static func withdraw(
        _ operation: TableOperation,
        in table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        guard try concern(table, &transaction) else { return }
        try transaction.delete(untaken(operation.id))
    }

    /// Takes back what was noted for changes that are no more.
    package static func withdrawAll(_ transaction: inout StoreTransaction) throws {
        guard try transaction.declares(table.name) else { return }
        for note in try transaction.records(Query(table.name).filtered(by: Column("isTaken") != true))
        where try standing(of: note, &transaction) == .withdrawn {
            try transaction.delete([note.id], from: table.name)
        }
    }

    private static func untaken(_ operation: Int64) -> Query {
        Query(table.name).filtered(by: Column("operation") == .int64(operation) && Column("isTaken") != true)
    }
}
