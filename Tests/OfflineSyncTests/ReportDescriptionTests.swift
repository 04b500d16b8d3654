import OfflineSync
import RemoteContract
import SyncContract
import Testing

@Suite("What a report says of itself")
struct ReportDescriptionTests {
    @Test("is its numbers, and nothing of a row")
    func numbers() async throws {
        let server = GroupServer()
        let context = SyncContext(store: try makeStore(), remote: server)
        try await context.table("TodoItem").insert(["text": "SecretText"], id: "secretID")
        let push = try await context.push()
        #expect("\(push)" == "1 pushed, 0 in conflict, 0 refused or failed, 0 waiting, 0 overtaken, 1 requests")
        let remote = ScriptedRemote { _, _ in PullPage(records: [serverRow("secretID")], cursor: "1") }
        let other = SyncContext(store: try makeStore(), remote: remote)
        let pull = try await other.pull(Query("TodoItem"))
        // This remote sends none.
        let numbers = "1 received, 0 deleted, 0 skipped, 0 not fetched, 0 set aside, 0 pruned, 0 requests"
        #expect("\(pull)" == numbers)
        let sync = try await other.sync()
        #expect("\(sync)".hasPrefix("push: 0 pushed, ") && "\(sync)".contains("; pull: 0 received, "))
    }

    @Test(
        "is also the longest time after which the server has asked to come back where it failed, however the push ended"
    )
    func longestWait() async throws {
        let server = GroupServer { id in
            guard id != "c" else { return }
            throw RemoteError(.serverFailure, "busy", status: 500, retryAfter: .seconds(id == "a" ? 30 : 7))
        }
        let context = SyncContext(store: try makeStore(), remote: server)
        let table = try context.table("TodoItem")
        for id in ["a", "b", "c"] { try await table.insert(["text": "milk"], id: id) }
        let report = try await context.push()
        #expect(report.pushed == 1 && report.retryAfter == .seconds(30))
        server.script = { id in
            guard id == "a" else { throw RemoteError(.unreachable, "no answer") }
            throw RemoteError(.serverFailure, "busy", status: 500, retryAfter: .seconds(9))
        }
        let error = await #expect(throws: SyncError.self) { _ = try await context.push() }
        #expect(error?.push?.retryAfter == .seconds(9))
        server.script = { _ in }
        let last = try await context.push()
        #expect(last.pushed == 2 && last.retryAfter == nil)
    }
}
