internal import RemoteContract
internal import SyncContract
internal import SyncMachines

/// Applies rows of the server inside a transaction of the store. Rows with a waiting local change are left alone; the
/// server's copy is kept beside the change. Rows that are here with this version and this content are passed over.
struct PageApplication: Sendable {
    struct Counts: Sendable {
        /// The rows that were written.
        var written: [RecordID] = []
        var deleted = 0
        /// The rows that were left alone. A pull may see one twice.
        var skipped: Set<RecordID> = []
        /// How many rows were passed over because the page is older than an answer, and are to be fetched by id.
        var overtaken = 0
        /// Rows that the server keeps apart from local ones that the table takes for the same.
        var setAside: [SetAsideRow] = []
        /// Local rows of which it is not known whether the server has them besides ones whose ids differ in case only.
        var suspected: Set<RecordID> = []

        var received: Int { written.count }
    }

    let table: TableDefinition
    let schema: StoreSchema
    let storesUndeclaredColumns: Bool
    /// Of local rows, what the server has said when it was asked for them.
    var spellings: [RecordID: Spelling] = [:]

    /// Whether the server has a local row in this very spelling, beside one whose id differs in case only.
    enum Spelling: Sendable { case isThere, isGone, isUnanswered }

    /// Applies rows in their order. Of two rows of one id the later one counts. A row for which an answer was recorded
    /// since the request was started is passed over, and marked: which of both is newer only the server can say.
    func apply(
        _ records: [Record],
        from request: AnswerLog.Request,
        _ transaction: inout StoreTransaction
    ) throws -> Counts {
        let ownsFiles = table.columns.contains { $0.attachment == .owns && !$0.isLocal }
        var counts = Counts()
        let current = try withoutFormer(records, &counts, request, &transaction)
        let incoming = try IdentifierTranslation(table, schema).incoming(current, &transaction)
        let records = latest(incoming)
        var spellings = spellings
        for id in records.count == incoming.count ? [] : gone(incoming) { spellings[id] = .isGone }
        // Apart, because the store tries first what the row before has wanted.
        var changed: [Record] = []
        var new: [Record] = []
        var deletions: [RecordID] = []
        var merge = try ServerRowMerge(table, storesUndeclaredColumns: storesUndeclaredColumns, &transaction)
        // What one row of the page shows is known for all of them.
        for record in records where !record.isDeleted { merge.see(record) }
        // Looked up once for the page. What is done with one row changes nothing of this for another.
        let itemKeys = { records.compactMap { $0.id.stringValue.map { OperationCoding.itemKey($0, table) } } }
        let waiting = try OperationQueue.operations(for: itemKeys, in: table, &transaction, schema)
        let remembered = try ItemMemoryStorage.remembered(among: itemKeys, in: table, &transaction)
        // Mostly nothing is known of any.
        let isAnyKnown = !waiting.isEmpty || !remembered.isEmpty
        let mayBeOvertaken = request.isOlderThanAnyAnswer
        let comparison = TableRowComparison(table, schema, shownColumns: merge.shownColumns)
        for record in records {
            if mayBeOvertaken, request.isOlderThanAnswer(for: record.id, in: table) {
                if try overtake(record, &transaction) { counts.overtaken += 1 }
                continue
            }
            let key = isAnyKnown ? record.id.stringValue.map { OperationCoding.itemKey($0, table) } : nil
            if let operation = key.flatMap({ waiting[.string($0)] }) {
                if let id = record.id.stringValue, id != operation.itemID {
                    let local = try transaction.record(record.id, in: table.name)
                    guard !collides(record, with: local, spellings, &counts) else { continue }
                    // The change hides it, and may come to an end that brings another row.
                    if !record.isDeleted { try ConfigurationTable.requestRefetch(of: id, in: table.name, &transaction) }
                }
                counts.skipped.insert(record.id)
                try keepBeside(operation, record, comparison, &transaction)
                continue
            }
            let isDeleted = record.isDeleted
            let isRemembered = key.map(remembered.contains) ?? false
            let local: Record?
            if isDeleted || isRemembered {
                local = try transaction.record(record.id, in: table.name)
            } else {
                switch try transaction.stored(record, ignoring: merge.ignored, in: table.name) {
                case .missing: local = nil
                case .asExpected: continue
                case .other(let row): local = row
                }
            }
            guard !collides(record, with: local, spellings, &counts) else { continue }
            if isDeleted && local != nil || isRemembered {
                let isApplied = try remember(
                    record,
                    isHere: local != nil,
                    isRemembered: isRemembered,
                    comparison,
                    &transaction
                )
                guard isApplied else {
                    counts.skipped.insert(record.id)
                    continue
                }
            }
            if isDeleted {
                if let local {
                    deletions.append(record.id)
                    if ownsFiles { try AttachmentMarks.doubt(filesOf: local, ownedIn: table, but: nil, &transaction) }
                }
            } else if let change = merge.replacement(of: local, by: record) {
                if ownsFiles, let local {
                    try AttachmentMarks.doubt(filesOf: local, ownedIn: table, but: change.row, &transaction)
                }
                if change.replacesRow { try transaction.delete([record.id], from: table.name) }
                if local == nil || change.replacesRow { new.append(change.row) } else { changed.append(change.row) }
            }
        }
        try transaction.upsert(changed, into: table.name)
        try transaction.upsert(new, into: table.name)
        counts.written = changed.map(\.id) + new.map(\.id)
        counts.deleted = try transaction.delete(deletions, from: table.name)
        try merge.remember(&transaction)
        return counts
    }

