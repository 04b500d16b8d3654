import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import OfflineSync
import ReferenceStore
import Synchronization
import SyncContract
import Testing

/// What the Azure Mobile Apps SDK for iOS did and what its tests say is told again in the suites of this folder, a test for
/// each behaviour. Where this package differs on purpose, the test says how and why.
///
/// A device, a server of protocol 2 as that SDK knew it, and somebody else who changes rows there.
struct OriginalWorld {
    struct TodoItem: SyncItem, Equatable {
        var id = ""
        var text: String
        var complete: Bool?
        var version: String?
    }

    struct Note: SyncItem {
        var id = ""
        var text: String
    }

    let emulator: Emulator
    let wire = Wire()
    let store: MemoryStore
    let context: SyncContext
    let todos: SyncTable<TodoItem>
    let notes: SyncTable<Note>

    /// Rows are stamped as if they were so many milliseconds old; young ones are asked for again by the next pull.
    init(age: Int64 = 60_000, pageSize: Int? = nil, handlesOperations: Bool = true) throws {
        var configuration = EmulatorConfiguration(dialect: .azureMobileApps, tables: ["TodoItem", "Note"])
        configuration.pageSize = pageSize
        let clock = configuration.clock
        configuration.clock = { clock() - age }
        emulator = Emulator(configuration)
        let (name, text) = ("TodoItem", ColumnDefinition("text", .string))
        let schema = try StoreSchema([
            TableDefinition(
                name,
                columns: [text, .init("complete", .bool), .init("due", .date)],
                idComparison: .asciiCaseInsensitive
            ),
            TableDefinition("Note", columns: [text], idComparison: .asciiCaseInsensitive),
        ])
        store = MemoryStore(schema, handlesSyncTableOperations: handlesOperations)
        context = try Self.context(store, emulator, wire)
        todos = try context.table(TodoItem.self)
        notes = try context.table(Note.self)
    }

    static func context(_ store: any SyncContextDataSource, _ emulator: Emulator, _ wire: Wire) throws -> SyncContext {
        let transport = EmulatorTransport(emulator) { try await wire.answer($0, $1) }
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .azureMobileApps,
            transport: transport
        )
        return SyncContext(store: store, remote: remote)
    }

    /// Another context over the same store, as after a restart of the app.
    func restarted() throws -> SyncContext { try Self.context(store, emulator, wire) }

    // MARK: The server

    /// The texts of the rows that are not deleted, by id.
    var onServer: [String: String] {
        let rows = emulator.rows(in: "TodoItem").filter { $0["deleted"] != .bool(true) }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0["id"]?.string ?? "", $0["text"]?.string ?? "") })
    }

    /// Somebody else's request, which is not in what this device has sent.
    @discardableResult
    func elsewhere(_ method: String, _ id: String? = nil, _ body: JSONValue? = nil) async throws -> EmulatorResponse {
        let headers: HTTPHeaderFields = ["Content-Type": "application/json", "ZUMO-API-VERSION": "2.0.0"]
        let path = "/tables/TodoItem" + (id.map { "/\($0)" } ?? "")
        let answer = try await emulator.handle(
            EmulatorRequest(method, path, headers: headers, body: body?.encoded ?? Data())
        )
        try #require((200..<300).contains(answer.status), "\(String(decoding: answer.body, as: UTF8.self))")
        return answer
    }

    /// Somebody else makes rows, whose texts are their ids.
    func make(_ ids: String...) async throws { try await make(ids) }

    func make(_ ids: [String]) async throws {
        for id in ids { try await elsewhere("POST", nil, .object(["id": .string(id), "text": .string(id)])) }
    }

    /// Somebody else changes a row.
    func change(_ id: String, _ text: String) async throws {
        try await elsewhere("PATCH", id, .object(["text": .string(text)]))
    }

    // MARK: The device

    /// The texts here, by id.
    func texts() async throws -> [String: String] {
        Dictionary(uniqueKeysWithValues: try await todos.read(todos.query).map { ($0.id, $0.text) })
    }

    func kinds() async throws -> [TableOperation.Kind] { try await context.operations().map(\.kind) }

    /// An item that is here and on the server.
    @discardableResult
    func share(_ id: String = "a", _ text: String = "milk") async throws -> TodoItem {
        try await todos.insert(TodoItem(id: id, text: text))
        _ = try await context.push()
        wire.clear()
        return try #require(try await todos.read(id))
    }

    /// The one error that is stored.
    func onlyError() async throws -> TableOperationError<TodoItem> {
        let errors = try await todos.operationErrors()
        try #require(errors.count == 1)
        return errors[0]
    }

    /// The code with which a call is refused, which leaves rows and queue as they were.
    func refusal(_ call: () async throws -> Void) async throws -> SyncError.Code? {
        let (texts, kinds) = (try await texts(), try await kinds())
        let code = try await syncErrorCode(call)
        #expect(try await self.texts() == texts)
        #expect(try await self.kinds() == kinds)
        return code
    }
}

/// What goes over the wire between the device and its server.
final class Wire: Sendable {
    struct Exchange: Sendable {
        let request: EmulatorRequest
        let status: Int

        var line: String { "\(request.method) \(request.path)" }

        /// The values of the body by their names.
        var body: [String: JSONValue] {
            get throws { try #require(try JSONValue(parsing: request.body).object) }
        }

        /// What the request asks for, by name.
        var options: [String: String] { Dictionary(request.options.map { ($0.name, $0.value) }) { $1 } }
    }

    /// What a hook throws that loses the request.
    struct Lost: Error {}

    typealias Hook = @Sendable (EmulatorRequest) async throws -> Void

    private struct State {
        var exchanges: [Exchange] = []
        var before: Hook?
        var after: Hook?
    }

    private let state = Mutex(State())

    /// What was asked and answered, in this order.
    var exchanges: [Exchange] { state.withLock(\.exchanges) }

    /// Method and path of each request.
    var lines: [String] { exchanges.map(\.line) }

    func clear() { state.withLock { $0.exchanges = [] } }

    /// Runs before a request reaches the server; when it throws ``Lost``, the request never does.
    func before(_ hook: @escaping Hook) { state.withLock { $0.before = hook } }

    /// Runs when the server has answered, and before the device hears of it.
    func after(_ hook: @escaping Hook) { state.withLock { $0.after = hook } }

    func clearHooks() { state.withLock { ($0.before, $0.after) = (nil, nil) } }

    func answer(_ request: EmulatorRequest, _ emulator: Emulator) async throws -> EmulatorResponse {
        let (before, after) = state.withLock { ($0.before, $0.after) }
        do {
            try await before?(request)
        } catch is Lost {
            emulator.inject(.drop())
        }
        let answer = try await emulator.handle(request)
        state.withLock { $0.exchanges.append(Exchange(request: request, status: answer.status)) }
        try await after?(request)
        return answer
    }
}

/// Does something once, whoever comes first.
final class Once: Sendable {
    private let isDone = Mutex(false)

    func callAsFunction(_ body: () async throws -> Void) async rethrows {
        let isFirst = isDone.withLock { isDone in
            defer { isDone = true }
            return !isDone
        }
        if isFirst { try await body() }
    }
}
