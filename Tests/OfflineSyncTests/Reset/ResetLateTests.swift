import OfflineSync
import RemoteContract
import SyncContract
import Testing

/// What was sent to the server that was, and arrives at the one that is.
@Suite("A request of before a reset that arrives late")
struct ResetLateTests {
    /// When it arrives.
    enum Arrival: String, CaseIterable, Sendable {
        case whileRowsCome, beforePush, afterPush, afterDecision, atTheEnd
    }

    enum Mode: String, CaseIterable, Sendable { case keepMine, takeServer, discard }

    private typealias World = ResetMatrixTests.World

    @Test(
        "changes nothing about what was decided, and both sides become equal",
        arguments: ResetMatrixTests.cases,
        Arrival.allCases
    )
    func late(_ pair: (ResetMatrixTests.Change, ResetMatrixTests.Fresh), _ arrival: Arrival) async throws {
        let (change, fresh) = pair
        for mode in Mode.allCases {
            let world = try await World(change, fresh, .late)
            let (server, context) = (world.server, world.context)
            let before = server.texts
            if arrival == .whileRowsCome {
                server.onPages { page in if page == 2 { server.deliver() } }
            }
            let report = try await context.reset(
                onto: [FreshPull(Query("TodoItem"), options: PullOptions(pageSize: 1))],
                discardsChanges: mode == .discard
            )
            server.onPages(nil)
            #expect(report.waiting == 1)
            try await context.endReset()
            let isConflict = try await !context.operationErrors().isEmpty
            if arrival == .beforePush { server.deliver() }
            _ = try await context.push()
            if arrival == .afterPush { server.deliver() }
            for _ in 0..<3 {
                for error in try await context.operationErrors() {
                    try await context.resolve(error, with: mode == .keepMine ? .keepMine : .takeServer)
                }
                if arrival == .afterDecision { server.deliver() }
                _ = try await context.push()
                try await context.pull(Query("TodoItem"))
            }
            server.deliver()
            try await context.pull(Query("TodoItem"))
            _ = try await context.push()
            try await world.expectEqual()
            let mine = change == .delete ? nil : "mine"
            let comment: Comment = "\(change) \(fresh) \(arrival) \(mode)"
            switch mode {
            case .keepMine: #expect(server.texts["a"] == mine, comment)
            // What has arrived by then is the server's row.
            case .takeServer where !isConflict, .discard where arrival == .whileRowsCome:
                #expect([mine, before["a"]].contains(server.texts["a"]), comment)
            case .takeServer, .discard: #expect(server.texts["a"] == before["a"], comment)
            }
            #expect(server.texts["other"] == "other" && server.texts["new"] == "new")
        }
    }
}
