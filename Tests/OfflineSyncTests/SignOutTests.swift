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
        try await signedIn(signingOutDuring: method) { context, table, emulator, _ in
            try await body(context, table, emulator)
        }
    }

    /// A context of one user, and a closure that signs out, after which somebody else is signed in.
    private func signedIn(
        signingOutDuring method: String? = nil,
        _ body: (SyncContext, SyncTable<Record>, Emulator, @escaping @Sendable () -> Void) async throws -> Void
    ) async throws {
        var configuration = EmulatorConfiguration(tables: ["TodoItem"])
        configuration.users = ["t1": "ann", "t2": "bob"]
        let emulator = Emulator(configuration)
        let token = Mutex("t1")
        let box = Mutex<DatasyncRemote?>(nil)
        let signOut: @Sendable () -> Void = {
            guard let remote = box.withLock({ $0.take() }) else { return }
            token.withLock { $0 = "t2" }
            remote.signOut()
        }
        let remote: DatasyncRemote = try .datasync(
            EmulatorTransport.url.absoluteString,
            transport: EmulatorTransport(emulator) { request, emulator in
                let answer = try await emulator.handle(request)
                if request.method == method { signOut() }
                return answer
            }
        ) {
            AccessToken(token.withLock { $0 })
        }
        box.withLock { $0 = remote }
        let context = SyncContext(store: try makeStore(), remote: remote)
        try await body(context, try context.table("TodoItem"), emulator, signOut)
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

    /// Signs out at one point of a push.
    private final class Leaving: SyncContextDelegate {
        private let signOut: @Sendable () -> Void
        private let atEnd: Bool

        init(atEnd: Bool, _ signOut: @escaping @Sendable () -> Void) {
            self.atEnd = atEnd
            self.signOut = signOut
        }

        func syncContext(_ context: SyncContext, willSend operation: TableOperation) { if !atEnd { signOut() } }
        func syncContext(_ context: SyncContext, didPush report: PushReport) { if atEnd { signOut() } }
    }

    @Test("between the push of a pull and its pages: nothing is pulled in another's name")
    func betweenPushAndPull() async throws {
        try await signedIn { context, table, emulator, signOut in
            let delegate = Leaving(atEnd: true, signOut)
            context.delegate = delegate
            try emulator.seed([["id": "theirs", "text": "x"]], in: "TodoItem", of: "bob")
            try await table.insert(["text": "milk"], id: "a")
            #expect(try await syncErrorCode { try await table.pull(queryID: "all") } == .pullAborted)
            #expect(emulator.requests.count == 1)
            #expect(try await table.read(table.query).records.map(\.id) == ["a"])
            try await table.pull(queryID: "all")
            #expect(try await table.read("theirs") != nil)
            #expect(withExtendedLifetime(delegate) { true })
        }
    }

    @Test("between the pages of a pull and its push: nothing is pushed in another's name")
    func betweenPullAndPush() async throws {
        try await signedIn { context, table, emulator, signOut in
            let delegate = Leaving(atEnd: false, signOut)
            context.delegate = delegate
            try await table.insert(["text": "milk"], id: "a")
            let code = try await syncErrorCode {
                try await table.pull(queryID: "all", options: .init(order: .pullFirst))
            }
            #expect(code == .pushAbortedAuthentication)
            #expect(emulator.requests.map(\.request.method) == ["GET"])
            #expect(try await context.status().pending == 1)
            #expect(withExtendedLifetime(delegate) { true })
        }
    }

    @Test("while everything is brought anew: nothing more of it is brought in another's name")
    func reset() async throws {
        try await signedIn { context, table, emulator, signOut in
            for (user, id) in [("ann", "mine"), ("bob", "theirs")] {
                for number in 1...4 {
                    try emulator.seed([["id": .string("\(id)\(number)"), "text": "x"]], in: "TodoItem", of: user)
                }
            }
            let options = PullOptions(pageSize: 1) { _ in signOut() }
            let code = try await syncErrorCode {
                _ = try await context.reset(
                    onto: [FreshPull(table.query, options: options)],
                    discardsChanges: false
                )
            }
            #expect(code == .pullAborted)
            #expect(try await context.resetStage() == .begun)
            #expect(try await table.read(table.query).records.isEmpty)
        }
    }
}
