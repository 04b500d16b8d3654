import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import RemoteContract
import StoreConformance
import Synchronization
import SyncContract
import Testing

/// Rows of a server in pages of three, as a pull of everything brings them.
private final class ServerRows: Sendable {
    let rows: Mutex<[String: Record]>

    init(_ ids: [String]) { rows = Mutex(Dictionary(uniqueKeysWithValues: ids.map { ($0, serverRow($0)) })) }

    func remove(_ ids: String...) { rows.withLock { rows in for id in ids { rows[id] = nil } } }

    /// A remote for these rows, and what happens before a page is read.
    func remote(_ before: @escaping @Sendable (Int) async throws -> Void = { _ in }) -> ScriptedRemote {
        ScriptedRemote { request, number in
            try await before(number)
            let last = if case .next(let text) = request.position { text } else { "" }
            let rows = self.rows.withLock { $0.values.filter { $0.id.stringValue ?? "" > last } }
                .sorted { $0.id.stringValue ?? "" < $1.id.stringValue ?? "" }
            let page = Array(rows.prefix(3))
            return PullPage(records: page, next: rows.count > 3 ? .next(page.last?.id.stringValue ?? "") : nil)
        }
    }
}

@Suite("A pull that reconciles", .timeLimit(.minutes(3)))
struct ReconcileTests {
    private let query = Query("TodoItem")
    private let everything = PullOptions(order: .pullOnly, reconciles: true)
    private let ids = (0..<8).map { "r\($0)" }

    @Test("leaves a row that leaves the condition here meanwhile, as its change is given up", arguments: [false, true])
    func leftCondition(isGivenUp: Bool) async throws {
        let remote = ScriptedRemote { request, _ in
            PullPage(records: request.predicate == nil ? [serverRow("a"), serverRow("b", "mine")] : [])
        }
        let context = SyncContext(store: try makeStore(), remote: remote)
        try await context.pull(query)
        try await context.table("TodoItem").update(Record(id: "a", ["text": "mine"]))
        var options = everything
        options.betweenPages = {
            guard isGivenUp, let operation = try await context.operations().first else { return }
            try await context.discard(operation)
        }
        let report = try await context.pull(query.filtered(by: Column("text") == "mine"), options: options)
        #expect(report.deleted == 1)
        #expect(try await texts(context) == ["a": isGivenUp ? "milk" : "mine"])
    }

    @Test("removes what the server has no longer, and fetches what is missing here")
    func removes() async throws {
        let server = ServerRows(ids)
        let context = SyncContext(store: try makeStore(), remote: server.remote())
        try await context.pull(query, options: everything)
        server.remove("r2", "r7")
        try await context.store.delete(query.filtered(by: Column("id") == "r4"))
        let report = try await context.pull(query, options: everything)
        #expect(report.deleted == 2 && report.received == 1 && report.isComplete)
        #expect(Set(try await texts(context).keys) == Set(ids).subtracting(["r2", "r7"]))
        #expect(try await context.pull(query, options: everything).deleted == 0)
    }

    @Test("asks for what its pages have left out by id, before it removes any of it", arguments: [100, 3])
    func leftOut(_ mostIDs: Int) async throws {
        let ids = (10..<70).map { "r\($0)" }
        let store = try makeStore()
        try await store.upsert(ids.map { serverRow($0, "old") } + [serverRow("other")], table: "TodoItem")
        let remote = ScriptedRemote { request, _ in
            // The pages end too early; the rest is found by id, changed meanwhile, but for every third row.
            guard case .isAnyOf(_, let asked)? = request.predicate else {
                return PullPage(records: ids.prefix(5).map { serverRow($0, "old") })
            }
            guard asked.count <= mostIDs else { throw RemoteError(.invalidRequest, "too long, on purpose") }
            let found = asked.compactMap(\.stringValue)
                .filter { id in ids.firstIndex(of: id).map { $0 % 3 != 0 } ?? false }
            return PullPage(records: found.map { serverRow($0, "new", version: "v2") })
        }
        let context = SyncContext(store: store, remote: remote)
        let report = try await context.pull(query, options: everything)
        let kept = ids.indices.filter { $0 < 5 || $0 % 3 != 0 }
        let expected = kept.map { (ids[$0], $0 < 5 ? "old" : "new") }
        #expect(try await texts(context) == Dictionary(uniqueKeysWithValues: expected))
        #expect(report.received == kept.count - 5 && report.deleted == 61 - kept.count)
        if mostIDs == 100 { #expect(remote.requests.count == 4, "many at a time") }
    }

    @Test("keeps and names a row that cannot be asked for, and removes those behind it", arguments: [nil, 400, 414])
    func unaskable(_ status: Int?) async throws {
        let long = "a" + String(repeating: "x", count: 9_000)
        let store = try makeStore()
        try await store.upsert(([long] + ids).map { serverRow($0) }, table: "TodoItem")
        let remote = ScriptedRemote { request, _ in
            guard case .isAnyOf(_, let asked)? = request.predicate else { return PullPage(records: [serverRow("r3")]) }
            guard !asked.contains(.string(long)) else {
                throw RemoteError(status == nil ? .invalidRequest : .refused, "too long, on purpose", status: status)
            }
            return PullPage(records: [])
        }
        let context = SyncContext(store: store, remote: remote)
        for _ in 0..<2 {
            let report = try await context.pull(query, options: everything)
            #expect(report.isComplete && report.setAside.map(\.id) == [long])
            #expect(
                report.setAside.allSatisfy { !$0.reason.contains("on purpose") || status == nil },
                "the server's words"
            )
            #expect(try await texts(context).keys.sorted() == [long, "r3"])
            #expect(try await context.setAsideRows().map(\.id) == [long])
            #expect(try await context.setAsideRows().map(\.reason) == report.setAside.map(\.reason))
        }
        // It is named as long as it is here.
        try await store.delete(query.filtered(by: Column("id") == .string(long)))
        try await context.pull(query, options: everything)
        #expect(try await context.setAsideRows().isEmpty)
    }

