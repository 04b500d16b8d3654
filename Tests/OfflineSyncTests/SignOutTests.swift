import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import OfflineSync
import SyncContract
import Synchronization
import Testing

@Suite("Signing out during a sync")
struct SignOutTests {
    /// A context of one user, whose remote is signed out while a request is under way; somebody else is signed in then.
    private func signedOut(
        during method: String,
        _ body: (SyncContext, SyncTable<Record>, Emulator) async throws -> Void
    ) async throws {
        var configuration = EmulatorConfiguration(tables: ["TodoItem"])
        configuration.users = ["t1": "ann", "t2": "bob"]
        let emulator = Emulator(configuration)
        let token = Mutex("t1")
        let box = Mutex<DatasyncRemote?>(nil)
        let remote: DatasyncRemote = try .datasync(
            EmulatorTransport.url.absoluteString,
            transport: EmulatorTransport(emulator) { request, emulator in
                let answer = try await emulator.handle(request)
                if request.method == method {
                    token.withLock { $0 = "t2" }
                    box.withLock { $0.take() }?.signOut()
                }
                return answer
            }
        ) {
            AccessToken(token.withLock { $0 })
        }
        box.withLock { $0 = remote }
        let context = SyncContext(store: try makeStore(), remote: remote)
        try await body(context, try context.table("TodoItem"), emulator)
    }

    @Test("the push ends, the rest stays queued, and nothing of it goes out in another's name")
    func push() async throws {
        try await signedOut(during: "POST") { context, table, emulator in
            for id in ["a", "b", "c"] { try await table.insert(["text": "milk"], id: id) }
            let code = try await syncErrorCode { _ = try await context.push() }
            #expect(code == .pushAbortedAuthentication)
            #expect(try await context.status().pending >= 2)
            #expect(emulator.rows(in: "TodoItem", of: "bob").isEmpty)
            #expect(emulator.requests.count == 1)
        }
    }

    @Test("the pull ends, and brings nothing of another")
    func pull() async throws {
        try await signedOut(during: "GET") { context, table, emulator in
            try emulator.seed([["id": "theirs", "text": "x"]], in: "TodoItem", of: "bob")
            #expect(try await syncErrorCode { try await table.pull(queryID: "all") } == .pullAborted)
            #expect(try await table.read(table.query).records.isEmpty)
            try await table.pull(queryID: "all")
            #expect(try await table.read(table.query).records.map(\.id) == ["theirs"])
        }
    }
}
