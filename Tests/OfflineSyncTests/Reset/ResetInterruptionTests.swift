import OfflineSync
import RemoteContract
import SyncContract
import Testing

@Suite("A reset that was interrupted, and whose pull begins anew")
struct ResetInterruptionTests {
    @Test(
        "has nothing of the pages that came before: a row may have left since",
        arguments: [
            [FreshPull(Query("TodoItem"), options: .init(reconciles: true))],
            [
                FreshPull(Query("TodoItem").filtered(by: Column("text") == "milk")),
                FreshPull(Query("TodoItem"), options: .init(reconciles: true)),
            ],
            [FreshPull(Query("TodoItem"))],
        ]
    )
    func rowLeaves(_ pulls: [FreshPull]) async throws {
        let breaks = Switch()
        breaks.isOn = true
        let remote = ScriptedRemote { request, _ in
            let cursor = request.predicate == nil ? nil : "cursor"
            guard case .next = request.position else {
                guard breaks.isOn else { return PullPage(records: [serverRow("b")], next: .next("2"), cursor: cursor) }
                return PullPage(records: [serverRow("a"), serverRow("b")], next: .next("2"), cursor: cursor)
            }
            if breaks.isOn, request.predicate == nil { throw RemoteError(.unreachable, "broken off, on purpose") }
            return PullPage(records: [serverRow("c")], cursor: cursor)
        }
        let context = SyncContext(store: try makeStore(), remote: remote)
        await #expect(throws: SyncError.self) { try await context.reset(onto: pulls, discardsChanges: false) }
        breaks.isOn = false
        _ = try await context.reset(onto: pulls, discardsChanges: false)
        #expect(try await Set(texts(context).keys) == ["b", "c"])
    }

    @Test("brings everything of a pull again where another one of the table is no longer made")
    func pullLeaves() async throws {
        let breaks = Switch()
        breaks.isOn = true
        let remote = ScriptedRemote { request, _ in
            guard request.predicate == nil else { return PullPage(records: [serverRow("a")], cursor: "end") }
            guard case .changes(since: nil) = request.position else {
                if breaks.isOn { throw RemoteError(.unreachable, "broken off, on purpose") }
                return PullPage(records: [serverRow("c")], cursor: "end")
            }
            return PullPage(records: [serverRow("b")], next: .next("2"), cursor: "cursor")
        }
        let context = SyncContext(store: try makeStore(), remote: remote)
        let part = FreshPull(Query("TodoItem").filtered(by: Column("text") == "milk"))
        let whole = FreshPull(Query("TodoItem"))
        await #expect(throws: SyncError.self) { try await context.reset(onto: [part, whole], discardsChanges: false) }
        breaks.isOn = false
        _ = try await context.reset(onto: [whole], discardsChanges: false)
        #expect(try await Set(texts(context).keys) == ["b", "c"])
    }

    @Test("has nothing of what another pull of the table has brought before")
    func otherPull() async throws {
        let remote = ScriptedRemote { request, _ in
            guard request.predicate != nil else { return PullPage(records: [serverRow("b")], cursor: "end") }
            guard case .next = request.position else {
                return PullPage(records: [serverRow("a")], next: .next("2"), cursor: "cursor")
            }
            throw RemoteError(.unreachable, "broken off, on purpose")
        }
        let context = SyncContext(store: try makeStore(), remote: remote)
        let part = FreshPull(Query("TodoItem").filtered(by: Column("text") == "milk"))
        await #expect(throws: SyncError.self) { try await context.reset(onto: [part], discardsChanges: false) }
        _ = try await context.reset(onto: [FreshPull(Query("TodoItem"))], discardsChanges: false)
        #expect(try await Set(texts(context).keys) == ["b"])
    }
}
