public import RemoteContract
internal import SyncContract

/// The further parameters of every request that the calling task sends for a table. A page may take several requests, row by row
/// when one of its rows spoils it: all of them carry the parameters.
enum RequestParameters {
    @TaskLocal static var current: [String: String] = [:]

    /// Runs what is not for the table: the app's own code that gives the credentials may ask other services.
    static func outside<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        try await $current.withValue([:]) { try await RequestCounter.outside(body) }
    }
}

/// A service each of whose tables is asked with further parameters.
struct ParameterizedRemote: OnlineRemote {
    let base: DatasyncRemote
    let parameters: [String: String]

    var replacesWholeRows: Bool { base.replacesWholeRows }
    var idRule: RowIDRule { base.idRule }
    var restoresInSteps: Bool { base.restoresInSteps }
    var keepsCreatedAt: Bool { base.keepsCreatedAt }

    private func asking<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await RequestParameters.$current.withValue(parameters) { try await body() }
    }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try await asking { try await base.insert(record, into: table) }
    }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        try await asking { try await base.update(record, in: table, version: version, restoring: restoring) }
    }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        try await asking { try await base.delete(id, from: table, version: version) }
    }

    func writeTombstone(_ record: Record, in table: TableDefinition, version: String?) async throws -> Record? {
        try await asking { try await base.writeTombstone(record, in: table, version: version) }
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        try await asking { try await base.record(id, in: table) }
    }

    func confirm(_ table: TableDefinition) async throws {
        try await asking { try await base.confirm(table) }
    }

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        try await asking { try await base.page(query, of: table, at: position, pageSize: pageSize) }
    }

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?,
        parameters: [String: String]
    ) async throws -> PullPage {
        let all = self.parameters.merging(parameters) { $1 }
        return try await base.page(query, of: table, at: position, pageSize: pageSize, parameters: all)
    }

    func check(parameters: [String: String]) throws { try base.check(parameters: parameters) }

    func mayRepeat(_ row: Record, of table: TableDefinition, after cursor: String) -> Bool {
        base.mayRepeat(row, of: table, after: cursor)
    }

    func page(_ query: Query, of table: TableDefinition, includesDeleted: Bool) async throws -> RemotePage {
        try await asking { try await base.page(query, of: table, includesDeleted: includesDeleted) }
    }

    func invokeAPI(_ call: APICall) async throws -> APIAnswer { try await base.invokeAPI(call) }

    func adding(parameters: [String: String]) throws -> any OnlineRemote {
        try base.adding(parameters: self.parameters.merging(parameters) { $1 })
    }
}

extension DatasyncRemote {
    /// This service, whose tables are asked with further parameters; see
    /// ``/RemoteContract/OnlineRemote/adding(parameters:)``.
    public func adding(parameters: [String: String]) throws -> any OnlineRemote {
        try Self.check(parameters)
        return ParameterizedRemote(base: self, parameters: parameters)
    }
}
