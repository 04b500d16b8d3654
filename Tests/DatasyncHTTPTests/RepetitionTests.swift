import ChildProcesses
import DatasyncHTTP
import Foundation
import HTTPTransport
import RemoteContract
import ScriptedServer
import SyncContract
import Synchronization
import Testing

@Suite("What the adapter sends again at once", .timeLimit(.minutes(5)))
struct RepetitionTests {
    private static let table = TableDefinition("todo", columns: [.init("text", .string)])
    private static let row = Record(id: "a1", ["text": "milk"])
    private static let answer = ScriptedServer.Step.send(
        Array(response("200 OK", #"{"id":"a1","text":"milk"}"#, keepsOpen: true).utf8)
    )

    /// A remote that keeps connections however slow the machine is.
    private func remote(at server: ScriptedServer) throws -> DatasyncRemote {
        var options = TransportOptions()
        options.maximumIdleTime = .seconds(600)
        return try DatasyncRemote(baseURL: server.url, dialect: .datasync, transport: DefaultTransport(options))
    }

    /// A server whose connections answer one request and die under the next one.
    private func dyingServer() throws -> ScriptedServer {
        try ScriptedServer { $0.number == 0 ? [Self.answer, .keepOpen] : [] }
    }

    @Test("is a read whose connection died")
    func read() async throws {
        let server = try dyingServer()
        let remote = try remote(at: server)
        for _ in 0..<2 { #expect(try await remote.record("a1", in: Self.table)?["text"] == "milk") }
        #expect(server.requests.count == 3)
        #expect(remote.requestCount == 3)
    }

    @Test("is no change whose connection died: it may have been carried out")
    func change() async throws {
        let changes: [(DatasyncRemote) async throws -> Void] = [
            { _ = try await $0.insert(Self.row, into: Self.table) },
            { _ = try await $0.update(Self.row, in: Self.table, version: "V1", restoring: false) },
            { try await $0.delete("a1", from: Self.table, version: "V1") },
        ]
        for change in changes {
            let server = try dyingServer()
            let remote = try remote(at: server)
            _ = try await remote.record("a1", in: Self.table)
            let error = await #expect(throws: RemoteError.self) { try await change(remote) }
            #expect(error?.code == .unreachable)
            #expect(server.requests.count == 2)
        }
    }

    @Test("is sent once more and no oftener")
    func once() async throws {
        let server = try ScriptedServer { _ in [] }
        let remote = try remote(at: server)
        let error = await #expect(throws: RemoteError.self) { try await remote.record("a1", in: Self.table) }
        #expect(error?.code == .unreachable)
        #expect(server.requests.count == 2)
    }

    @Test("is nothing that has taken its time, or is too large, or no answer at all")
    func never() async throws {
        var options = DatasyncOptions()
        options.requestTimeout = .seconds(1)
        for steps: [ScriptedServer.Step] in [[.silence], [.send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))]] {
            let server = try ScriptedServer { _ in steps }
            let remote = try DatasyncRemote(baseURL: server.url, dialect: .datasync, options: options)
            await #expect(throws: RemoteError.self) { try await remote.record("a1", in: Self.table) }
            // The server may read what was sent only after the client has given up.
            try await looking { !server.requests.isEmpty }
            #expect(server.requests.count == 1)
        }
    }

    /// Fails as it is told to, and counts.
    private final class FailingTransport: ClientTransport {
        private let failure: TransportError
        private let sent = Mutex<[HTTPRequest]>([])

        init(_ failure: TransportError) { self.failure = failure }

        var requests: [HTTPRequest] { sent.withLock { $0 } }

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            sent.withLock { $0.append(request) }
            throw failure
        }
    }

    @Test(
        "depends on what became of the request and whether trying at once may help",
        arguments: [
            (.connectionLost, .notSent, true), (.cannotConnect, .notSent, true),
            (.connectionLost, .mayHaveBeenProcessed, false), (.timedOut, .notSent, false),
            (.unknownHost, .notSent, false), (.untrustedCertificate, .notSent, false), (.closed, .notSent, false),
        ] as [(TransportError.Code, TransportError.Fate, Bool)]
    )
    func table(_ code: TransportError.Code, _ fate: TransportError.Fate, _ isRepeated: Bool) async throws {
        let transport = FailingTransport(TransportError(code, "failed", fate: fate))
        let url = try #require(URL(string: "https://example.org"))
        let remote = try DatasyncRemote(baseURL: url, dialect: .datasync, transport: transport)
        await #expect(throws: RemoteError.self) { try await remote.insert(Self.row, into: Self.table) }
        #expect(transport.requests.count == (isRepeated ? 2 : 1))
        // The second one has no more time than the first one left.
        if let first = transport.requests.first?.timeout, let last = transport.requests.last?.timeout {
            #expect(isRepeated ? last < first : last == first)
        }
    }
}
