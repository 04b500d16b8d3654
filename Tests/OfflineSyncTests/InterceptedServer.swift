import DatasyncHTTP
import RemoteContract
import Synchronization
import SyncContract

/// The real adapter with a hand on the wire: runs code while a request is under way, or loses its answer.
final class InterceptedServer: SyncRemote {
    /// What happens to the next request that changes a row.
    enum Interception: Sendable {
        /// Runs after the server answered, whatever it answered, and before the engine sees the answer.
        case whileUnderWay(@Sendable () async throws -> Void)
        /// The server carries the request out, the answer is lost.
        case answerLost
        /// The request never reaches the server.
        case requestLost
        /// The request reaches the server when ``InterceptedServer/deliver()`` lets it, after the engine has given it up.
        case late
    }

    private let server: DatasyncRemote
    private let late = Mutex<[@Sendable () async -> Void]>([])
    private let interceptions = Mutex<[Interception]>([])
    private let afterPage = Mutex<(@Sendable () async throws -> Void)?>(nil)

    /// How many changes it takes at a time, which it makes one by one.
    let maximumBatchSize: Int

    init(_ server: DatasyncRemote, batchSize: Int = 1) {
        self.server = server
        maximumBatchSize = batchSize
    }

    /// Queues what happens to the next requests, one each.
    func intercept(_ next: Interception...) { interceptions.withLock { $0 += next } }

    /// Lets the requests arrive that are late, in their order.
    func deliver() async {
        let requests = late.withLock { requests in
            defer { requests = [] }
            return requests
        }
        for request in requests { await request() }
    }

    /// Lets all requests through from here on.
    func clearInterceptions() { interceptions.withLock { $0 = [] } }

    /// Runs once, after the server answered with the next page and before the engine sees it.
    func afterNextPage(_ body: @escaping @Sendable () async throws -> Void) { afterPage.withLock { $0 = body } }

    var replacesWholeRows: Bool { server.replacesWholeRows }
    var restoresInSteps: Bool { server.restoresInSteps }
    var requestCount: Int { server.requestCount }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try await intercepted { [server] in try await server.insert(record, into: table) }
    }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        try await intercepted { [server] in
            try await server.update(record, in: table, version: version, restoring: restoring)
        }
    }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        try await intercepted { [server] in try await server.delete(id, from: table, version: version) }
    }

    func writeTombstone(_ record: Record, in table: TableDefinition, version: String?) async throws -> Record? {
        try await intercepted { [server] in try await server.writeTombstone(record, in: table, version: version) }
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        try await server.record(id, in: table)
    }

    func confirm(_ table: TableDefinition) async throws { try await server.confirm(table) }

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        try await page(query, of: table, at: position, pageSize: pageSize, parameters: [:])
    }

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?,
        parameters: [String: String]
    ) async throws -> PullPage {
        let page = try await server.page(query, of: table, at: position, pageSize: pageSize, parameters: parameters)
        let body = afterPage.withLock { body in
            defer { body = nil }
            return body
        }
        try await body?()
        return page
    }

    func check(parameters: [String: String]) throws { try server.check(parameters: parameters) }

    func mayRepeat(_ row: Record, of table: TableDefinition, after cursor: String) -> Bool {
        server.mayRepeat(row, of: table, after: cursor)
    }

    private func intercepted<Value: Sendable>(
        _ request: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let next = interceptions.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if case .late = next {
            // Nobody hears the answer, whatever it is.
            late.withLock { $0.append { _ = try? await request() } }
            throw RemoteError(.unreachable, "given up, on purpose")
        }
        if case .requestLost = next { throw RemoteError(.unreachable, "lost on the way there, on purpose") }
        let value: Value
        do {
            value = try await request()
        } catch let error as RemoteError where error.wouldShowTombstone {
            // It comes again at once, and that is the one that is meant.
            if let next { interceptions.withLock { $0.insert(next, at: 0) } }
            throw error
        } catch {
            if case .whileUnderWay(let body) = next { try await body() }
            throw error
        }
        switch next {
        case nil, .requestLost, .late: break
        case .whileUnderWay(let body): try await body()
        case .answerLost: throw RemoteError(.unreachable, "lost on the way back, on purpose")
        }
        return value
    }
}
