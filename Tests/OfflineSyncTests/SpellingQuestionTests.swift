import DatasyncEmulator
import DatasyncHTTP
import Foundation
import OfflineSync
import RemoteContract
import SyncContract
import Testing

@Suite("The question whether the server has a local row beside one whose id differs in case only")
struct SpellingQuestionTests {
    private static let table = TableDefinition(
        "TodoItem",
        columns: [.init("text", .string)],
        idComparison: .asciiCaseInsensitive
    )

    @Test("that fails once is asked again by the next pull", arguments: [400, 422, 500])
    func failsOnce(_ status: Int) async throws {
        let fails = Switch()
        let answer = SyncWorld.StandIn { request, emulator in
            let asks = request.query.removingPercentEncoding?.contains("'k1'") ?? false
            return asks && fails.isOn ? EmulatorResponse(status) : try await emulator.handle(request)
        }
        try await SyncWorld.with(
            .azureMobileApps,
            keepsTombstones: false,
            age: 60_000,
            answeringLaptop: answer
        ) { world in
            let laptop = world.laptop
            try world.emulator.seed([["id": "k1", "text": "old"]], in: "TodoItem")
            try await laptop.pull()
            try await world.phone.pull()
            try await world.phone.table.delete("k1")
            _ = try await world.phone.context.push()
            try world.emulator.seed([["id": "K1", "text": "new"]], in: "TodoItem")
            fails.isOn = true
            #expect(try await laptop.pull().setAside.map(\.id) == ["K1"])
            #expect(try await laptop.texts() == ["k1": "old"], "what is here stays until the server has answered")
            fails.isOn = false
            #expect(try await laptop.pull().setAside.isEmpty)
            #expect(try await laptop.texts() == ["K1": "new"])
            #expect(try await laptop.context.setAsideRows().isEmpty)
            #expect(try await laptop.pull().requests == 1)
        }
    }

    /// A context with rows in small letters, which the server has made anew in capitals.
    private func context(
        _ numbers: Range<Int>,
        _ answer: @escaping @Sendable ([String]) throws -> PullPage
    ) async throws -> (SyncContext, ScriptedRemote) {
        let remote = ScriptedRemote { request, _ in
            guard case .isAnyOf(_, let asked)? = request.predicate else {
                return PullPage(records: numbers.map { serverRow("K\($0)", "new", version: "v2") }, cursor: "c")
            }
            return try answer(asked.compactMap(\.stringValue))
        }
        let store = try makeStore(Self.table)
        try await store.upsert(numbers.map { serverRow("k\($0)", "old") }, table: "TodoItem")
        return (SyncContext(store: store, remote: remote), remote)
    }

    @Test("about many is asked in parts where it is refused", arguments: [RemoteError.Code.invalidRequest, .refused])
    func inParts(_ code: RemoteError.Code) async throws {
        let (context, _) = try await context(10..<70) { asked in
            guard asked.count <= 4, !asked.contains("k33") else { throw RemoteError(code, "too long, on purpose") }
            return PullPage(records: [])
        }
        let report = try await context.pull(Query("TodoItem"))
        #expect(report.setAside.map(\.id) == ["K33"] && report.received == 59)
        let expected = (10..<70).map { $0 == 33 ? ("k33", "old") : ("K\($0)", "new") }
        #expect(try await texts(context) == Dictionary(uniqueKeysWithValues: expected))
    }

    @Test("is not asked for row after row where the server answers none, which costs no row")
    func answersNone() async throws {
        let fails = Switch()
        fails.isOn = true
        let (context, remote) = try await context(10..<110) { asked in
            if fails.isOn { throw RemoteError(.serverFailure, "on purpose", status: 500) }
            return PullPage(records: asked.filter { $0.hasPrefix("K") }.map { serverRow($0, "new", version: "v2") })
        }
        #expect(try await context.pull(Query("TodoItem")).setAside.count == 100)
        #expect(remote.requests.count < 15, "\(remote.requests.count)")
        fails.isOn = false
        #expect(try await context.pull(Query("TodoItem")).received >= 100)
        #expect(try await texts(context).keys.sorted() == (10..<110).map { "K\($0)" }.sorted())
        #expect(try await context.setAsideRows().isEmpty)
    }

    @Test("that is answered with a tombstone says that the server has the row no longer")
    func answeredWithTombstone() async throws {
        let (context, _) = try await context(1..<2) { asked in
            #expect(asked == ["k1"])
            return PullPage(records: [tombstone("k1")])
        }
        #expect(try await context.pull(Query("TodoItem")).setAside.isEmpty)
        #expect(try await texts(context) == ["K1": "new"])
    }
}
