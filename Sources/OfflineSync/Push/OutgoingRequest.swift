internal import SyncContract
internal import SyncMachines

/// A request in the server's ids, as of the transaction that has chosen it.
struct OutgoingRequest: Sendable {
    var request: ItemRequest<Record>

    /// The id by which the server knows the row; nil while it has not given one.
    var serverID: String?

    /// What an insert that may have arrived has written for certain.
    struct Inserted: Sendable {
        /// In the server's ids.
        var content: Record
        /// As it is here: ids that the server had not given went out like that, also where it has given them since.
        var own: Record
    }

    /// What inserts that may have arrived have written, where only the content can tell.
    var inserted: [Inserted] = []

    /// Translates a request for an item.
    init(
        _ request: ItemRequest<Record>,
        for operation: TableOperation,
        _ translation: IdentifierTranslation,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws {
        self.request = request
        serverID = operation.itemID
        guard translation.isNeededForRequests else { return }
        let id = try translation.serverID(of: operation.itemID, &transaction)
        serverID = id
        func translated(
            _ row: Record,
            _ transaction: inout some StoreReading & ~Copyable
        ) throws -> Record {
            var row = try translation.outgoing(row, &transaction)
            if let id { row.id = .string(id) }
            return row
        }
        switch request {
        case .insert(let row): self.request = .insert(try translated(row, &transaction))
        case .update(let row, let version, let restoring):
            self.request = .update(try translated(row, &transaction), version: version, restoring: restoring)
        case .tombstone(let row, let version):
            self.request = .tombstone(try row.map { try translated($0, &transaction) }, version: version)
        case .fillTombstone(let row, let version):
            self.request = .fillTombstone(try translated(row, &transaction), version: version)
        case .delete, .lookUp: break
        }
        guard id == nil else { return }
        inserted = try operation.change.sentInserts.map { row in
            Inserted(content: try translation.sought(row, &transaction), own: row)
        }
    }
}

extension ItemMachine<Record> {
    /// Chooses the next request where the server chooses ids. An insert that may have been carried out is looked for first: a
    /// second one would make a second row.
    mutating func prepare(
        _ row: Record?,
        after lookUp: LookUp,
        restoresInSteps: Bool,
        in table: TableDefinition,
        hasServerID: Bool
    ) -> RequestUnderWay<Record>? {
        takeOverDropped()
        guard table.assignsIDs, lookUp == .notDone, let waiting = change, waiting.kind == .insert,
            hasServerID || waiting.wasSent || !waiting.sent.isEmpty
        else { return prepare(row, after: lookUp, restoresInSteps: restoresInSteps) }
        change?.hasUnknownOutcome = true
        defer { change?.hasUnknownOutcome = waiting.hasUnknownOutcome }
        return prepare(row, after: lookUp, restoresInSteps: restoresInSteps)
    }
}
