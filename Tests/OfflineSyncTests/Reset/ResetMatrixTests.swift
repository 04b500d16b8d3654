import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

/// Every change that may wait, against everything that a server which was set up anew may have of its row.
@Suite("A change that waits while the server loses its history")
struct ResetMatrixTests {
    enum Change: String, CaseIterable, Sendable { case insert, update, delete }

    /// What the server has of the row afterwards. Before, it is `base` in version 2, unless the change is an insert.
    enum Fresh: String, CaseIterable, Sendable {
        case gone, restored, renumbered, repeated, changed, equal, buried
    }

    /// What became of the change before the server was set up anew; the late one has not arrived yet.
    enum Fate: String, Sendable { case notSent, requestLost, answerLost, late }

    static let fates = [Fate.notSent, .requestLost, .answerLost]

    static let cases = Change.allCases.flatMap { change in Fresh.allCases.map { (change, $0) } }
        .filter { change, fresh in
            switch change {
            case .insert: ![.restored, .renumbered, .repeated].contains(fresh)
            case .update: true
            case .delete: fresh != .equal
            }
        }

    /// What recovering makes of a change that was never sent.
    private func expected(_ change: Change, _ fresh: Fresh) -> String {
        switch (change, fresh) {
        case (.insert, .gone), (_, .restored), (_, .renumbered): "recovered"
        case (_, .equal), (.delete, .gone), (.delete, .buried): "settled"
        default: "conflict"
        }
    }

    @Test(
        "is sent, or settled, or in conflict; never lost, and never sent over what nobody has seen",
        arguments: cases,
        fates
    )
    func recovered(_ pair: (Change, Fresh), _ fate: Fate) async throws {
        let (change, fresh) = pair
        let world = try await World(change, fresh, fate)
        let before = world.server.texts
        let report = try await world.context.reset(onto: [FreshPull(Query("TodoItem"))], discardsChanges: false)
        let outcome = report.recovered == 1 ? "recovered" : report.settled == 1 ? "settled" : "conflict"
        #expect(report.waiting == 1 && report.recovered + report.settled + report.conflicts == 1)
        if fate == .notSent { #expect(outcome == expected(change, fresh)) }
        let errors = try await world.context.operationErrors()
        #expect(errors.count == report.conflicts)
        try await world.context.endReset()
        if outcome == "conflict" {
            #expect(errors.first?.serverItem?["text"]?.stringValue == world.freshText)
            #expect(try await world.context.push().pushed == 0)
            #expect(world.server.texts == before, "nobody has decided yet")
        }
        // However it goes on, the change is what the server has in the end.
        for _ in 0..<3 {
            _ = try await world.context.push()
            for error in try await world.context.operationErrors() {
                try await world.context.resolve(error, with: .keepMine)
            }
        }
        #expect(world.server.texts["a"] == (change == .delete ? nil : "mine"))
        try await world.expectEqual()
    }

    @Test("is kept aside when it is given up, and the row is the server's", arguments: cases, fates)
    func discarded(_ pair: (Change, Fresh), _ fate: Fate) async throws {
        let (change, fresh) = pair
        let world = try await World(change, fresh, fate)
        let before = world.server.texts
        let report = try await world.context.reset(onto: [FreshPull(Query("TodoItem"))], discardsChanges: true)
        #expect(report.waiting == 1 && report.discarded == 1)
        #expect(try await texts(world.context) == before)
        let kept = try #require(try await world.context.discardedChanges().first)
        #expect(kept.itemID == "a" && kept.item?["text"] == (change == .delete ? "base" : "mine"))
        #expect(try await world.context.operationErrors().isEmpty)
        try await world.context.endReset()
        // What takes back a request that may still arrive runs its course.
        _ = try await world.context.push()
        #expect(world.server.texts == before)
        try await world.expectEqual()
    }

    struct World {
        let server = HistoryServer()
        let store: MemoryStore
        let context: SyncContext
        private(set) var freshText: String?

        init(_ change: Change, _ fresh: Fresh, _ fate: Fate) async throws {
            store = try makeStore()
            context = SyncContext(store: store, remote: server)
            let table = try context.table("TodoItem")
            server.write("other", "other")
            if change != .insert {
                server.write("a", "older")
                server.write("a", "base")
            }
            try await table.pull()
            switch change {
            case .insert: try await table.insert(["text": "mine"], id: "a")
            case .update: try await table.update(Record(id: "a", ["text": "mine"]))
            case .delete: try await table.delete("a")
            }
            if fate != .notSent {
                server.setFate(fate == .requestLost ? .requestLost : fate == .late ? .late : .answerLost)
                let code = try await syncErrorCode { [context] in _ = try await context.push() }
                #expect(code == .pushAbortedNetwork)
            }
            let (text, versions): (String?, Int) =
                switch fresh {
                case .gone: (nil, 1)
                case .restored: ("base", 2)
                case .renumbered: ("base", 7)
                case .repeated: ("theirs", 2)
                case .changed, .buried: ("theirs", 7)
                case .equal: ("mine", 7)
                }
            var rows = ["other": "other", "new": "new"]
            rows["a"] = text
            server.reset(to: rows, versions: versions)
            if fresh == .buried { server.bury("a") }
            freshText = fresh == .buried ? "" : text
        }

        func expectEqual() async throws {
            try await context.table("TodoItem").pull()
            #expect(try await texts(context) == server.texts)
            #expect(try await context.operations().isEmpty)
            #expect(try await store.verifyQueue().isEmpty)
        }
    }
}
