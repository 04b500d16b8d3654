import Foundation
import HTTPTransport
import RemoteContract
import ScriptedServer
import SyncContract
import Synchronization
import Testing

@testable import DatasyncHTTP

@Suite("Signing out", .timeLimit(.minutes(5)))
struct SignOutTests {
    private static let table = TableDefinition("todo", columns: [.init("text", .string)])

    private func insert(_ remote: DatasyncRemote) async throws {
        _ = try await remote.insert(Record(id: "a1", ["text": "milk"]), into: Self.table)
    }

    @Test("a request under way ends, and the next one asks for a token anew")
    func underWay() async throws {
        let source = TokenSource { AccessToken("t\($0)") }
        let service = GuardedService(valid: ["t1", "t2"])
        let remote: DatasyncRemote = try .datasync("https://example.org", transport: service) {
            try await source.token()
        }
        service.hold()
        let task = Task { try await insert(remote) }
        await service.arrived(1)
        remote.signOut()
        let error = await #expect(throws: RemoteError.self) { try await task.value }
        #expect(error?.code == .unauthorized && error?.status == nil)
        service.release()
        try await insert(remote)
        #expect(service.seen == ["t1", "t2"])
    }

    @Test("a request that waits for a token ends, and the token that comes late is not used")
    func waiting() async throws {
        let source = TokenSource { AccessToken("t\($0)") }
        let service = GuardedService(valid: ["t1", "t2"])
        let remote: DatasyncRemote = try .datasync("https://example.org", transport: service) {
            try await source.token()
        }
        source.hold()
        let task = Task { try await insert(remote) }
        await source.asked()
        remote.signOut()
        let error = await #expect(throws: RemoteError.self) { try await task.value }
        #expect(error?.code == .unauthorized)
        source.release()
        try await insert(remote)
        #expect(service.seen == ["t2"])
    }

    @Test("a push that has begun sends nothing further, whoever is signed in by then")
    func sameRun() async throws {
        let source = TokenSource { AccessToken("t\($0)") }
        let service = GuardedService(valid: ["t1", "t2"])
        let remote: DatasyncRemote = try .datasync("https://example.org", transport: service) {
            try await source.token()
        }
        try await RequestCounter()
            .counting {
                try await insert(remote)
                remote.signOut()
                let error = await #expect(throws: RemoteError.self) { try await insert(remote) }
                #expect(error?.code == .unauthorized)
                let again = await #expect(throws: RemoteError.self) { try await insert(remote) }
                #expect(again?.code == .unauthorized)
            }
        #expect(service.seen == ["t1"])
        try await RequestCounter().counting { try await insert(remote) }
        #expect(service.seen == ["t1", "t2"])
    }

    @Test("without a token provider, what is under way ends as well, and its connection is given up")
    func overSocket() async throws {
        let arrived = AsyncStream<Void>.makeStream()
        let gone = AsyncStream<Void>.makeStream()
        let server = try ScriptedServer { _ in
            arrived.continuation.yield()
            return [.silence, .perform { gone.continuation.yield() }]
        }
        let remote = try DatasyncRemote(baseURL: server.url, dialect: .datasync)
        let task = Task { try await insert(remote) }
        for await _ in arrived.stream { break }
        remote.signOut()
        let error = await #expect(throws: RemoteError.self) { try await task.value }
        #expect(error?.code == .unauthorized)
        for await _ in gone.stream { break }
    }
}
