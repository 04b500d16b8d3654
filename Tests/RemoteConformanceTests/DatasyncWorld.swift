import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import HTTPTransport
import RecordJSON
import RemoteConformance
import RemoteContract
import SyncContract
import Synchronization

/// The adapter over the emulator, in one of the protocols, without sockets and with a clock of its own.
struct DatasyncHarness: RemoteHarness {
    let dialect: DatasyncDialect
    var pageSize: Int? = 10
    var settlingTime: Duration = .seconds(10)
    /// What stands between the rules and the adapter: a fault, in tests of the rules.
    var wrapping: @Sendable (any SyncRemote) -> any SyncRemote = { $0 }

    var name: String { "DatasyncRemote, protocol \(dialect.rawValue)" }

    func makeWorld(_ table: TableDefinition) async throws -> any RemoteWorld { DatasyncWorld(self, table) }

    /// The Node server has JavaScript's numbers, and keeps nothing of an object or a list.
    func keeps(_ value: FieldValue) -> Bool {
        guard dialect == .azureMobileApps else { return true }
        switch value {
        case .int64(let number): return number.magnitude <= 1 << 53
        case .decimal(let number): return Double(number.text)?.description == number.text
        case .json: return false
        default: return true
        }
    }
}

private struct EmulatorFailure: Error, CustomStringConvertible {
    let description: String
}

final class DatasyncWorld: RemoteWorld {
    private struct State {
        /// Milliseconds since 1970; time passes with requests and changes only.
        var now: Int64 = 1_760_000_000_000
        var requests = 0
        var parameters: [[String: String]] = []
        var fault: RemoteFault?
        var hidden: Set<String> = []
        var held: HeldWrite?
        var choosesIDs = false
        /// What is done before a request, and how many come until then.
        var interposed: (count: Int, action: @Sendable () async throws -> Void)?
    }

    /// A write that waits for its commit.
    private struct HeldWrite: Sendable {
        let begun = AsyncStream<Never>.makeStream()
        let released = AsyncStream<Never>.makeStream()
    }

    private let harness: DatasyncHarness
    private let table: TableDefinition
    private let emulator: Emulator
    private let state: Box

    /// The emulator refers to the state, and the world to both.
    private final class Box: Sendable {
        let state = Mutex(State())
    }

    init(_ harness: DatasyncHarness, _ table: TableDefinition) {
        self.harness = harness
        self.table = table
        let state = Box()
        self.state = state
        var configuration = EmulatorConfiguration(
            dialect: harness.dialect == .datasync ? .datasync : .azureMobileApps,
            tables: [EmulatedTableDefinition(table.name, columns: Self.columns(table, harness), softDelete: true)]
        )
        configuration.pageSize = harness.pageSize
        configuration.clock = { state.state.withLock(\.now) }
        // Every write could wait between its stamp and its commit; only those that are held do.
        configuration.store.commitDelay = .milliseconds(1)
        configuration.store.pause = { _ in
            guard
                let held = state.state.withLock({ state in
                    defer { state.held = nil }
                    return state.held
                })
            else { return }
            held.begun.continuation.finish()
            for await _ in held.released.stream {}
        }
        emulator = Emulator(configuration)
    }

    /// Only a column that is declared keeps the digits of a decimal number. Other tables keep whatever comes.
    private static func columns(
        _ table: TableDefinition,
        _ harness: DatasyncHarness
    ) -> EmulatedTableDefinition.Columns {
        var columns: EmulatedTableDefinition.Columns = [:]
        guard harness.dialect == .datasync, table.columns.contains(where: { $0.type == .decimal }) else {
            return columns
        }
        for column in table.columns where !column.isLocal {
            let type: EmulatedTableDefinition.ColumnType =
                switch column.type {
                case .bool: .boolean
                case .int64: .integer
                case .double: .number
                case .decimal: .decimal
                case .string: .text
                case .date: .date
                case .bytes: .bytes
                case .json: .json
                }
            columns[column.name] = type.optional
        }
        return columns
    }

