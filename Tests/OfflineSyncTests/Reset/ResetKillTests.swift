import OfflineSync
import ReferenceStore
import RemoteContract
import StoreConformance
import SyncContract
import Testing

/// The process ends between any two transactions, or in the middle of one.
@Suite("A reset that is killed")
struct ResetKillTests {
    private static let old = ["a": "a", "b": "mine", "c": "c", "n": "new"]

    @Test(
        "leaves what was, and goes on, or what is new",
        arguments: StoreFault.Moment.allCases,
        Array(1...8)
    )
    func kill(_ moment: StoreFault.Moment, _ number: Int) async throws {
        for discards in [false, true] {
            let server = HistoryServer()
            let store = try makeStore()
            for id in "abcd" { server.write("\(id)", "\(id)") }
            try await change(SyncContext(store: store, remote: server))
            server.reset(to: ["a": "fresh", "b": "b", "d": "d", "e": "e", "f": "f", "g": "g", "h": "h"], versions: 5)
            let fresh = server.texts
            let new =
                discards
                ? fresh : ["a": "fresh", "b": "mine", "e": "e", "f": "f", "g": "g", "h": "h", "n": "new"]

            let dying = FaultyStore(store) { $0.number >= number ? .fails(moment) : nil }
            let all = [FreshPull(Query("TodoItem"))]
            do {
                _ = try await SyncContext(store: dying, remote: server).reset(onto: all, discardsChanges: discards)
                #expect(number == 8, "it takes seven transactions")
            } catch let error as StoreError {
                #expect(error.code == .inputOutput)
            }

            let context = SyncContext(store: store, remote: server)
            let stage = try await context.resetStage()
            var isDone = false
            if case .done = stage { isDone = true }
            #expect(try await texts(context) == (isDone ? new : Self.old))
            if stage == .begun {
                #expect(try await syncErrorCode { _ = try await context.push() } == .historyLost)
            }
            #expect(try await store.verifyQueue().isEmpty)
            let report: ResetReport
            if case .done(let done) = stage {
                report = done
            } else {
                report = try await context.reset(onto: all, discardsChanges: discards)
            }
            #expect(report.waiting == 3 && (discards ? report.discarded : report.recovered) == 3)
            #expect(try await texts(context) == new)
            try await context.endReset()
            #expect(try await context.push().pushed == (discards ? 0 : 3))
            try await context.pull(Query("TodoItem"))
            #expect(try await texts(context) == new && server.texts == new)
            #expect(try await context.discardedChanges().count == (discards ? 3 : 0))
            let settings = try await store.read(Query("MS_TableConfig").filtered(by: Column("keyType") > 1_049)).records
            #expect(settings.count == (discards ? 3 : 0), "nothing is left of it but what was given up")
        }
    }

    private func change(_ context: SyncContext) async throws {
        let table = try context.table("TodoItem")
        try await table.pull()
        try await table.update(Record(id: "b", ["text": "mine"]))
        try await table.delete("d")
        try await table.insert(["text": "new"], id: "n")
    }

    @Test("lets nothing be pulled until it goes on, nor asked for that was set aside: no request leaves")
    func nothingPulled() async throws {
        let server = HistoryServer()
        let context = SyncContext(store: try makeStore(), remote: server)
        for id in "abcdefg" { server.write("\(id)", "\(id)") }
        server.unfit("b")
        try await context.pull(Query("TodoItem"))
        #expect(try await context.setAsideRows().map(\.itemID) == ["b"])
        server.unfit()
        server.reset(to: ["a": "a", "b": "b", "c": "c", "d": "d", "e": "e"])
        server.onPages { page in
            if page == 2 { throw RemoteError(.unreachable, "on purpose") }
        }
        let all = [FreshPull(Query("TodoItem"))]
        #expect(
            try await syncErrorCode { _ = try await context.reset(onto: all, discardsChanges: false) } == .pullAborted
        )
        server.onPages(nil)
        let options = PullOptions(order: .pullOnly)
        let code = try await syncErrorCode { try await context.pull(Query("TodoItem"), options: options) }
        #expect(code == .historyLost)
        #expect(try await syncErrorCode { try await context.retrySetAsideRows() } == .historyLost)
        #expect(server.pages == 0)
        _ = try await context.reset(onto: all, discardsChanges: false)
        try await context.endReset()
        #expect(try await context.retrySetAsideRows().requests == 0)
        #expect(try await texts(context) == server.texts)
    }

    @Test("goes on where it was: pages that came are not asked for again")
    func goesOn() async throws {
        let server = HistoryServer()
        let store = try makeStore()
        let context = SyncContext(store: store, remote: server)
        server.reset(to: Dictionary(uniqueKeysWithValues: (1...30).map { ("\($0)", "x") }))
        server.onPages { page in
            if page == 7 { throw RemoteError(.unreachable, "on purpose") }
        }
        let all = [FreshPull(Query("TodoItem"))]
        #expect(
            try await syncErrorCode { _ = try await context.reset(onto: all, discardsChanges: false) } == .pullAborted
        )
        #expect(try await texts(context).isEmpty)
        server.onPages(nil)
        let again = SyncContext(store: store, remote: server)
        _ = try await again.reset(onto: all, discardsChanges: false)
        #expect(server.pages == 4)
        #expect(try await texts(again) == server.texts)
    }
}