    @Test("ends where the server takes no question by id")
    func noQuestions() async throws {
        let ids = (100..<200).map { "r\($0)" }
        let store = try makeStore()
        try await store.upsert(ids.map { serverRow($0) }, table: "TodoItem")
        let remote = ScriptedRemote { request, _ in
            guard request.predicate == nil else { throw RemoteError(.refused, "on purpose", status: 400) }
            return PullPage(records: [])
        }
        let context = SyncContext(store: store, remote: remote)
        await #expect(throws: SyncError.self) { try await context.pull(query, options: everything) }
        #expect(try await texts(context).count == ids.count)
        #expect(remote.requests.count < ids.count)
    }

    @Test("removes nothing when it cannot ask for what its pages have left out")
    func cannotAsk() async throws {
        let store = try makeStore()
        try await store.upsert(ids.map { serverRow($0) }, table: "TodoItem")
        let remote = ScriptedRemote { request, _ in
            guard request.predicate == nil else { throw RemoteError(.unreachable, "lost, on purpose") }
            return PullPage(records: [])
        }
        let context = SyncContext(store: store, remote: remote)
        await #expect(throws: SyncError.self) { try await context.pull(query, options: everything) }
        #expect(try await texts(context).count == ids.count)
    }

    @Test("asks for no row with a waiting change, and does not name it when the server refuses to say more")
    func asksForNoneThatWaits() async throws {
        let remote = ScriptedRemote { request, _ in
            guard request.predicate == nil else { throw RemoteError(.refused, "on purpose", status: 403) }
            return PullPage(records: [])
        }
        let context = SyncContext(store: try makeStore(), remote: remote)
        try await context.table("TodoItem").insert(["text": "new"], id: "n")
        let report = try await context.pull(query, options: everything)
        #expect(report.setAside.isEmpty && remote.requests.count == 1)
        #expect(try await texts(context) == ["n": "new"])
        #expect(try await context.setAsideRows().isEmpty)
    }

    @Test("never removes a row with a waiting change, whatever its state")
    func waiting() async throws {
        let server = ServerRows(ids)
        let context = SyncContext(store: try makeStore(), remote: server.remote())
        try await context.pull(query, options: everything)
        let table = try context.table("TodoItem")
        try await table.update(Record(id: "r1", ["text": "mine"]))
        try await table.insert(["text": "new"], id: "n")
        try await table.delete("r3")
        server.remove("r1", "r2", "r3")
        try await context.pull(query, options: everything)
        #expect(Set(try await texts(context).keys) == ["r0", "r1", "r4", "r5", "r6", "r7", "n"])
        #expect(try await context.operations().count == 3)
    }

    @Test("never removes a row that was pushed while it ran, behind the page in which it would have come")
    func pushedMeanwhile() async throws {
        let barrier = Barrier()
        let server = ServerRows(ids)
        let remote = server.remote { number in if number == 3 { try await barrier.wait() } }
        let context = SyncContext(store: try makeStore(), remote: remote)
        async let pull = context.pull(query, options: everything)
        await barrier.isReached()
        try await context.table("TodoItem").insert(["text": "new"], id: "a")
        _ = try await context.push()
        #expect(try await context.operations().isEmpty)
        barrier.open()
        #expect(try await pull.deleted == 0)
        #expect(try await texts(context)["a"] == "new")
    }

