internal import SyncContract
internal import SyncMachines

/// Translates between the ids of this device and those of a server that chooses ids, of one table's rows and of the rows they
/// refer to, inside the transactions in which requests are chosen, and answers and pages are recorded. Everything else in
/// the engine knows local ids only.
struct IdentifierTranslation: Sendable {
    let table: TableDefinition
    let schema: StoreSchema
    /// The columns that hold ids of tables whose server chooses them.
    let references: [(column: String, table: TableDefinition)]
    /// Those that hold ids which are the same on both sides, and of which the server may spell one otherwise than a type does.
    let respelled: [(column: String, table: TableDefinition)]

    init(_ table: TableDefinition, _ schema: StoreSchema) {
        self.table = table
        self.schema = schema
        let all = table.columns.compactMap { column -> (column: String, table: TableDefinition)? in
            guard !column.isLocal, let other = column.references.flatMap(schema.table) else { return nil }
            return (column.name, other)
        }
        references = all.filter(\.table.assignsIDs)
        respelled = all.filter { !$0.table.assignsIDs && $0.table.idComparison == .asciiCaseInsensitive }
    }

    /// Whether there is anything to translate.
    var isNeeded: Bool { table.assignsIDs || !references.isEmpty }

    /// Whether there is on the way to the server.
    var isNeededForRequests: Bool { isNeeded || !respelled.isEmpty }

    // MARK: To the server

    /// The server's id of a row; nil while the server has not given one, also when the insert was dropped since, which may
    /// have arrived. A row that was here before its table was declared to assign ids has the same on both sides.
    func serverID(of id: String, _ transaction: inout some StoreReading & ~Copyable) throws -> String? {
        guard table.assignsIDs else { return id }
        if let known = try IdentifierMapping.serverIDs(of: [id], in: table, &transaction).values.first { return known }
        let waiting = try OperationQueue.operation(for: id, in: table, &transaction, schema)
        if let waiting, waiting.change.insertWaits { return nil }
        return try ItemMemoryStorage.isDroppedInsert(id, of: table, &transaction) ? nil : id
    }

    /// The same; nil also for a row that is not known.
    func knownServerID(of id: String, _ transaction: inout some StoreReading & ~Copyable) throws -> String? {
        let serverID = try serverID(of: id, &transaction)
        guard serverID == id, table.assignsIDs else { return serverID }
        // One that was kept where the server has none has no id there.
        let isKept = try ItemMemoryStorage.memory(of: id, in: table, &transaction).staysWithoutRow
        guard try !isKept || isMapped(id, &transaction) else { return nil }
        guard try transaction.record(.string(id), in: table.name) == nil else { return id }
        // It may be its deletion that waits; what is mapped is known anyway.
        return try isMapped(id, &transaction)
            || OperationQueue.operation(for: id, in: table, &transaction, schema) != nil ? id : nil
    }

    private func isMapped(_ id: String, _ transaction: inout some StoreReading & ~Copyable) throws -> Bool {
        try !IdentifierMapping.serverIDs(of: [id], in: table, &transaction).isEmpty
    }

