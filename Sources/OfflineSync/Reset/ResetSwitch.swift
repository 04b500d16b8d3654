internal import RemoteContract
internal import SyncContract
internal import SyncMachines

/// Puts the fresh rows in the place of those of before, inside one transaction of the store, and holds the changes that wait
/// against them. What is read is read in batches, so that memory stays flat.
struct ResetSwitch: Sendable {
    private static let rowsPerBatch = 500

    /// How much of a table was brought.
    enum Extent: Sendable, Hashable {
        /// Some of its rows, as a query chooses them: of others nothing is known.
        case part
        /// All of it: what did not come is not on the server.
        case whole
    }

    let schema: StoreSchema
    let storesUndeclaredColumns: Bool
    /// What was brought of which tables.
    let extents: [String: Extent]
    let discardsChanges: Bool
    /// Who is asked about conflicts, by the next push.
    let decisions: PushDecisions
    /// One that was started after every answer that was recorded: nothing here is older than an answer.
    let request: AnswerLog.Request

    func run(_ transaction: inout StoreTransaction) throws -> ResetReport {
        var report = ResetReport()
        for table in schema.syncedTables {
            try forget(table, &transaction)
            try recogniseInserts(of: table, &transaction)
            if discardsChanges, extents[table.name] == .part {
                try AttachmentMarks.keepDue(in: table, givingUp: true, schema, &transaction)
            }
            try settleChanges(of: table, &report, &transaction)
            guard let extent = extents[table.name] else { continue }
            try applyRows(of: table, &transaction)
            // The server may have rows that did not come, and nobody else their files.
            if extent == .part { try AttachmentMarks.keepDue(in: table, schema, &transaction) }
            try removeOthers(of: table, &transaction)
            for (queryID, query, cursor) in try FreshRows.cursors(of: table.name, &transaction) {
                try PullCursorStorage.set(cursor, queryID, of: table.name, query: query, &transaction)
            }
        }
        try AttachmentMarks.doubtAll(&transaction)
        if discardsChanges { try CancelledInserts.removeAll(&transaction, schema) }
        return report
    }

    /// Forgets what was known of the server's rows, but for what was deleted and what may still arrive. Pulls start from the beginning, unless fresh rows have brought a cursor.
    private func forget(_ table: TableDefinition, _ transaction: inout StoreTransaction) throws {
        try Purge.removeTraces(of: table.name, &transaction)
        try ItemMemoryStorage.forgetVersions(of: table, &transaction)
        try PullCursorStorage.removeAll(of: table.name, &transaction)
    }

    /// Finds the rows that inserts have made whose answers were lost, where only the content can tell: what waits for them is
    /// held against these rows.
    private func recogniseInserts(of table: TableDefinition, _ transaction: inout StoreTransaction) throws {
        guard table.assignsIDs, extents[table.name] != nil else { return }
        var recognition = try InsertRecognition(IdentifierTranslation(table, schema), &transaction)
        guard !recognition.isEmpty else { return }
        try FreshRows.forEachBatch(of: table, &transaction) { batch, transaction in
            let records = batch.compactMap(\.record)
            let known = try IdentifierMapping.localIDs(
                ofServerIDs: records.compactMap(\.id.stringValue),
                in: table,
                &transaction
            )
            for record in records {
                _ = try recognition.take(record, knownAs: record.id.stringValue.flatMap { known[$0] }, &transaction)
            }
        }
    }

    // MARK: Changes that wait

    private func settleChanges(
        of table: TableDefinition,
        _ report: inout ResetReport,
        _ transaction: inout StoreTransaction
    ) throws {
        let filledColumns = try FilledColumns.names(of: table, &transaction)
        for number in try OperationQueue.numbers(of: table.name, &transaction) {
            guard let operation = try OperationQueue.operation(number, &transaction, schema) else { continue }
            let seen = try seen(operation, table, &transaction)
            try OperationQueue.removeErrors(of: operation, &transaction)
            var item = try QueuedItem(
                operation,
                table,
                storesUndeclaredColumns: storesUndeclaredColumns,
                &transaction
            )
            let row = try transaction.record(.string(operation.itemID), in: table.name)
            // What takes back an earlier change is none of the app's.
            if !operation.isUndo { report.waiting += 1 }
            if discardsChanges, !operation.isUndo {
                report.discarded += 1
                try DiscardedChanges.keep(operation, row, at: .current, &transaction)
                try item.save(giveUp(&item, seen), &transaction)
            } else {
                var comparison = TableRowComparison(
                    table,
                    schema,
                    shownColumns: try ConfigurationTable.shownColumns(of: table, &transaction),
                    mayBeOwn: !operation.change.sent.isEmpty || item.machine.memory.hasSent
                )
                comparison.filledColumns = filledColumns
                let (outcome, effect) = item.machine.reset(
                    onto: seen,
                    row.map(table.withoutLocalColumns),
                    comparison
                )
                try conclude(outcome, operation, row, &report, &transaction)
                if outcome == .done, !operation.isUndo { item.done(through: operation.editCounter) }
                try item.save(effect, &transaction)
            }
        }
    }

    private func giveUp(_ item: inout QueuedItem, _ seen: SeenOnServer<Record>) -> RowEffect<Record> {
        switch seen {
        case .row(let shown): return item.machine.giveUp(for: shown)
        case .nothing: return item.machine.giveUp(for: nil)
        // Its table was not brought: the row is as it was before the change.
        case .hidden, .refused:
            let effect = item.machine.discard()
            item.machine.memory.forgetVersions()
            // What takes it back names no version of before, which may be another row's by now, and has nothing go over that.
            item.machine.change?.baseVersion = nil
            if item.machine.change?.kind == .update { item.machine.change?.base = nil }
            return effect
        }
    }

