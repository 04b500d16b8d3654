import DatasyncEmulator
import Foundation
import RecordJSON
import RemoteConformance
import RemoteContract
import SyncContract
import Synchronization

/// The remote of the notes service, over sockets.
struct NotesHarness: RemoteHarness {
    let name = "NotesRemote"

    /// The service has no numbers but whole and binary ones.
    func keeps(_ value: FieldValue) -> Bool {
        guard let number = value.decimalValue else { return true }
        return Double(number.text)?.description == number.text
    }

    func makeWorld(_ table: TableDefinition) async throws -> any RemoteWorld { try await NotesWorld(table) }
}

private struct ServiceFailure: Error, CustomStringConvertible {
    let description: String
}

final class NotesWorld: RemoteWorld {
    private struct State {
        var requests = 0
        var fault: RemoteFault?
        var hidden: Set<String> = []
        /// What is done before a request, and how many come until then.
        var interposed: (count: Int, action: @Sendable () async throws -> Void)?
        /// The requests that hang.
        var hanging: [AsyncStream<Never>.Continuation] = []

        mutating func meet(_ fault: RemoteFault?) {
            self.fault = fault
            for request in hanging { request.finish() }
            hanging = []
        }
    }

    private final class Box: Sendable {
        let state = Mutex(State())
    }

    let service: NotesService
    private let table: TableDefinition
    private let server: EmulatorServer
    private let state: Box
    private let host: String

    init(_ table: TableDefinition) async throws {
        let service = NotesService(tables: [table.name])
        let state = Box()
        self.table = table
        self.service = service
        self.state = state
        // Nothing but the sockets of the emulator's server is used, and how it loses connections.
        server = EmulatorServer(Emulator(EmulatorConfiguration(tables: []))) { request, emulator in
            try await Self.answer(request, emulator, service, state)
        }
        let url = try await server.start()
        host = "127.0.0.1:\(url.port ?? 0)"
    }

    func makeRemote() async throws -> any SyncRemote { NotesRemote(host: host, scheme: "http") }

    func close() async {
        state.state.withLock { $0.meet(nil) }
        await server.stop()
    }

    // MARK: Another client

    func write(_ changes: [BackEndChange]) async throws {
        for change in changes { try carryOut(change) }
    }

    private func carryOut(_ change: BackEndChange) throws {
        let write: NotesService.Write
        switch change {
        case .insert(let record):
            let json = try RecordCoding(table).json(of: table.withoutLocalColumns(record), includingNulls: false)
            let row = try JSONValue(parsing: Data(json.text.utf8)).object
            write = NotesService.Write(table: table.name, id: record.id.stringValue ?? "", base: "new", row: row)
        case .change(let id, let values):
            let json = try RecordCoding(table).json(of: Record(id: .string(id), values))
            let given = try JSONValue(parsing: Data(json.text.utf8)).object ?? [:]
            let row = members(id).merging(given) { $1 }
            write = NotesService.Write(table: table.name, id: id, base: "any", row: row)
        case .delete(let id): write = NotesService.Write(table: table.name, id: id, base: "any")
        case .restore(let id):
            write = NotesService.Write(table: table.name, id: id, base: "any", restores: true, row: members(id))
        }
        let status = service.carryOut(write).status
        guard status == 200 else { throw ServiceFailure(description: "the notes service answers \(status)") }
    }

    private func members(_ id: String) -> [String: JSONValue] {
        service.rows(of: table.name).first { $0.members["id"] == .string(id) }?.members ?? [:]
    }

    func rows() async throws -> [Record] {
        let reader = NotesRow(table)
        return try service.rows(of: table.name).map { try reader.record($0.json.encoded) }
    }

    /// Numbers are given when a change is made: all is settled at once.
    func settle() async throws {}

    func requestCount() async throws -> Int { state.state.withLock(\.requests) }

    func hold(_ change: BackEndChange) async throws -> @Sendable () async throws -> Void {
        { [self] in try carryOut(change) }
    }

    func spoil(_ id: String) async throws {
        let row = members(id).merging(["number": "not a number"]) { $1 }
        _ = service.carryOut(NotesService.Write(table: table.name, id: id, base: "any", row: row))
    }

    func hide(_ id: String) async throws { state.state.withLock { _ = $0.hidden.insert(id) } }

    func meet(_ fault: RemoteFault?) async throws { state.state.withLock { $0.meet(fault) } }

    func before(request number: Int, _ action: (@Sendable () async throws -> Void)?) async throws {
        state.state.withLock { $0.interposed = action.map { (number, $0) } }
    }

    // MARK: What answers the remote

    private static func answer(
        _ request: EmulatorRequest,
        _ emulator: Emulator,
        _ service: NotesService,
        _ box: Box
    ) async throws -> EmulatorResponse {
        let action = box.state.withLock { state -> (@Sendable () async throws -> Void)? in
            state.interposed?.count -= 1
            guard state.interposed?.count == 0 else { return nil }
            defer { state.interposed = nil }
            return state.interposed?.action
        }
        try await action?()
        let (fault, hidden) = box.state.withLock { state in
            state.requests += 1
            return (state.fault, state.hidden)
        }
        switch fault {
        case nil: break
        case .requestLost: return try await dropped(emulator)
        case .answerLost:
            _ = service.answer(request)
            return try await dropped(emulator)
        case .silence:
            let (stream, continuation) = AsyncStream<Never>.makeStream()
            box.state.withLock { $0.hanging.append(continuation) }
            for await _ in stream {}
            return EmulatorResponse(500)
        case .unauthorized: return EmulatorResponse(401)
        case .throttled: return EmulatorResponse(503, headers: ["Retry-After": "7"])
        case .refused: return EmulatorResponse(403)
        case .serverFailure: return EmulatorResponse(500)
        case .foreignAnswer: return .html(200, "<html><body>Sign in to the network</body></html>")
        }
        let id = request.path.split(separator: "/").last.map(String.init) ?? ""
        guard hidden.contains(id) else { return service.answer(request) }
        let isInsert = request.headers["If-None-Match"] != nil
        return EmulatorResponse(isInsert ? 412 : 404, headers: ["Notes-Service": "1"])
    }

    private static func dropped(_ emulator: Emulator) async throws -> EmulatorResponse {
        emulator.inject(.drop())
        return try await emulator.deliver(EmulatorRequest("GET", "/"))
    }
}
