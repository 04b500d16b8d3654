import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import HTTPTransport
import OfflineSync
import ReferenceStore
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

let todoTable = TableDefinition(
    "TodoItem",
    columns: [.init("text", .string), .init("complete", .bool)]
)
let noteTable = TableDefinition("Note", columns: [.init("text", .string)])

/// A network that a test cuts and mends.
final class TestReachability: Reachability {
    private let state = Mutex<(isThere: Bool, subscribers: [AsyncStream<Bool>.Continuation])>((true, []))

    func changes() -> AsyncStream<Bool> {
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
        state.withLock { state in
            continuation.yield(state.isThere)
            state.subscribers.append(continuation)
        }
        return stream
    }

    func change(to isThere: Bool) {
        state.withLock { state in
            state.isThere = isThere
            for subscriber in state.subscribers { subscriber.yield(isThere) }
        }
    }
}

/// What answers the devices: the emulator, unless a test says otherwise.
final class Line: Sendable {
    /// What becomes of a request.
    enum Fate: Sendable {
        case answered
        case unreachable
        case status(Int, headers: HTTPHeaderFields = [:])
        /// Waits until the task is cancelled, or until the line is opened.
        case held
    }

    private let watched = WatchedRequests<EmulatorRequest, Fate> { _ in
        .answered
    } isHeld: {
        if case .held = $0 { true } else { false }
    }
    private let other = Mutex<Emulator?>(nil)

    /// The requests so far: method and path.
    var requests: [String] { watched.all.map { "\($0.method) \($0.path)" } }

    /// What becomes of requests from here on. Those that are held are let go, to what is said now.
    func set(_ fate: @escaping @Sendable (EmulatorRequest) -> Fate) { watched.set(fate) }
    func set(_ fate: Fate) { set { _ in fate } }

    /// Has another emulator answer from here on.
    func divert(to other: Emulator) { self.other.withLock { $0 = other } }

    /// Returns when so many requests were sent in all, or the task is cancelled.
    func requestsReach(_ count: Int) async { await watched.reach(count) }

    func answer(_ request: EmulatorRequest, _ emulator: Emulator) async throws -> EmulatorResponse {
        switch try await watched.fate(of: request) {
        case .answered, .held: try await (other.withLock { $0 } ?? emulator).handle(request)
        case .unreachable:
            throw TransportError(.connectionLost, "no network, on purpose", fate: .mayHaveBeenProcessed)
        case .status(let status, let headers): EmulatorResponse(status, headers: headers, body: Data("{}".utf8))
        }
    }
}

/// A device with a session, the clock it goes by, and what is between it and the server.
struct SessionDevice {
    let store: any SyncContextDataSource
    let context: SyncContext
    let session: SyncSession
    let table: SyncTable<Record>
    let clock: VirtualClock
    let line: Line
    let reachability: TestReachability

    init(
        _ emulator: Emulator,
        _ store: (any SyncContextDataSource)? = nil,
        through server: ForgettingServer? = nil,
        options: SyncOptions = SyncOptions()
    ) throws {
        let line = Line()
        let clock = VirtualClock()
        let reachability = TestReachability()
        let made: any SyncContextDataSource =
            if let store { store } else { MemoryStore(try StoreSchema([todoTable, noteTable])) }
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .datasync,
            transport: EmulatorTransport(emulator) { try await line.answer($0, $1) }
        )
        context = SyncContext(
            store: made,
            remote: server.map { ForgettingRemote(base: remote, server: $0) } ?? remote,
            options: options
        )
        let origin = clock.now
        session = SyncSession(
            context,
            SessionEnvironment(
                clock: clock,
                date: {
                    let offset = origin.duration(to: clock.now)
                    return Date(timeIntervalSince1970: 1_800_000_000 + offset / .seconds(1))
                },
                random: { 0 },
                reachability: reachability
            )
        )
        self.store = made
        self.clock = clock
        self.line = line
        self.reachability = reachability
        table = try context.table("TodoItem")
    }

    static func emulator() -> Emulator {
        Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["TodoItem", "Note"]))
    }

    func add(_ text: String, id: String? = nil) async throws {
        try await table.insert(["text": .string(text), "complete": false], id: id)
    }

    /// Returns when the session is in a state that is meant.
    @discardableResult
    func state(_ isMeant: (SyncSession.State) -> Bool) async -> SyncSession.State? {
        for await state in session.states where isMeant(state) { return state }
        return nil
    }

    func connection(_ meant: SyncSession.ConnectionState) async {
        for await state in session.connectionStates where state == meant { return }
    }

    func backsOff() async { await state { if case .backingOff = $0 { true } else { false } } }
}

extension Emulator {
    func texts(in table: String = "TodoItem") -> Set<String> {
        Set(rows(in: table).filter { $0["deleted"] != .bool(true) }.compactMap { $0["text"]?.string })
    }
}
