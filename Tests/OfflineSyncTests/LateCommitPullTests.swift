import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import HTTPTransport
import OfflineSync
import SeededNumbers
import SyncContract
import Synchronization
import Testing

/// Time that passes when it is told to: writes wait in it for their commits.
private final class VirtualTime: Sendable {
    private struct State {
        var now: Int64 = 1_760_000_000_000
        var waiting: [(due: Int64, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())
    /// How many writes have ended.
    let ended = Atomic(0)

    var now: Int64 { state.withLock(\.now) }
    var waiters: Int { state.withLock { $0.waiting.count } }

    func wait(_ duration: Duration) async {
        let milliseconds = Int64(duration / .milliseconds(1))
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiting.append((due: $0.now + milliseconds, continuation)) }
        }
    }

    func pass(milliseconds: Int64) {
        let due = state.withLock { state in
            state.now += milliseconds
            let due = state.waiting.filter { $0.due <= state.now }
            state.waiting.removeAll { $0.due <= state.now }
            return due
        }
        for waiter in due { waiter.continuation.resume() }
    }

    /// The form of RFC 9110; nobody looks at the day of the week.
    var httpText: String {
        let parts = Timestamp(milliseconds: now).text.split { "-T:Z.".contains($0) }.map(String.init)
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let month = months[(Int(parts[1]) ?? 1) - 1]
        return "Sun, \(parts[2]) \(month) \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
    }
}

@Suite("A pulling device beside writers whose rows become visible late")
struct LateCommitPullTests {
    @Test("has everything in the end", arguments: StoreBehaviour.StampResolution.allCases, DatasyncDialect.allCases)
    func everything(_ stamps: StoreBehaviour.StampResolution, _ dialect: DatasyncDialect) async throws {
        try await check(stamps, dialect, goesBack: false)
    }

    @Test(
        "also where stamps are the same, and the clock is set back by less than the settling time",
        arguments: StoreBehaviour.StampResolution.allCases,
        DatasyncDialect.allCases
    )
    func clockSetBack(_ stamps: StoreBehaviour.StampResolution, _ dialect: DatasyncDialect) async throws {
        try await check(stamps, dialect, goesBack: true)
    }

    private func check(
        _ stamps: StoreBehaviour.StampResolution,
        _ dialect: DatasyncDialect,
        goesBack: Bool
    ) async throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        let time = VirtualTime()
        var configuration = EmulatorConfiguration(
            dialect: dialect == .datasync ? .datasync : .azureMobileApps,
            tables: ["TodoItem"]
        )
        configuration.clock = { time.now }
        configuration.store.stamps = stamps
        configuration.store.stampsFollowTheClock = goesBack
        configuration.store.seed = seed
        configuration.store.commitDelay = .milliseconds(1_500)
        configuration.store.pause = { await time.wait($0) }
        let emulator = Emulator(configuration)
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: dialect,
            transport: EmulatorTransport(emulator) { request, emulator in
                var response = try await emulator.handle(request)
                response.headers["Date"] = time.httpText
                return response
            }
        )
        let table = TableDefinition(
            "TodoItem",
            columns: todoTable.columns,
            idComparison: dialect == .datasync ? .exact : .asciiCaseInsensitive
        )
        let context = SyncContext(store: try makeStore(table), remote: remote, options: .init(pageSize: 40))

        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<500 {
                group.addTask {
                    defer { time.ended.add(1, ordering: .relaxed) }
                    try await write(number, to: emulator, dialect)
                }
                guard number % 5 == 4 else { continue }
                // What was begun has a stamp before the next page is read, or gets one while it is.
                for _ in 0..<3 { await Task.yield() }
                time.pass(milliseconds: Int64.random(in: 0...400, using: &random))
                if goesBack, number % 100 == 4 {
                    time.pass(milliseconds: -Int64.random(in: 500...5_000, using: &random))
                }
                try await context.table("TodoItem").pull(queryID: "all")
            }
            while time.ended.load(ordering: .relaxed) < 500 {
                time.pass(milliseconds: 500)
                try Task.checkCancellation()
                await Task.yield()
            }
            try await group.waitForAll()
        }
        time.pass(milliseconds: 1_000)
        try await context.table("TodoItem").pull(queryID: "all")
        let rows = try await context.table("TodoItem").read(Query("TodoItem")).records
        let texts = Dictionary(uniqueKeysWithValues: rows.map { ($0.id.stringValue ?? "", $0["text"]?.stringValue) })
        let served = emulator.rows(in: "TodoItem").filter { $0["deleted"] != .bool(true) }
        #expect(served.count > 200, "seed \(seed)")
        let expected = Dictionary(uniqueKeysWithValues: served.map { ($0["id"]?.string ?? "", $0["text"]?.string) })
        #expect(texts == expected, "seed \(seed)")
    }

    /// Inserts a row; or changes or deletes one that was inserted some time ago.
    private func write(_ number: Int, to emulator: Emulator, _ dialect: DatasyncDialect) async throws {
        let id = number % 3 == 0 ? "r\(max(0, number / 2 - number / 2 % 3 + 1))" : "r\(number)"
        let body = Data(#"{"id":"\#(id)","text":"\#(number)"}"#.utf8)
        let change = dialect == .datasync ? "PUT" : "PATCH"
        var request =
            number % 3 != 0
            ? EmulatorRequest("POST", "/tables/TodoItem", body: body)
            : number % 4 == 0
                ? EmulatorRequest("DELETE", "/tables/TodoItem/\(id)")
                : EmulatorRequest(change, "/tables/TodoItem/\(id)", body: body)
        request.headers["Content-Type"] = "application/json"
        request.headers["ZUMO-API-VERSION"] = dialect == .datasync ? "3.0.0" : "2.0.0"
        _ = try await emulator.handle(request)
    }
}