    /// The server's ids of rows; those of rows that have none stay as they are.
    func serverIDs(
        of ids: [RecordID],
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [RecordID] {
        guard table.assignsIDs else { return ids }
        let known = try IdentifierMapping.serverIDs(of: ids.compactMap(\.stringValue), in: table, &transaction)
        return ids.map { id in
            id.stringValue.flatMap { known[OperationCoding.itemKey($0, table)] }.map(RecordID.string) ?? id
        }
    }

    /// A row with the server's ids in the columns that refer to others, in the letters of the rows that they name: to a server
    /// that compares ids as text, others would name nothing.
    func outgoing(_ row: Record, _ transaction: inout some StoreReading & ~Copyable) throws -> Record {
        var row = row
        for (column, other) in respelled {
            guard let id = row[column]?.stringValue,
                let spelled = try transaction.record(.string(id), in: other.name)?.id.stringValue
            else { continue }
            row[column] = .string(spelled)
        }
        for (column, other) in references {
            guard let id = row[column]?.stringValue,
                let known = try IdentifierMapping.serverIDs(of: [id], in: other, &transaction).values.first
            else { continue }
            row[column] = .string(known)
        }
        return row
    }

    /// What the server's row with a row's content says for certain, with the server's ids. It may name one that was made anew
    /// since by the id of before.
    func sought(_ row: Record, _ transaction: inout some StoreReading & ~Copyable) throws -> Record {
        var sought = try outgoing(row, &transaction)
        for (column, other) in references {
            guard let id = row[column]?.stringValue,
                try IdentifierMapping.hasFormerID(id, in: other, &transaction)
            else { continue }
            sought[column] = nil
        }
        return sought
    }

    /// The numbers of the inserts that have to be answered before a row can be sent, because it refers to their rows.
    func awaitedInserts(
        of row: Record,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [Int64] {
        var numbers: [Int64] = []
        for (column, other) in references {
            guard let id = row[column]?.stringValue,
                try IdentifierMapping.serverIDs(of: [id], in: other, &transaction).isEmpty,
                let waiting = try OperationQueue.operation(for: id, in: other, &transaction, schema),
                waiting.change.insertWaits
            else { continue }
            numbers.append(waiting.id)
        }
        return numbers
    }

    // MARK: From the server

    /// Rows of a page with local ids. Rows that are new here get new ones; those that only a row refers to get one in advance.
    /// A tombstone of a row that was never here is left out.
    func incoming(_ records: [Record], _ transaction: inout StoreTransaction) throws -> [Record] {
        guard isNeeded else { return records }
        let records = table.assignsIDs ? try withLocalIDs(records, &transaction) : records
        return try withLocalReferences(records, &transaction)
    }

    /// A row of the server of which it is known which local one it is. An id that has gone out as it is here, because nothing
    /// has it any more, stays what it is: otherwise the row would look like another one.
    func incoming(_ record: Record, as id: String, _ transaction: inout StoreTransaction) throws -> Record {
        guard isNeeded else { return record }
        var record = record
        if table.assignsIDs { record.id = .string(id) }
        let named = references.map(\.column).filter { record[$0]?.namesRow ?? false }
        guard !named.isEmpty else { return record }
        let kept = try columnsNamingAsHere(named, of: record, &transaction)
        let values = kept.map { record[$0] }
        for column in kept { record[column] = nil }
        record = try withLocalReferences([record], &transaction).first ?? record
        for (column, value) in zip(kept, values) { record[column] = value }
        return record
    }

    /// The columns in which a row with its local id names others as the row here does, or as it went out.
    private func columnsNamingAsHere(
        _ columns: [String],
        of record: Record,
        _ transaction: inout StoreTransaction
    ) throws -> [String] {
        guard let id = record.id.stringValue else { return [] }
        let local = try transaction.record(record.id, in: table.name)
        let kept = columns.filter { record[$0] == local?[$0] }
        guard kept.count < columns.count else { return kept }
        // The row may name another one since, or was deleted.
        let waiting = try OperationQueue.operation(for: id, in: table, &transaction, schema)?.change
        let known = [waiting?.base, waiting?.shown, waiting?.deletedRow] + (waiting?.sent.map(\.content) ?? [])
        return columns.filter { column in
            kept.contains(column) || known.contains { $0.map { $0[column] == record[column] } ?? false }
        }
    }

    private func withLocalIDs(_ records: [Record], _ transaction: inout StoreTransaction) throws -> [Record] {
        var (known, inAdvance) = try IdentifierMapping.localIDsAndMarks(
            ofServerIDs: records.compactMap(\.id.stringValue),
            in: table,
            &transaction
        )
        var recognition = try InsertRecognition(self, &transaction)
        let hasOperations = try OperationQueue.hasAny(of: table.name, &transaction)
        var new: [(local: String, server: String)] = []
        var arrived: [(local: String, server: String)] = []
        var translated: [Record] = []
        translated.reserveCapacity(records.count)
        for var record in records {
            guard let serverID = record.id.stringValue else { continue }
            var id = known[serverID]
            if let insert = try recognition.take(record, knownAs: id, &transaction) {
                id = insert
                inAdvance.remove(serverID)
            } else if id == nil, let made = try newID(for: record, hasOperations: hasOperations, &transaction) {
                new.append((made, serverID))
                id = made
            }
            guard let id else { continue }
            if inAdvance.remove(serverID) != nil { arrived.append((id, serverID)) }
            known[serverID] = id
            record.id = .string(id)
            translated.append(record)
        }
        // From here on the ids made in advance are theirs, also when they go again.
        try IdentifierMapping.add(new + arrived, in: table, &transaction)
        return translated
    }

    /// The local id of a row that comes for the first time; nil when none is needed.
    private func newID(for record: Record, hasOperations: Bool, _ transaction: inout StoreTransaction) throws -> String?
    {
        if let id = record.id.stringValue,
            let here = try ownID(ofServerID: id, mayBeDeleted: hasOperations, &transaction)
        {
            return here
        }
        return record.isDeleted ? nil : ItemID.make()
    }

    /// The local id of a row from before the table was declared to assign ids, which has the same on both sides; nil when there
    /// is none with it.
    func ownID(
        ofServerID id: String,
        mayBeDeleted: Bool = true,
        _ transaction: inout StoreTransaction
    ) throws -> String? {
        if let here = try transaction.record(.string(id), in: table.name)?.id.stringValue,
            try serverID(of: here, &transaction) == here
        {
            return here
        }
        return mayBeDeleted ? try deletedHere(id, in: table, &transaction) : nil
    }

    private func withLocalReferences(_ records: [Record], _ transaction: inout StoreTransaction) throws -> [Record] {
        var records = records
        for (column, other) in references {
            let ids = records.compactMap { $0[column]?.namesRow == true ? $0[column]?.stringValue : nil }
            var known = try IdentifierMapping.localIDs(namedBy: ids, in: other, &transaction)
            var new: [(local: String, server: String)] = []
            for index in records.indices {
                guard let value = records[index][column], value.namesRow, let serverID = value.stringValue else {
                    continue
                }
                let id: String
                if let before = known[serverID] {
                    id = before
                } else {
                    let here =
                        try transaction.record(.string(serverID), in: other.name)?.id.stringValue
                        ?? deletedHere(serverID, in: other, &transaction)
                    // One that went out as it is here is no id of the server: the row may still get one.
                    let isOurs =
                        try here.map { try IdentifierTranslation(other, schema).serverID(of: $0, &transaction) != $0 }
                        ?? !columnsNamingAsHere([column], of: records[index], &transaction).isEmpty
                    id = here ?? (isOurs ? serverID : ItemID.make())
                    known[serverID] = id
                    if !isOurs { new.append((id, serverID)) }
                }
                records[index][column] = .string(id)
            }
            try IdentifierMapping.add(new, in: other, isHere: false, &transaction)
        }
        return records
    }

    /// The id of a row that is not here because its deletion waits, and that the server has under its own name for it; nil
    /// when there is none.
    private func deletedHere(
        _ serverID: String,
        in other: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws -> String? {
        guard let waiting = try OperationQueue.operation(for: serverID, in: other, &transaction, schema),
            !waiting.change.insertWaits
        else { return nil }
        return waiting.itemID
    }
}

extension QueuedChange {
    /// Whether the server may not have the row yet, or has it without its id being known.
    var insertWaits: Bool { kind == .insert || sent.contains { $0.kind == .insert } }

    /// Whether the server may have no such row until this is sent, or has deleted it.
    var bringsRow: Bool {
        guard kind == .update else { return kind == .insert }
        return restores || sent.contains { $0.kind == .delete || $0.kind == .tombstone }
    }
}
