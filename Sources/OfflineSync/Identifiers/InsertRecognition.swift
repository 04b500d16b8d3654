internal import SyncContract
internal import SyncMachines

/// Finds the row that an insert has made whose answer was lost: where the server chooses ids, only the content can tell.
///
/// A row with exactly the content that was sent, and that belongs to no other local row, is taken for it. Two devices that
/// insert the same content at once, one of which never hears the answer, may take one for the other; a server that changes
/// content as it stores it is not understood, and gets the row once more, as does one whose row somebody else has changed
/// before it was found; the deletion of such a row finds nothing to delete, and the row comes with a pull.
struct InsertRecognition {
    private struct Insert {
        var itemID: String
        var contents: [Record]
    }

    private let translation: IdentifierTranslation
    private let comparison: TableRowComparison
    private var inserts: [Insert]

    private var table: TableDefinition { translation.table }

    /// Whether no insert is left to be found.
    var isEmpty: Bool { inserts.isEmpty }

    /// All inserts of a table that were sent and not answered, those that were dropped since among them.
    init(
        _ translation: IdentifierTranslation,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws {
        let sent = try OperationQueue.attempted(of: translation.table, &transaction, translation.schema)
        let unanswered = sent.filter(\.change.insertWaits)
        let known = try IdentifierMapping.serverIDs(of: unanswered.map(\.itemID), in: translation.table, &transaction)
        let unknown = unanswered.filter { known[OperationCoding.itemKey($0.itemID, translation.table)] == nil }
        try self.init(unknown, translation, &transaction)
        let dropped = try ItemMemoryStorage.droppedInserts(of: table, &transaction)
        guard !dropped.isEmpty else { return }
        let mapped = try IdentifierMapping.serverIDs(of: Array(dropped.keys), in: table, &transaction)
        inserts += dropped.sorted { $0.key < $1.key }
            .filter { mapped[OperationCoding.itemKey($0.key, table)] == nil }
            .map { Insert(itemID: $0.key, contents: $0.value) }
    }

    /// One insert.
    init(
        _ operations: [TableOperation],
        _ translation: IdentifierTranslation,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws {
        self.translation = translation
        comparison = TableRowComparison(
            translation.table,
            translation.schema,
            shownColumns: try ConfigurationTable.shownColumns(of: translation.table, &transaction),
            mayBeOwn: true
        )
        inserts = operations.map { Insert(itemID: $0.itemID, contents: $0.change.sentInserts) }
    }

    /// The local id of the insert that has made a row of the server, given with the server's ids. It is remembered, and each
    /// insert is found once. Of the local id that the row has already, if any, one made in advance is given up.
    mutating func take(
        _ record: Record,
        knownAs id: String?,
        _ transaction: inout StoreTransaction
    ) throws -> String? {
        guard !inserts.isEmpty, !record.isDeleted, let serverID = record.id.stringValue else { return nil }
        let shown = try withKnownReferences(record, &transaction)
        // An id that the server has not given goes out as it is here, because nothing has it any more.
        let index = inserts.firstIndex { insert in
            insert.contents.contains { comparison.wrote($0, shown) || comparison.wrote($0, record) }
        }
        guard let index, try isOfNoOther(serverID, knownAs: id, &transaction) else { return nil }
        let itemID = inserts.remove(at: index).itemID
        try IdentifierMapping.set([(itemID, serverID)], in: table, &transaction)
        if let id { try redirect(id, to: itemID, &transaction) }
        return itemID
    }

    /// Whether a row of the server belongs to no other local row, those that were purged or are deleted among them.
    private func isOfNoOther(
        _ serverID: String,
        knownAs id: String?,
        _ transaction: inout StoreTransaction
    ) throws -> Bool {
        guard let id else { return try translation.ownID(ofServerID: serverID, &transaction) == nil }
        return try IdentifierMapping.isMadeInAdvance(serverID, in: table, &transaction)
            && transaction.record(.string(id), in: table.name) == nil
            && OperationQueue.operation(for: id, in: table, &transaction, translation.schema) == nil
            && ItemMemoryStorage.memory(of: id, in: table, &transaction).isEmpty
    }

    private func withKnownReferences(
        _ record: Record,
        _ transaction: inout StoreTransaction
    ) throws -> Record {
        var record = record
        for (column, other) in translation.references {
            guard let id = record[column]?.stringValue,
                let known = try IdentifierMapping.localIDs(namedBy: [id], in: other, &transaction).values.first
            else { continue }
            record[column] = .string(known)
        }
        return record
    }

    /// Has what refers to an id that was made in advance refer to the row that it turns out to be, the inserts that are still
    /// looked for among it.
    private mutating func redirect(_ id: String, to itemID: String, _ transaction: inout StoreTransaction) throws {
        for other in translation.schema.tables {
            guard let redirection = ReferenceRedirection(of: other, to: table, from: id, to: itemID) else { continue }
            try redirection.perform(translation.schema, &transaction)
            guard other.name == table.name else { continue }
            for index in inserts.indices { inserts[index].contents = inserts[index].contents.map(redirection.row) }
        }
    }
}

extension QueuedChange where Row == Record {
    /// The rows of the inserts that may have arrived.
    var sentInserts: [Record] { sent.insertedRows }
}

extension [SentRequest<Record>] {
    /// The rows of the inserts.
    var insertedRows: [Record] { filter { $0.kind == .insert }.compactMap(\.content) }
}
