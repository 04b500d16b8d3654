internal import RemoteContract
internal import SyncContract

/// A device's way to the server.
struct SimulatedRemote: SyncRemote {
    let life: DeviceLife
    let world: World

    var replacesWholeRows: Bool { world.settings.replacesWholeRows }
    var maximumBatchSize: Int { world.settings.batchSize }
    var restoresInSteps: Bool { world.settings.restoresInTwoSteps }

    func mayRepeat(_ row: Record, of table: TableDefinition, after cursor: String) -> Bool {
        guard !world.settings.pullsByStamp else { return true }
        // What was written here has not come yet.
        let key = world.settings.key(row.id.stringValue ?? "", in: table.name)
        return world.server.mayBring(row.version, of: key, after: cursor)
    }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        asAnswered(try await inserted(record, into: table))
    }

    private func inserted(_ record: Record, into table: TableDefinition) async throws -> Record {
        try self.record(in: await send(.insert(record), table))
    }

    /// The row that an answer to a change shows.
    private func asAnswered(_ row: Record) -> Record {
        var row = row
        if !world.settings.namesNewVersions { row["version"] = nil }
        return row
    }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        asAnswered(try await updated(record, in: table, version: version, restoring: restoring))
    }

    private func updated(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        guard restoring, world.settings.restoresInTwoSteps else {
            return try self.record(in: await send(.update(record, version: version, restores: restoring), table))
        }
        let restored: Record
        do {
            restored = try self.record(
                in: await send(.undelete(record.id.stringValue ?? "", version: version), table)
            )
        } catch let error as RemoteError where error.code == .unfitRow {
            // It is back, whatever it holds, and is written next.
            guard let row = error.serverRecord, row.version != nil else { throw error }
            restored = row
        }
        // A tombstone that was filled before has the content already.
        guard record.fields.contains(where: { restored[$0.key] ?? .null != $0.value }) else { return restored }
        return try self.record(
            in: await send(.update(record, version: version == nil ? nil : restored.version, restores: false), table)
        )
    }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        guard
            case .deletion(let said) = try await send(
                .delete(id, version: version, deletion: deletion(of: .string(id), table)),
                table
            )
        else { throw Self.nonsense }
        return said
    }

    /// What refuses a row for its content refuses every insert with it, however late; what is refused because of other rows is
    /// told in another way.
    func writeTombstone(_ record: Record, in table: TableDefinition, version: String?) async throws -> Record? {
        do {
            return try await tombstone(record, in: table, version: version)
        } catch let error as RemoteError where (error.status == 400 || error.status == 422) && !error.wasPartlyDone {
            if version == nil {
                world.forgetLateInserts(of: life.names.fromWire(record, isWhole: true), in: table.name)
            }
            throw error
        }
    }

    private func tombstone(_ record: Record, in table: TableDefinition, version: String?) async throws -> Record? {
        let deletion = deletion(of: record.id, table)
        if version != nil || (world.settings.replacesWholeRows && !world.settings.deletesForGood) {
            let request = ServerRequest.tombstone(record, version: version, deletion: deletion)
            let tombstone = try self.record(in: await send(request, table))
            return world.settings.showsTombstones ? tombstone : nil
        }
        // There is no word for a row that is made as a deleted one.
        let row = try await inserted(record, into: table)
        do {
            _ = try await delete(record.id.stringValue ?? "", from: table, version: row.version)
        } catch var error as RemoteError {
            error.wasPartlyDone = true
            throw error
        }
        return nil
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        guard case .found(let record) = try await send(.record(id), table) else { throw Self.nonsense }
        return record
    }

    func confirm(_ table: TableDefinition) async throws {
        guard case .confirmed = try await send(.confirm, table) else { throw Self.nonsense }
    }

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        guard case .page(let page) = try await send(.page(position, pageSize: pageSize), table) else {
            throw Self.nonsense
        }
        return page
    }

    func send(_ batch: [RemoteOperation]) async throws -> [Result<RemoteOperationAnswer, any Error>] {
        let exchanges = batch.map { operation in
            Task(executorPreference: world.executor) { try await send(operation) }
        }
        return try await withTaskCancellationHandler {
            var answers: [Result<RemoteOperationAnswer, any Error>] = []
            for exchange in exchanges { answers.append(await exchange.result) }
            return try await world.answer(toBatch: answers, of: life)
        } onCancel: {
            for exchange in exchanges { exchange.cancel() }
        }
    }

    private func send(_ operation: RemoteOperation) async throws -> RemoteOperationAnswer {
        switch operation {
        case .insert(let record, let table): .row(try await insert(record, into: table))
        case .update(let record, let table, let version, let restoring):
            .row(try await update(record, in: table, version: version, restoring: restoring))
        case .delete(let id, let table, let version):
            .deletion(try await delete(id, from: table, version: version))
        }
    }

    /// The deletion that a request carries: the latest one of this device.
    private func deletion(of id: RecordID, _ table: TableDefinition) -> String {
        world.ledger.deletion(of: world.settings.key(id.stringValue ?? "", in: table.name), by: life.device)
    }

    private func record(in answer: ServerAnswer) throws -> Record {
        guard case .record(let record) = answer else { throw Self.nonsense }
        return record
    }

    private static var nonsense: RemoteError { RemoteError(.invalidResponse, "the simulation answered something else") }

    private func send(_ request: ServerRequest, _ table: TableDefinition) async throws -> ServerAnswer {
        guard !life.isOver else { throw Killed() }
        RequestCounter.countRequest()
        let names = life.names
        if request.row.map({ row in names.unknown.contains { row[$0] != nil } }) ?? false {
            world.fail("\(Device.name(life.device)) sends a column that the server does not know")
        }
        let isWhole = request.makesRow || world.settings.replacesWholeRows
        let message = Message(
            request.changingRow { names.fromWire($0, isWhole: isWhole) },
            in: table.name,
            from: life.device
        )
        do {
            let answer = try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    message.continuation = continuation
                    world.post(message, of: life)
                }
            } onCancel: {
                message.isCancelled = true
            }
            return try fitting(answer).changingRows(names.onWire)
        } catch let error as RemoteError where error.code == .conflict && error.serverRecord?.isUnfit ?? false {
            throw RemoteError(
                .conflict,
                error.message,
                status: error.status,
                cause: error.serverRecord.map { unfit($0, isNamed: true) }
            )
        } catch let error as RemoteError where error.code == .conflict && error.serverRecord != nil {
            throw RemoteError(
                error.code,
                error.message,
                status: error.status,
                serverRecord: error.serverRecord.map(names.onWire)
            )
        }
    }
}
