import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import HTTPTransport
import OfflineSync
import ReferenceStore
import RemoteContract
import StoreConformance
import Synchronization
import SyncContract
import Testing

/// A server whose rows never end: each page has ten more, and its cursor goes on behind them.
private func endless(_ whenAsked: @escaping @Sendable (Int) -> Void = { _ in }) -> ScriptedRemote {
    ScriptedRemote { request, number in
        whenAsked(number)
        let start =
            switch request.position {
            case .everything, .changes(since: nil): 0
            case .changes(let cursor?): Int(cursor) ?? 0
            case .next(let text): Int(text) ?? 0
            }
        let end = start + min(10, request.pageSize ?? 10)
        return PullPage(
            records: (start..<end).map { serverRow("r\($0)") },
            next: .next("\(end)"),
            cursor: "\(end)",
            totalCount: 1_000
        )
    }
}

@Suite("A pull that is bounded", .timeLimit(.minutes(3)))
struct PullBoundsTests {
    private let query = Query("TodoItem")

    /// One statement has written them all, and each run has time for a few pages.
    @Test("by what cuts it off gets past any number of rows of one stamp", arguments: DatasyncDialect.allCases)
    func cutOffWithinOneStamp(_ dialect: DatasyncDialect) async throws {
        let isProtocol3 = dialect == .datasync
        let emulator = Emulator(
            EmulatorConfiguration(dialect: isProtocol3 ? .datasync : .azureMobileApps, tables: ["TodoItem"])
        )
        let rows: [[String: JSONValue]] = (100..<300)
            .map { ["id": .string("r\($0)"), "text": "x", "updatedAt": "2020-01-01T00:00:00Z"] }
        try emulator.seed(rows, in: "TodoItem")
        let left = Mutex(0)
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: dialect,
            transport: EmulatorTransport(emulator) { request, emulator in
                let isAnswered = left.withLock { left in
                    left -= 1
                    return left >= 0
                }
                guard isAnswered else {
                    throw TransportError(.connectionLost, "cut off, on purpose", fate: .mayHaveBeenProcessed)
                }
                // By which the client knows that nothing more will get that stamp.
                var answer = try await emulator.handle(request)
                answer.headers["Date"] = "Sun, 29 Nov 2026 12:00:00 GMT"
                return answer
            }
        )
        let context = SyncContext(store: try makeStore(), remote: remote, options: SyncOptions(pageSize: 10))
        var runs = 0
        while try await context.table("TodoItem").count(query) < 200, runs < 50 {
            left.withLock { $0 = 5 }
            do {
                try await context.pull(query)
            } catch let error as SyncError where error.code == .pullAborted {
                // What came stays.
            }
            runs += 1
        }
        #expect(try await context.table("TodoItem").count(query) == 200, "\(runs) runs")
    }

    @Test("stops when enough rows have come; what came stays, and the next one goes on", arguments: [1, 7, 25, 60])
    func rows(_ maximum: Int) async throws {
        let context = SyncContext(store: try makeStore(), remote: endless())
        for round in 1...4 {
            let report = try await context.pull(query, options: .init(maximumRows: maximum))
            #expect(!report.isComplete && report.received >= maximum && report.received < maximum + 10)
            #expect(try await texts(context).count >= round * maximum)
        }
        let ids = Set(try await texts(context).keys)
        #expect(ids == Set((0..<ids.count).map { "r\($0)" }), "without a gap")
    }

    @Test("is exact where the server gives as many rows as it is asked for")
    func exact() async throws {
        let context = SyncContext(store: try makeStore(), remote: endless())
        #expect(try await context.pull(query, options: .init(maximumRows: 7)).received == 7)
        #expect(try await context.pull(query, options: .init(maximumRows: 25)).received == 25)
    }

    @Test("is told to be complete when all is here, and not before")
    func completion() async throws {
        let remote = ScriptedRemote(pages: ["a", "b"].map { PullPage(records: [serverRow($0)]) })
        let context = SyncContext(store: try makeStore(), remote: remote)
        let told = Switch()
        for (maximum, isComplete) in [(1, false), (2, true)] {
            let options = PullOptions(order: .pullOnly, reconciles: true, maximumRows: maximum)
            let report = try await context.pullWithoutPush(query, queryID: nil, options: options) { told.isOn = true }
            #expect(report.isComplete == isComplete && told.isOn == isComplete)
        }
    }

    @Test("stops when its time is over, by the context's clock")
    func time() async throws {
        let clock = ManualClock()
        let remote = endless { _ in clock.advance(by: .seconds(1)) }
        let context = SyncContext(store: try makeStore(), remote: remote, clock: clock)
        let report = try await context.pull(query, options: .init(maximumTime: .seconds(4)))
        #expect(!report.isComplete)
        #expect(remote.requests.count == 4)
        #expect(report.received >= 30)
        try await context.pull(query, options: .init(maximumTime: .seconds(4)))
        let ids = Set(try await texts(context).keys)
        #expect(ids.count >= 60 && ids == Set((0..<ids.count).map { "r\($0)" }))
    }

    /// Thirty rows in pages of five that take ten seconds each.
    private func slow(_ clock: ManualClock, cursor: @escaping @Sendable (Int) -> String?) -> ScriptedRemote {
        let rows = (0..<30).map { serverRow("r\($0)") }
        return ScriptedRemote { request, _ in
            clock.advance(by: .seconds(10))
            let start =
                switch request.position {
                case .everything, .changes(since: nil): 0
                case .changes(let text?), .next(let text): Int(text) ?? 0
                }
            let end = min(rows.count, start + 5)
            return PullPage(
                records: Array(rows[start..<end]),
                next: end < rows.count ? .next("\(end)") : nil,
                cursor: cursor(end)
            )
        }
    }

    @Test("gets on in each pull, also when a page takes longer than its time", arguments: [1, 3, 100])
    func slowPages(_ pagesToCursor: Int) async throws {
        let clock = ManualClock()
        // A cursor that stands still for some pages, as within a millisecond of many rows; or none.
        let remote = slow(clock) { end in
            let reached = end / (5 * pagesToCursor) * 5 * pagesToCursor
            return reached == 0 ? nil : "\(reached)"
        }
        let context = SyncContext(store: try makeStore(), remote: remote, clock: clock)
        var pulls = 0
        repeat {
            pulls += 1
        } while try await !context.pull(query, options: .init(maximumTime: .seconds(1))).isComplete && pulls < 50
        #expect(try await texts(context).count == 30)
        #expect(pulls > 1 && pulls <= 7)
    }

    @Test("goes beyond rows that are here already: they do not count")
    func progressPastKnownRows() async throws {
        let rows = (0..<30).map { serverRow("r\($0)") }
        // A remote without cursors: each pull begins at the beginning.
        let remote = ScriptedRemote { request, _ in
            let start = if case .next(let text) = request.position { Int(text) ?? 0 } else { 0 }
            let end = min(rows.count, start + min(5, request.pageSize ?? 5))
            return PullPage(records: Array(rows[start..<end]), next: end < rows.count ? .next("\(end)") : nil)
        }
        let context = SyncContext(store: try makeStore(), remote: remote)
        var pulls = 0
        repeat {
            pulls += 1
        } while try await !context.pull(query, options: .init(maximumRows: 3)).isComplete && pulls < 50
        #expect(pulls <= 11)
        #expect(try await texts(context).count == 30)
    }

    @Test("tells its progress, exact where the server counts")
    func progress() async throws {
        let told = Mutex<[SyncProgress]>([])
        let options = PullOptions { progress in told.withLock { $0.append(progress) } }
        let counted = ScriptedRemote(pages: [
            PullPage(records: (0..<4).map { serverRow("a\($0)") }, totalCount: 10),
            PullPage(records: (0..<4).map { serverRow("b\($0)") }, totalCount: 6),
            PullPage(records: (0..<2).map { serverRow("c\($0)") }, totalCount: 2),
        ])
        try await SyncContext(store: try makeStore(), remote: counted).pull(query, options: options)
        let exact = told.withLock { $0 }
        #expect(exact.map(\.completed) == [4, 8, 10] && exact.allSatisfy { $0.total == 10 && $0.isExact })
        #expect(exact.map(\.isTransferComplete) == [false, false, true])

        told.withLock { $0 = [] }
        let uncounted = ScriptedRemote(pages: (0..<5).map { PullPage(records: [serverRow("a\($0)")]) })
        try await SyncContext(store: try makeStore(), remote: uncounted).pull(query, options: options)
        let guessed = told.withLock { $0 }
        #expect(guessed.count == 5 && guessed.dropLast().allSatisfy { !$0.isExact && $0.progressEstimate < 1 })
        #expect(guessed.map(\.progressEstimate) == guessed.map(\.progressEstimate).sorted())
        #expect(guessed.last?.progressEstimate == 1)
    }

    @Test("of several tables tells a progress that is exact only once the last of them is counted")
    func progressOfTables() async throws {
        let told = Mutex<[Bool]>([])
        let options = PullOptions { progress in told.withLock { $0.append(progress.isExact) } }
        let remote = ScriptedRemote { request, _ in
            guard case .next = request.position else {
                return PullPage(records: [serverRow("a")], next: .next("1"), totalCount: 2)
            }
            return PullPage(records: [serverRow("b")], totalCount: 1)
        }
        let store = MemoryStore(try StoreSchema([todoTable, TableDefinition("Other", columns: todoTable.columns)]))
        try await SyncContext(store: store, remote: remote).pull(query, Query("Other"), options: options)
        #expect(told.withLock { $0 } == [false, false, true, true])
    }

    @Test("takes no harm from a count that no server can mean")
    func absurdCount() async throws {
        let told = Mutex<[SyncProgress]>([])
        let options = PullOptions { progress in told.withLock { $0.append(progress) } }
        let remote = ScriptedRemote(pages: [
            PullPage(records: [serverRow("a")], totalCount: .max),
            PullPage(records: [serverRow("b")], totalCount: .max),
        ])
        let report = try await SyncContext(store: try makeStore(), remote: remote).pull(query, options: options)
        #expect(report.received == 2)
        #expect(told.withLock { $0 }.map(\.isTransferComplete) == [false, true])
    }

    @Test("is complete when a reconciling pull has removed what is gone, and not before")
    func reconcilingProgress() async throws {
        let counts = Mutex<[Int]>([])
        try await SyncWorld.with(.datasync, keepsTombstones: false) { world in
            for id in ["a", "b"] { try await world.phone.table.insert(["text": "milk"], id: id) }
            _ = try await world.phone.context.push()
            try await world.laptop.pull()
            try await world.phone.table.delete("a")
            _ = try await world.phone.context.push()
            let options = PullOptions(order: .pullOnly, reconciles: true) { progress in
                guard progress.isTransferComplete else { return }
                counts.withLock { $0.append(world.emulator.requests.count) }
            }
            #expect(try await world.laptop.table.pull(options: options).deleted == 1)
            #expect(counts.withLock { $0 } == [world.emulator.requests.count])
        }
    }

    @Test("is killed between any two transactions: the next one goes on, and no row is missing", arguments: 1...12)
    func killed(_ call: Int) async throws {
        for moment in StoreFault.Moment.allCases {
            let base = try makeStore()
            let rows = (0..<30).map { serverRow("r\($0)") }
            let remote = ScriptedRemote { request, _ in
                let start =
                    switch request.position {
                    case .everything, .changes(since: nil): 0
                    case .changes(let text?), .next(let text): Int(text) ?? 0
                    }
                let end = min(rows.count, start + 5)
                return PullPage(
                    records: Array(rows[start..<end]),
                    next: end < rows.count ? .next("\(end)") : nil,
                    cursor: "\(end)"
                )
            }
            let dying = SyncContext(
                store: FaultyStore(base) { $0.number >= call ? .fails(moment) : nil },
                remote: remote
            )
            _ = try? await dying.pull(query)
            let context = SyncContext(store: base, remote: remote)
            let before = try await texts(context).count
            let report = try await context.pull(query)
            #expect(before % 5 == 0, "whole pages")
            #expect(report.received == 30 - before, "what was applied is not asked for again")
            #expect(try await texts(context).count == 30)
        }
    }
}