    private func conclude(
        _ outcome: ItemOutcome<Record>,
        _ operation: TableOperation,
        _ row: Record?,
        _ report: inout ResetReport,
        _ transaction: inout StoreTransaction
    ) throws {
        guard !operation.isUndo else { return }
        switch outcome {
        case .done: report.settled += 1
        case .conflict(let shown):
            report.conflicts += 1
            var error = conflict(operation, row, shown)
            error.isUnasked = decisions.areMade(about: error)
            try transaction.upsert([OperationErrorCoding.record(error)], into: SystemTables.operationErrors.name)
        default: report.recovered += 1
        }
    }

    private func conflict(
        _ operation: TableOperation,
        _ row: Record?,
        _ shown: Record?
    ) -> TableOperationError<Record> {
        TableOperationError(
            id: ItemID.make(),
            operationID: operation.id,
            table: operation.table,
            itemID: operation.itemID,
            kind: operation.kind,
            isConflict: true,
            status: nil,
            message: shown == nil
                ? "the server has lost its history, and has no such item any more"
                : "the server has lost its history, and has another row",
            item: row ?? operation.deletedItem,
            serverItem: shown,
            isMissingOnServer: shown == nil,
            isDeletedOnServer: shown?.isDeleted ?? true,
            rawExchange: nil,
            editCounter: operation.editCounter
        )
    }

    /// What the server has of a change's row.
    private func seen(
        _ operation: TableOperation,
        _ table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws -> SeenOnServer<Record> {
        guard let extent = extents[table.name] else { return .hidden }
        let translation = IdentifierTranslation(table, schema)
        // An insert whose id on the server is not known is recognised by its content, when the rows are applied.
        guard let serverID = try translation.serverID(of: operation.itemID, &transaction) else { return .hidden }
        guard let entry = try FreshRows.row(serverID, of: table, &transaction) else {
            return extent == .whole || discardsChanges ? .nothing : .hidden
        }
        guard let record = entry.record else { return .hidden }
        return .row(try translation.incoming(record, as: operation.itemID, &transaction))
    }

    // MARK: Rows

    private func applyRows(of table: TableDefinition, _ transaction: inout StoreTransaction) throws {
        let application = PageApplication(
            table: table,
            schema: schema,
            storesUndeclaredColumns: storesUndeclaredColumns
        )
        try FreshRows.forEachBatch(of: table, &transaction) { batch, transaction in
            var records = batch.compactMap(\.record)
            if !discardsChanges { try keepRowsOverTombstones(among: &records, of: table, &transaction) }
            let counts = try application.apply(records, from: request, &transaction)
            for hasParameters in [false, true] {
                let rows = batch.filter { $0.hasParameters == hasParameters }.compactMap(\.setAside)
                try SetAsideStorage.insert(
                    hasParameters ? rows : rows + counts.setAside,
                    of: table,
                    areFirst: true,
                    hasParameters: hasParameters,
                    &transaction
                )
            }
        }
    }

    /// Passes over tombstones of rows that were kept where the server had none, or a tombstone: the next change brings them back.
    private func keepRowsOverTombstones(
        among records: inout [Record],
        of table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        let deleted = records.filter(\.isDeleted).compactMap(\.id.stringValue)
        guard !deleted.isEmpty else { return }
        let known =
            table.assignsIDs ? try IdentifierMapping.localIDs(ofServerIDs: deleted, in: table, &transaction) : [:]
        let keys = deleted.map { OperationCoding.itemKey(known[$0] ?? $0, table) }
        let staying = try ItemMemoryStorage.staying(among: keys, in: table, &transaction)
        guard !staying.isEmpty else { return }
        try records.removeAll { record in
            guard record.isDeleted, let serverID = record.id.stringValue else { return false }
            let id = known[serverID] ?? serverID
            guard staying.contains(OperationCoding.itemKey(id, table)) else { return false }
            var memory = try ItemMemoryStorage.memory(of: id, in: table, &transaction)
            guard memory.isKeptWithoutRow, !memory.hasSent else { return false }
            guard try OperationQueue.operation(for: id, in: table, &transaction, schema) == nil else { return false }
            memory.keep(over: record)
            try ItemMemoryStorage.set(memory, of: id, in: table, &transaction)
            return true
        }
    }

    /// Removes the rows that did not come, unless a change waits for them, or they were kept where the server had none. Who
    /// gives up what is only here gives those up as well.
    private func removeOthers(of table: TableDefinition, _ transaction: inout StoreTransaction) throws {
        let translation = IdentifierTranslation(table, schema)
        var last: RecordID?
        while true {
            var query = Query(table.name).ordered(by: "id").limited(to: Self.rowsPerBatch).selecting([])
            if let last { query = query.filtered(by: Column("id") > last.fieldValue) }
            let ids = try transaction.records(query).map(\.id)
            guard let end = ids.last else { return }
            let came = try FreshRows.came(translation.serverIDs(of: ids, &transaction), of: table, &transaction)
            let others = zip(ids, came).filter { !$0.1 }.map(\.0)
            let keys = others.compactMap(\.stringValue).map { OperationCoding.itemKey($0, table) }
            var staying = try OperationQueue.waitingItemKeys(among: keys, in: table, &transaction)
            if !discardsChanges {
                staying.formUnion(try ItemMemoryStorage.staying(among: keys, in: table, &transaction))
            }
            let gone = others.filter { id in
                id.stringValue.map { !staying.contains(OperationCoding.itemKey($0, table)) } ?? true
            }
            try transaction.delete(gone, from: table.name)
            last = end
        }
    }
}