    func makeRemote() async throws -> any SyncRemote {
        var options = DatasyncOptions()
        options.settlingTime = harness.settlingTime
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: harness.dialect,
            options: options,
            transport: EmulatorTransport(emulator) { [self] request, _ in try await answer(request) }
        )
        return harness.wrapping(remote)
    }

    // MARK: Another client

    func write(_ changes: [BackEndChange]) async throws {
        let now = state.state.withLock { state in
            state.now += 7
            return state.now
        }
        let rows = try changes.map { change in
            var row = try members(after: change)
            row["updatedAt"] = .string(Timestamp(milliseconds: now).text)
            row["version"] = nil
            return row
        }
        try emulator.seed(rows, in: table.name)
    }

    private func members(after change: BackEndChange) throws -> [String: JSONValue] {
        switch change {
        case .insert(let record): return try Self.members(of: record, table)
        case .change(let id, let values):
            let given = try Self.members(of: Record(id: .string(id), values), table)
            return existing(id).merging(given) { $1 }
        case .delete(let id): return existing(id).merging(["deleted": true]) { $1 }
        case .restore(let id): return existing(id).merging(["deleted": false]) { $1 }
        }
    }

    private func existing(_ id: String) -> [String: JSONValue] {
        emulator.rows(in: table.name).first { $0["id"] == .string(id) } ?? ["id": .string(id)]
    }

    private static func members(of record: Record, _ table: TableDefinition) throws -> [String: JSONValue] {
        let json = try RecordCoding(table).json(of: table.withoutLocalColumns(record), includingNulls: false)
        var members = try JSONValue(parsing: Data(json.text.utf8)).object ?? [:]
        // Read as JSON, they would become binary numbers.
        for case (let name, .decimal(let number)) in record.fields { members[name] = .decimal(number.text) }
        return members
    }

    func rows() async throws -> [Record] {
        try emulator.rows(in: table.name)
            .map { members in
                guard let json = JSONText(String(decoding: JSONValue.object(members).encoded, as: UTF8.self)) else {
                    throw EmulatorFailure(description: "a row of the emulator is no JSON")
                }
                return try RecordCoding(table).record(from: json)
            }
    }

    func settle() async throws { state.state.withLock { $0.now += 3_600_000 } }

    func requestCount() async throws -> Int { state.state.withLock(\.requests) }

    func before(request number: Int, _ action: (@Sendable () async throws -> Void)?) async throws {
        state.state.withLock { $0.interposed = action.map { (number, $0) } }
    }

    func parameters() async throws -> [[String: String]] { state.state.withLock(\.parameters) }

    func hold(_ change: BackEndChange) async throws -> @Sendable () async throws -> Void {
        var row = try members(after: change)
        for name in SystemProperties.names { row[name] = nil }
        let path = "/tables/\(table.name)"
        var request = EmulatorRequest("POST", path, body: JSONValue.object(row).encoded)
        if case .change(let id, _) = change {
            request.method = harness.dialect == .datasync ? "PUT" : "PATCH"
            request.path = path + "/" + id
        }
        request.headers["Content-Type"] = "application/json"
        request.headers["ZUMO-API-VERSION"] = harness.dialect == .datasync ? "3.0.0" : "2.0.0"
        let held = HeldWrite()
        state.state.withLock { state in
            state.now += 7
            state.held = held
        }
        let task = Task { [emulator, request] in
            defer { held.begun.continuation.finish() }
            return try await emulator.handle(request)
        }
        for await _ in held.begun.stream {}
        return {
            held.released.continuation.finish()
            let status = try await task.value.status
            guard status < 300 else { throw EmulatorFailure(description: "the held write was answered \(status)") }
        }
    }

    func spoil(_ id: String) async throws {
        state.state.withLock { $0.now += 7 }
        var row = existing(id)
        row["number"] = "not a number"
        row["updatedAt"] = nil
        row["version"] = nil
        try emulator.seed([row], in: table.name)
    }

    func hide(_ id: String) async throws { state.state.withLock { _ = $0.hidden.insert(id) } }

    func chooseIDs() async throws { state.state.withLock { $0.choosesIDs = true } }

    func meet(_ fault: RemoteFault?) async throws { state.state.withLock { $0.fault = fault } }

    // MARK: What answers the adapter

    private func answer(_ request: EmulatorRequest) async throws -> EmulatorResponse {
        let action = state.state.withLock { state -> (@Sendable () async throws -> Void)? in
            state.interposed?.count -= 1
            guard state.interposed?.count == 0 else { return nil }
            defer { state.interposed = nil }
            return state.interposed?.action
        }
        try await action?()
        let (fault, hidden) = state.state.withLock { state in
            state.requests += 1
            state.parameters.append(Dictionary(request.options.map { ($0.name, $0.value) }) { $1 })
            state.now += 3
            return (state.fault, state.hidden)
        }
        var response: EmulatorResponse
        switch fault {
        case nil: response = try await answer(request, hiding: hidden)
        case .requestLost: throw TransportError(.connectionLost, "The request was lost.", fate: .mayHaveBeenProcessed)
        case .answerLost:
            _ = try await answer(request, hiding: hidden)
            throw TransportError(.connectionLost, "The answer was lost.", fate: .mayHaveBeenProcessed)
        case .silence:
            try await Task.sleep(for: .seconds(3_600))
            response = EmulatorResponse(500)
        case .unauthorized: response = EmulatorResponse(401)
        case .throttled: response = EmulatorResponse(503, headers: ["Retry-After": "7"])
        case .refused: response = .json(403, ["error": "You may not."])
        case .serverFailure: response = EmulatorResponse(500)
        case .foreignAnswer: response = .html(200, "<html><body>Sign in to the network</body></html>")
        }
        response.headers["Date"] = Self.httpDate(state.state.withLock(\.now))
        return response
    }

    private func answer(_ request: EmulatorRequest, hiding hidden: Set<String>) async throws -> EmulatorResponse {
        if request.method == "POST", state.state.withLock(\.choosesIDs) {
            var (request, row) = (request, try JSONValue(parsing: request.body).object ?? [:])
            row["id"] = .string("chosen-\(emulator.rows(in: table.name).count)")
            request.body = JSONValue.object(row).encoded
            return try await emulator.handle(request)
        }
        guard !hidden.isEmpty else { return try await emulator.handle(request) }
        let last = request.path.split(separator: "/").last.map(String.init) ?? ""
        if hidden.contains(last) { return EmulatorResponse(404) }
        if request.method == "POST", let id = try JSONValue(parsing: request.body)["id"]?.string, hidden.contains(id) {
            // As genuine servers answer: the predecessor of protocol 2 says that there is one, Datasync nothing.
            return EmulatorResponse(harness.dialect == .datasync ? 400 : 409)
        }
        var response = try await emulator.handle(request)
        guard request.method == "GET", response.status == 200 else { return response }
        let body = try JSONValue(parsing: response.body)
        let isVisible: (JSONValue) -> Bool = { row in !(row["id"]?.string).map(hidden.contains)! }
        if let rows = body.array {
            response.body = JSONValue.array(rows.filter(isVisible)).encoded
        } else if var page = body.object, let rows = page["items"]?.array {
            page["items"] = .array(rows.filter(isVisible))
            page["count"] = .integer(Int64(rows.count(where: isVisible)))
            response.body = JSONValue.object(page).encoded
        }
        return response
    }

    private static func httpDate(_ milliseconds: Int64) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date(timeIntervalSince1970: Double(milliseconds / 1_000)))
    }
}
