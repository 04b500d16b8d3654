internal import RemoteContract
internal import SyncContract

/// A remote that is spoken to in the names of this device and speaks in those of the server: every remote profits from what
/// tables say of names, and none has to know it.
struct WireNamedRemote<Base: SyncRemote>: SyncRemote, AnsweringRemote {
    let base: Base

    var replacesWholeRows: Bool { base.replacesWholeRows }
    var idRule: RowIDRule { base.idRule }
    var maximumBatchSize: Int { base.maximumBatchSize }
    var restoresInSteps: Bool { base.restoresInSteps }
    var keepsCreatedAt: Bool { base.keepsCreatedAt }

    var answerExecutor: (any TaskExecutor)? { (base as? any AnsweringRemote)?.answerExecutor }

    func send(_ batch: [RemoteOperation]) async throws -> [Result<RemoteOperationAnswer, any Error>] {
        let names = batch.map { WireNames($0.table) }
        let sent = zip(batch, names).map { operation, names in names.outgoing(operation) }
        let answers: [Result<RemoteOperationAnswer, any Error>]
        do {
            answers = try await base.send(sent)
        } catch {
            // It is about all of them; those of one table mostly.
            throw names.first?.incoming(error) ?? error
        }
        // Whoever asked finds out when they are too few.
        guard answers.count == batch.count else { return answers }
        return zip(answers, names)
            .map { answer, names in
                answer.map { answer in
                    if case .row(let row) = answer { .row(names.incoming(row)) } else { answer }
                }
                .mapError(names.incoming)
            }
    }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        let names = WireNames(table)
        return try await names.translating {
            names.incoming(try await base.insert(names.outgoing(record), into: names.table))
        }
    }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        let names = WireNames(table)
        return try await names.translating {
            names.incoming(
                try await base.update(
                    names.outgoing(record),
                    in: names.table,
                    version: version,
                    restoring: restoring
                )
            )
        }
    }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        let names = WireNames(table)
        return try await names.translating { try await base.delete(id, from: names.table, version: version) }
    }

    func writeTombstone(_ record: Record, in table: TableDefinition, version: String?) async throws -> Record? {
        let names = WireNames(table)
        return try await names.translating {
            try await base.writeTombstone(names.outgoing(record), in: names.table, version: version)
                .map(names.incoming)
        }
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        let names = WireNames(table)
        return try await names.translating { try await base.record(id, in: names.table).map(names.incoming) }
    }

    func confirm(_ table: TableDefinition) async throws {
        let names = WireNames(table)
        try await names.translating { try await base.confirm(names.table) }
    }

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        let names = WireNames(table)
        return try await names.translating {
            names.incoming(
                try await base.page(names.outgoing(query), of: names.table, at: position, pageSize: pageSize)
            )
        }
    }

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?,
        parameters: [String: String]
    ) async throws -> PullPage {
        let names = WireNames(table)
        return try await names.translating {
            names.incoming(
                try await base.page(
                    names.outgoing(query),
                    of: names.table,
                    at: position,
                    pageSize: pageSize,
                    parameters: parameters
                )
            )
        }
    }

    func check(parameters: [String: String]) throws { try base.check(parameters: parameters) }

    func mayRepeat(_ row: Record, of table: TableDefinition, after cursor: String) -> Bool {
        let names = WireNames(table)
        return base.mayRepeat(names.outgoing(row), of: names.table, after: cursor)
    }
}

extension WireNamedRemote: OnlineRemote where Base: OnlineRemote {
    func page(_ query: Query, of table: TableDefinition, includesDeleted: Bool) async throws -> RemotePage {
        let names = WireNames(table)
        return try await names.translating {
            var page = try await base.page(
                names.outgoing(query),
                of: names.table,
                includesDeleted: includesDeleted
            )
            page.records = names.incoming(page.records)
            page.setAside = names.incoming(page.setAside)
            return page
        }
    }

    func adding(parameters: [String: String]) throws -> any OnlineRemote {
        try base.adding(parameters: parameters).onlineInLocalNames()
    }

    func invokeAPI(_ call: APICall) async throws -> APIAnswer { try await base.invokeAPI(call) }
}

extension SyncRemote {
    /// This remote, spoken to in the names of the tables.
    func inLocalNames() -> any SyncRemote { WireNamedRemote(base: self) }
}

extension OnlineRemote {
    /// This remote, spoken to in the names of the tables, whatever table.
    func onlineInLocalNames() -> any OnlineRemote { WireNamedRemote(base: self) }
}

extension WireNames {
    fileprivate func incoming(_ page: PullPage) -> PullPage {
        var page = page
        page.records = incoming(page.records)
        page.setAside = incoming(page.setAside)
        return page
    }

    fileprivate func outgoing(_ operation: RemoteOperation) -> RemoteOperation {
        switch operation {
        case .insert(let row, into: _): .insert(outgoing(row), into: table)
        case .update(let row, in: _, let version, let restoring):
            .update(outgoing(row), in: table, version: version, restoring: restoring)
        case .delete(let id, from: _, let version): .delete(id, from: table, version: version)
        }
    }
}

extension RemoteOperation {
    fileprivate var table: TableDefinition {
        switch self {
        case .insert(_, let table), .update(_, let table, _, _), .delete(_, let table, _): table
        }
    }
}