    /// The rows of a page without those that the server had before an answer showed that it has them no more, and that were made
    /// anew under another id: it would take them for new ones. What it has now is asked for.
    private func withoutFormer(
        _ records: [Record],
        _ counts: inout Counts,
        _ request: AnswerLog.Request,
        _ transaction: inout StoreTransaction
    ) throws -> [Record] {
        guard table.assignsIDs, request.isOlderThanAnyAnswer else { return records }
        let ids = records.compactMap(\.id.stringValue)
        let former = try IdentifierMapping.localIDs(ofFormerIDs: ids, in: table, &transaction)
            .filter { request.isOlderThanAnswer(for: .string($0.value), in: table) }
        guard !former.isEmpty else { return records }
        for id in Set(former.values) { try ConfigurationTable.requestRefetch(of: id, in: table.name, &transaction) }
        counts.overtaken += former.count
        return records.filter { record in record.id.stringValue.map { former[$0] == nil } ?? true }
    }

    /// Whether the server keeps a row apart from the local one that is found under its id, as far as is known. Then it is set
    /// aside, unless it is deleted.
    private func collides(
        _ record: Record,
        with local: Record?,
        _ spellings: [RecordID: Spelling],
        _ counts: inout Counts
    ) -> Bool {
        guard let local, let id = record.id.stringValue, let localID = local.id.stringValue,
            IDCaseCollisions.isSuspected(record, besides: local, in: table)
        else { return false }
        let spelling = spellings[local.id]
        guard spelling != .isGone else { return false }
        if spelling == nil { counts.suspected.insert(local.id) }
        guard !record.isDeleted || spelling != .isThere else { return true }
        var row = SetAsideRow(id: id, reason: IDCaseCollisions.reason("'\(localID)'", table))
        // Who cannot ask, or was not answered, leaves it to the next pull.
        row.mayPass = spelling != .isThere
        counts.setAside.append(row)
        return true
    }

    /// Marks a row in a page that was asked for before an answer for the item was recorded, unless the row is here just like
    /// this already. It may be older than what the answer has shown, and nothing in it tells: after an own deletion there is
    /// nothing to compare with. It is not looked at, and asked for by its id.
    private func overtake(_ record: Record, _ transaction: inout StoreTransaction) throws -> Bool {
        guard let id = record.id.stringValue else { return false }
        let local = try transaction.record(record.id, in: table.name)
        if let local, !record.isDeleted, let version = record.version, version == local.version,
            !local.contradicts(record)
        {
            return false
        }
        try ConfigurationTable.requestRefetch(of: id, in: table.name, &transaction)
        return true
    }

    /// The rows without those that come again later. Mostly none does.
    private func latest(_ records: [Record]) -> [Record] {
        var seen = Set<RecordID>(minimumCapacity: records.count)
        let isNew = { (record: Record) in seen.insert(record.id.folded(for: table.idComparison)).inserted }
        guard !records.allSatisfy(isNew) else { return records }
        seen.removeAll(keepingCapacity: true)
        return records.reversed().filter(isNew).reversed()
    }

    /// The spellings that a page says are deleted: of each the last row counts.
    private func gone(_ records: [Record]) -> [RecordID] {
        guard table.idComparison != .exact else { return [] }
        return Dictionary(records.map { ($0.id, $0.isDeleted) }) { $1 }.filter(\.value).map(\.key)
    }

    private func keepBeside(
        _ operation: TableOperation,
        _ record: Record,
        _ comparison: TableRowComparison,
        _ transaction: inout StoreTransaction
    ) throws {
        var item = try QueuedItem(operation, table, storesUndeclaredColumns: storesUndeclaredColumns, &transaction)
        let (_, effect) = item.machine.pulled(record, isHere: true, comparison)
        try item.save(effect, &transaction)
    }

    /// What a row without a waiting change makes of what is remembered of it.
    ///
    /// - Returns: Whether it takes the place of the local one: not where that one was kept over it.
    private func remember(
        _ record: Record,
        isHere: Bool,
        isRemembered: Bool,
        _ comparison: TableRowComparison,
        _ transaction: inout StoreTransaction
    ) throws -> Bool {
        guard let id = record.id.stringValue else { return true }
        let before = isRemembered ? try ItemMemoryStorage.memory(of: id, in: table, &transaction) : ItemMemory()
        var machine = ItemMachine<Record>(memory: before)
        let (verdict, _) = machine.pulled(record, isHere: isHere, comparison)
        if machine.memory != before { try ItemMemoryStorage.set(machine.memory, of: id, in: table, &transaction) }
        return verdict == .apply
    }
}