    @Test("removes nothing when it fails, meets a bound, or has a limit")
    func incomplete() async throws {
        let server = ServerRows(ids)
        let fails = Mutex(false)
        let remote = server.remote { number in
            if number % 3 == 0, fails.withLock({ $0 }) { throw RemoteError(.unreachable, "lost, on purpose") }
        }
        let context = SyncContext(store: try makeStore(), remote: remote)
        try await context.pull(query, options: everything)
        server.remove("r0", "r1")
        server.rows.withLock { rows in for id in ["s1", "s2", "s3", "s4", "s5"] { rows[id] = serverRow(id) } }
        var bounded = everything
        bounded.maximumRows = 2
        #expect(try await !context.pull(query, options: bounded).isComplete)
        try await context.pull(query.limited(to: 100), options: everything)
        fails.withLock { $0 = true }
        await #expect(throws: SyncError.self) { try await context.pull(query, options: everything) }
        #expect(Set(try await texts(context).keys).isSuperset(of: ids))
        fails.withLock { $0 = false }
        #expect(try await context.pull(query, options: everything).deleted == 2)
    }

    @Test("removes rows that left the condition, and none that never were in it", arguments: DatasyncDialect.allCases)
    func condition(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect, pageSize: 2) { world in
            let (phone, laptop) = (world.phone, world.laptop)
            for id in ["a", "b", "c", "d"] {
                try await phone.table.insert(["text": .string(id), "complete": .bool(id == "d")], id: id)
            }
            _ = try await phone.context.push()
            try await laptop.pull()
            let open = laptop.table.query.filtered(by: Column("complete") == false)
            try await phone.table.update(Record(id: "b", ["complete": true]))
            _ = try await phone.context.push()
            let report = try await laptop.context.pull(open, options: .init(reconciles: true))
            #expect(report.deleted == 1)
            #expect(Set(try await laptop.texts().keys) == ["a", "c", "d"])
            try await laptop.pull()
            #expect(Set(try await laptop.texts().keys) == ["a", "b", "c", "d"])
        }
    }

    @Test("keeps a row that the server judges otherwise than the store, and removes what left, was deleted or is gone")
    func judgedOtherwise() async throws {
        let store = try makeStore()
        try await store.upsert(["kept", "left", "deleted", "gone"].map { serverRow($0, "Milk") }, table: "TodoItem")
        var deleted = serverRow("deleted", "Milk", version: "v2")
        deleted["deleted"] = true
        let rows = [serverRow("kept", "Milk"), serverRow("left", "Tea", version: "v2"), deleted]
        let remote = ScriptedRemote { request, _ in
            // None of them satisfies the condition there.
            guard case .isAnyOf(_, let asked)? = request.predicate else { return PullPage(records: []) }
            return PullPage(records: rows.filter { asked.contains($0.id.fieldValue) })
        }
        let context = SyncContext(store: store, remote: remote)
        let milk = query.filtered(by: Column("text") == "Milk")
        let report = try await context.pull(milk, options: everything)
        #expect(report.deleted == 3 && report.setAside.isEmpty)
        #expect(try await texts(context) == ["kept": "Milk"])
        #expect(try await context.pull(milk, options: everything).deleted == 0)
    }

    @Test("is killed between any two transactions: nothing is lost, and the next one does the rest", arguments: 1...9)
    func killed(_ call: Int) async throws {
        for moment in StoreFault.Moment.allCases {
            let server = ServerRows(ids)
            let base = try makeStore()
            try await SyncContext(store: base, remote: server.remote()).pull(query, options: everything)
            try await SyncContext(store: base, remote: server.remote()).table("TodoItem")
                .update(Record(id: "r5", ["text": "mine"]))
            server.remove("r1", "r5", "r6")
            let dying = FaultyStore(base) { $0.number >= call ? .fails(moment) : nil }
            _ = try? await SyncContext(store: dying, remote: server.remote()).pull(query, options: everything)
            let context = SyncContext(store: base, remote: server.remote())
            let kept: Set = ["r0", "r2", "r3", "r4", "r5", "r7"]
            #expect(Set(try await texts(context).keys).isSuperset(of: kept))
            try await context.pull(query, options: everything)
            #expect(Set(try await texts(context).keys) == kept)
            #expect(try await texts(context)["r5"] == "mine")
        }
    }
}
