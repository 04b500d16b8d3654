import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import RemoteContract
import SyncContract
import Synchronization
import Testing

@Suite("A pull ends", .timeLimit(.minutes(3)))
struct PullEndingTests {
    private func context(_ remote: ScriptedRemote) throws -> SyncContext {
        SyncContext(store: try makeStore(), remote: remote)
    }

    /// The cause of the error with which a pull ends.
    private func cause(_ remote: ScriptedRemote, _ options: PullOptions = .init()) async throws -> RemoteError? {
        let context = try context(remote)
        let error = await #expect(throws: SyncError.self) {
            try await context.pull(Query("TodoItem"), options: options)
        }
        #expect(error?.code == .pullAborted)
        return error?.cause as? RemoteError
    }

    @Test("with an error that says so when the server leads back to a page", arguments: [false, true])
    func samePosition(_ reconciles: Bool) async throws {
        let remote = ScriptedRemote { _, number in PullPage(records: [serverRow("\(number)")], next: .next("again")) }
        let cause = try await cause(remote, .init(reconciles: reconciles))
        #expect(cause?.code == .invalidResponse && cause?.message.contains("leads back") == true)
        #expect(remote.requests.count <= 3)
    }

    @Test("with an error that says so when the server repeats its rows under new links", arguments: [false, true])
    func sameRows(_ reconciles: Bool) async throws {
        let remote = ScriptedRemote { _, number in
            PullPage(records: [serverRow("a"), serverRow("b")], next: .next("\(number)"))
        }
        let cause = try await cause(remote, .init(reconciles: reconciles))
        #expect(cause?.message.contains("same rows again") == true)
        #expect(remote.requests.count <= 8)
    }

    @Test("with an error that says so when the order runs backwards")
    func backwards() async throws {
        let remote = ScriptedRemote { _, number in
            PullPage(records: [serverRow("\(number)")], next: .next("\(number)"), orderKeys: [Int64(100 - number)])
        }
        #expect(try await cause(remote)?.message.contains("newest to the oldest") == true)
    }

    @Test("with an error that says so when there are more pages than the server counts")
    func count() async throws {
        let remote = ScriptedRemote { _, number in
            PullPage(records: [serverRow("\(number)")], next: .next("\(number)"), totalCount: 1)
        }
        #expect(try await cause(remote)?.message.contains("counts 1 rows") == true)
    }

    @Test("with an error that says so when there are more rows than were asked for")
    func limit() async throws {
        let remote = ScriptedRemote { _, number in
            PullPage(records: [serverRow("\(number)a"), serverRow("\(number)b")], next: .next("\(number)"))
        }
        let context = try context(remote)
        let error = await #expect(throws: SyncError.self) {
            try await context.pull(Query("TodoItem").limited(to: 3), options: .init(reconciles: true))
        }
        #expect((error?.cause as? RemoteError)?.message.contains("more than the 3 rows") == true)
        #expect(try await texts(context).count == 2, "what was applied stays")
    }

    @Test("with an error that says what came before, when it breaks off in the middle")
    func brokenOff() async throws {
        try await SyncWorld.with(.datasync, pageSize: 2) { world in
            try world.emulator.seed((0..<6).map { ["id": .string("r\($0)"), "text": "x"] }, in: "TodoItem")
            let laptop = world.laptop
            try await laptop.table.insert(["text": "mine"], id: "mine")
            let asked = Atomic(0)
            world.emulator.inject(
                .respond(EmulatorResponse(503), times: 9) { request in
                    request.method == "GET" && asked.add(1, ordering: .relaxed).newValue > 2
                }
            )
            let error = await #expect(throws: SyncError.self) { _ = try await laptop.context.sync() }
            #expect(error?.push?.pushed == 1)
            let came = try await laptop.texts().count { $0.key != "mine" }
            #expect(came > 0 && came < 6)
            #expect(error?.pull?.received == came)
            #expect(error?.pull?.isComplete == false)
            #expect(error?.pull?.requests ?? 0 > 1)
        }
    }

    @Test("a server that sorts the wrong way round loses no row silently", arguments: [2, 5])
    func emulatedOrder(_ pageSize: Int) async throws {
        let answers = ScriptedRemote { request, _ in
            let stamps = stride(from: Int64(20_000), through: 1_000, by: -1_000)
            let rows = stamps.map { serverRow("\($0)", stamp: $0) }.prefix(pageSize)
            return PullPage(
                records: Array(rows),
                next: .next("1"),
                cursor: "1",
                orderKeys: rows.compactMap { $0.updatedAt?.milliseconds }
            )
        }
        let context = try context(answers)
        await #expect(throws: SyncError.self) { try await context.pull(Query("TodoItem")) }
        #expect(try await texts(context).isEmpty)
    }

    @Test(
        "a service that orders by the wrong end ends a pull instead of losing rows",
        arguments: DatasyncDialect.allCases
    )
    func descending(_ dialect: DatasyncDialect) async throws {
        let backwards = SyncWorld.StandIn { request, emulator in
            var request = request
            request.query = request.query.replacing("orderby=updatedAt", with: "orderby=updatedAt%20desc")
            return try await emulator.handle(request)
        }
        try await SyncWorld.with(dialect, pageSize: 3, answeringLaptop: backwards) { world in
            let rows = (10..<20)
                .map { number -> [String: JSONValue] in
                    ["id": .string("r\(number)"), "updatedAt": .string("2026-01-02T03:04:\(number).000Z")]
                }
            try world.emulator.seed(rows, in: "TodoItem")
            let error = await #expect(throws: SyncError.self) { try await world.laptop.pull() }
            #expect((error?.cause as? RemoteError)?.message.contains("newest to the oldest") == true)
            #expect(try await world.phone.pull().received == 10)
        }
    }

    @Test("an empty page with another one to follow is not its end")
    func emptyPage() async throws {
        let remote = ScriptedRemote(pages: [
            PullPage(records: []), PullPage(records: [serverRow("a")]), PullPage(records: []),
            PullPage(records: [serverRow("b")], cursor: "c"),
        ])
        let context = try context(remote)
        #expect(try await context.pull(Query("TodoItem")).received == 2)
        #expect(remote.requests.count == 4)
    }

    @Test("of a tombstone and a live row of one id in a page, the later one counts", arguments: [true, false])
    func laterCounts(_ isHereBefore: Bool) async throws {
        let first = isHereBefore ? [serverRow("x", version: "v0"), serverRow("y", version: "v0")] : []
        let remote = ScriptedRemote { _, number in
            if number == 1 { return PullPage(records: first) }
            return PullPage(records: [
                tombstone("x", version: "v1"), serverRow("x", "alive", version: "v2"),
                serverRow("y", "dead soon", version: "v1"), tombstone("y", version: "v2"),
            ])
        }
        let context = try context(remote)
        try await context.pull(Query("TodoItem"))
        let report = try await context.pull(Query("TodoItem"))
        #expect(try await texts(context) == ["x": "alive"])
        #expect(report.received == 1 && report.deleted == (isHereBefore ? 1 : 0))
    }
}
