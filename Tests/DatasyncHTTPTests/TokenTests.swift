import Foundation
import HTTPTransport
import RemoteContract
import ScriptedServer
import SyncContract
import Synchronization
import Testing

@testable import DatasyncHTTP

@Suite("Tokens, asked for once and sent to one service", .timeLimit(.minutes(5)))
struct TokenTests {
    private static let table = TableDefinition("todo", columns: [.init("text", .string)])

    private func remote(
        _ service: GuardedService,
        _ source: TokenSource,
        _ dialect: DatasyncDialect = .datasync,
        options: DatasyncOptions = DatasyncOptions(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws -> DatasyncRemote {
        try DatasyncRemote(
            URL(string: "https://example.org")!,
            dialect,
            options,
            nil,
            service,
            tokens: TokenCache(now: now) { try await source.token() }
        ) { .now }
    }

    private func insert(_ remote: DatasyncRemote) async throws {
        _ = try await remote.insert(Record(id: "a1", ["text": "milk"]), into: Self.table)
    }

    private func failure(_ call: () async throws -> Void) async throws -> RemoteError {
        try #require(await #expect(throws: RemoteError.self) { try await call() })
    }

    @Test(
        "the token goes into the field of its protocol, or into another one",
        arguments: [
            (DatasyncDialect.datasync, nil, "Authorization", "Bearer t1"), (.azureMobileApps, nil, "X-ZUMO-AUTH", "t1"),
            (.azureMobileApps, "Authorization", "Authorization", "Bearer t1"), (.datasync, "X-Key", "X-Key", "t1"),
        ] as [(DatasyncDialect, String?, String, String)]
    )
    func fields(_ dialect: DatasyncDialect, _ option: String?, _ field: String, _ value: String) async throws {
        let transport = RecordingTransport()
        var options = DatasyncOptions()
        options.tokenField = option
        options.headerFields = ["X-Gateway-Key": "k", "User-Agent": "Todo/1"]
        let remote: DatasyncRemote =
            dialect == .datasync
            ? try .datasync("https://example.org", options: options, transport: transport) { AccessToken("t1") }
            : try .azureMobileApps("https://example.org", options: options, transport: transport) { AccessToken("t1") }
        try await insert(remote)
        #expect(transport.fields[field] == value)
        #expect(transport.fields["X-Gateway-Key"] == "k" && transport.fields["User-Agent"] == "Todo/1")
    }

    @Test(
        "a field that is the protocol's, or cannot be sent, is refused before anything is sent",
        arguments: [
            ["If-Match": "x"], ["content-type": "x"], ["Host": "x"], ["a b": "x"], ["X-A": "secret\r\nB: c"], ["": "x"],
            ["X-A": "1", "x-a": "2"], ["Authorization": "secret"], ["Keep-Alive": "x"], ["TE": "x"], ["trailer": "x"],
            ["Upgrade": "x"], ["Proxy-Connection": "x"], ["Transfer-Encoding": "x"],
        ]
    )
    func refusedFields(_ fields: [String: String]) throws {
        var options = DatasyncOptions()
        options.headerFields = fields
        let error = #expect(throws: RemoteError.self) {
            let remote: DatasyncRemote = try .datasync("https://example.org", options: options) { nil }
            _ = remote
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("what is given for each request goes in the place of a field of the same name that all have")
    func replacedField() async throws {
        var options = DatasyncOptions()
        options.headerFields = ["Authorization": "Basic gateway"]
        let transport = RecordingTransport()
        let remote = try DatasyncRemote(
            baseURL: try #require(URL(string: "https://example.org")),
            dialect: .datasync,
            options: options,
            authentication: TokenAuthentication.bearer { "t1" },
            transport: transport
        )
        try await insert(remote)
        #expect(transport.fields["Authorization"] == "Bearer t1")
    }

    @Test("an address that is none is refused")
    func badAddress() {
        for address in ["", "todo", "http://example.org", "https://"] {
            let error = #expect(throws: RemoteError.self) { _ = try DatasyncRemote.datasync(address) }
            #expect(error?.code == .invalidAddress)
        }
    }

    @Test("a token is asked for once, and kept until a minute before it ends")
    func cached() async throws {
        let start = Date(timeIntervalSinceReferenceDate: 0)
        let time = Mutex(start)
        let source = TokenSource { AccessToken("t\($0)", expires: start.addingTimeInterval(Double($0) * 600)) }
        let service = GuardedService(valid: ["t1", "t2"])
        let remote = try remote(service, source) { time.withLock { $0 } }
        try await insert(remote)
        time.withLock { $0 += 539 }
        try await insert(remote)
        #expect(service.seen == ["t1", "t1"])
        time.withLock { $0 += 2 }
        try await insert(remote)
        #expect(service.seen == ["t1", "t1", "t2"] && source.count == 2)
    }

    @Test("a token that lasts shorter than the margin is used all the same")
    func shortLived() async throws {
        let source = TokenSource { AccessToken("t\($0)", expires: Date() + 5) }
        let service = GuardedService(valid: ["t1", "t2"])
        let remote = try remote(service, source)
        try await insert(remote)
        try await insert(remote)
        #expect(service.seen == ["t1", "t2"])
    }

    @Test("all requests that wait get the token that was asked for once")
    func singleFlight() async throws {
        let source = TokenSource { AccessToken("t\($0)") }
        let service = GuardedService(valid: ["t1"])
        let remote = try remote(service, source)
        source.hold()
        try await withThrowingTaskGroup { group in
            for _ in 0..<10 { group.addTask { try await insert(remote) } }
            await source.asked()
            source.release()
            try await group.waitForAll()
        }
        #expect(source.count == 1 && service.seen == Array(repeating: "t1", count: 10))
    }

    @Test("after a 401 the token is asked for anew once, for all that were refused, and each is sent once more")
    func renewed() async throws {
        let source = TokenSource { AccessToken("t\($0)") }
        let service = GuardedService(valid: ["t1"])
        let remote = try remote(service, source)
        try await insert(remote)
        service.accept(["t2"])
        service.hold()
        try await withThrowingTaskGroup { group in
            for _ in 0..<5 { group.addTask { try await insert(remote) } }
            await service.arrived(6)
            service.release()
            try await group.waitForAll()
        }
        #expect(source.count == 2)
        #expect(service.seen == Array(repeating: "t1", count: 6) + Array(repeating: "t2", count: 5))
    }

    @Test("a 401 for an older token does not throw away the newer one")
    func lateRefusal() async throws {
        let source = TokenSource { AccessToken("t\($0)") }
        let service = GuardedService(valid: ["t2"])
        let remote = try remote(service, source)
        service.hold()
        let late = Task { try await insert(remote) }
        await service.arrived(1)
        service.letThrough()
        try await insert(remote)
        // By the time the first request hears of its refusal, there is another token.
        service.release()
        try await late.value
        try await insert(remote)
        #expect(source.count == 2 && service.seen == ["t1", "t1", "t2", "t2", "t2"])
    }

    @Test("when the new token is refused as well, the error is the server's, after two requests")
    func refusedTwice() async throws {
        let source = TokenSource { AccessToken("secret\($0)") }
        let service = GuardedService(valid: [])
        let remote = try remote(service, source)
        let error = try await failure { try await insert(remote) }
        #expect(error.code == .unauthorized && error.status == 401)
        #expect(service.seen == ["secret1", "secret2"])
        #expect(!error.description.contains("secret"))
    }

    @Test("a read is sent with a token as well, and renewed like a write")
    func reads() async throws {
        let source = TokenSource { AccessToken("t\($0)") }
        let service = GuardedService(valid: ["t2"])
        let remote = try remote(service, source)
        _ = try await remote.record("a1", in: Self.table)
        #expect(service.seen == ["t1", "t2"])
    }

    @Test("while nobody is signed in nothing is sent, and that is what the error says")
    func nobody() async throws {
        let source = TokenSource { $0 == 1 ? nil : AccessToken("t\($0)") }
        let service = GuardedService(valid: ["t2"])
        let remote = try remote(service, source)
        let error = try await failure { try await insert(remote) }
        #expect(error.code == .unauthorized && error.status == nil && error.wasNotSent)
        #expect(error.message.contains("Nobody is signed in"))
        #expect(service.seen.isEmpty && remote.requestCount == 0)
        try await insert(remote)
        #expect(service.seen == ["t2"])
    }

    @Test("a token that no field can carry is not sent", arguments: ["", "secret\r\nX: y", "secret\u{0}"])
    func unusable(_ text: String) async throws {
        let service = GuardedService(valid: [])
        let remote = try remote(service, TokenSource { _ in AccessToken(text) })
        let error = try await failure { try await insert(remote) }
        #expect(error.code == .unauthorized && !error.description.contains("secret"))
        #expect(service.seen.isEmpty)
    }

    private struct FixedField: RequestAuthentication {
        let field: HTTPField

        func headerField() async throws -> HTTPField? { field }
    }

    @Test(
        "a field of one's own authentication that no request can carry is not sent, and no change is to blame",
        arguments: [("Authorization", "Bearer secret\n"), ("If-Match", "\"secret\""), ("Host", "secret")]
    )
    func unusableField(_ name: String, _ value: String) async throws {
        let transport = RecordingTransport(answer: "{}")
        let field = HTTPField(name: try #require(HTTPField.Name(name)), value: value)
        let remote = try DatasyncRemote.recording(
            .datasync,
            into: transport,
            authentication: FixedField(field: field)
        )
        let error = try await failure { try await insert(remote) }
        #expect(error.code == .unauthorized && error.wasNotSent && !error.description.contains("secret"))
        #expect(transport.lastRequest == nil)
    }

    private struct LoginFailed: Error {}

    @Test("what the provider throws is the cause, and the next request asks again")
    func throwing() async throws {
        let source = TokenSource { number in
            if number == 1 { throw LoginFailed() }
            if number == 2 { throw CancellationError() }
            if number == 3 { throw RemoteError(.unreachable, "The login service cannot be reached.", status: 504) }
            return AccessToken("t")
        }
        let service = GuardedService(valid: ["t"])
        let remote = try remote(service, source)
        let failed = try await failure { try await insert(remote) }
        #expect(failed.code == .unauthorized && failed.cause is LoginFailed)
        let dismissed = try await failure { try await insert(remote) }
        #expect(dismissed.code == .unauthorized && dismissed.cause is CancellationError)
        let unreached = try await failure { try await insert(remote) }
        #expect(unreached.code == .unreachable && unreached.wasNotSent && unreached.status == nil)
        #expect(service.seen.isEmpty)
        try await insert(remote)
    }

    @Test("cancelling one request that waits does not take the token from the others")
    func cancelledWait() async throws {
        let source = TokenSource { AccessToken("t\($0)") }
        let service = GuardedService(valid: ["t1"])
        let remote = try remote(service, source)
        source.hold()
        let first = Task { try await insert(remote) }
        await source.asked()
        let second = Task { try await insert(remote) }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        source.release()
        try await second.value
        #expect(source.count == 1 && service.seen == ["t1"])
    }

    @Test("a token that comes after its user has signed out is used for nobody")
    func lateToken() async throws {
        let source = TokenSource { AccessToken("t\($0)") }
        let service = GuardedService(valid: ["t1", "t2"])
        let remote = try remote(service, source)
        source.hold()
        let former = Task { try await insert(remote) }
        await source.asked()
        remote.signOut()
        await #expect(throws: RemoteError.self) { try await former.value }
        source.release()
        // That it has come is seen by nothing: by now it has, or it comes too late to be taken for the next one.
        for _ in 0..<1_000 { await Task.yield() }
        try await insert(remote)
        #expect(service.seen == ["t2"])
    }

    @Test("a provider that asks the service it gives tokens for is told so, instead of waiting for itself")
    func circle() async throws {
        let service = GuardedService(valid: ["t"])
        let box = Mutex<DatasyncRemote?>(nil)
        let remote: DatasyncRemote = try .datasync("https://example.org", transport: service) {
            _ = try await box.withLock { $0 }?.record("me", in: Self.table)
            return AccessToken("t")
        }
        box.withLock { $0 = remote }
        let error = try await failure { try await insert(remote) }
        box.withLock { $0 = nil }
        #expect(error.code == .unauthorized && error.wasNotSent && service.seen.isEmpty)
        #expect(error.description.contains("let it use a remote without a provider"))
    }

    @Test(
        "what another service has said to the provider is no answer to the request",
        arguments: [
            (.refused, .unauthorized), (.unfitRow, .unauthorized), (.conflict, .unauthorized),
            (.notFound, .unauthorized), (.invalidRequest, .unauthorized), (.serverFailure, .unreachable),
            (.throttled, .throttled), (.notTheService, .unreachable),
        ] as [(RemoteError.Code, RemoteError.Code)],
        [false, true]
    )
    func wordOfAnother(_ code: (said: RemoteError.Code, told: RemoteError.Code), isAskedForEach: Bool) async throws {
        let said = RemoteError(code.said, "on purpose", status: 400, retryAfter: .seconds(7))
        let service = GuardedService(valid: ["t"])
        let remote =
            isAskedForEach
            ? try DatasyncRemote(
                baseURL: try #require(URL(string: "https://example.org")),
                dialect: .datasync,
                authentication: TokenAuthentication.bearer { throw said },
                transport: service
            ) : try remote(service, TokenSource { _ in throw said })
        let error = try await failure { try await insert(remote) }
        #expect(error.code == code.told && error.wasNotSent && error.status == nil && error.exchange == nil)
        #expect(error.retryAfter == (code.told == .unauthorized ? nil : .seconds(7)))
        #expect((error.cause as? RemoteError)?.code == code.said)
    }

    @Test("further parameters of a table do not go to whomever the provider asks", arguments: [false, true])
    func parametersOfAnother(isAskedForEach: Bool) async throws {
        let (other, own) = (RecordingTransport(), RecordingTransport())
        let base = try #require(URL(string: "https://example.org"))
        let login = try DatasyncRemote(baseURL: base, dialect: .datasync, transport: other)
        let token: @Sendable () async throws -> String = {
            _ = try await login.insert(Record(id: "a1", [:]), into: Self.table)
            return "t"
        }
        let remote =
            isAskedForEach
            ? try DatasyncRemote(
                baseURL: base,
                dialect: .datasync,
                authentication: TokenAuthentication.bearer { try await token() },
                transport: own
            )
            : try DatasyncRemote(baseURL: base, dialect: .datasync, transport: own) { AccessToken(try await token()) }
        let counter = RequestCounter()
        try await counter.counting {
            _ = try await remote.adding(parameters: ["key": "k"]).insert(Record(id: "a1", [:]), into: Self.table)
        }
        #expect(other.lines == [#"POST /tables/todo {"id":"a1"}"#] && own.lines.count == 1)
        #expect(own.lines.first?.contains("key=k") == true && counter.count == 1)
    }

    @Test("a transport that gives up by itself has nobody signed out")
    func transportGivesUp() async throws {
        struct Impatient: ClientTransport {
            func send(_ request: HTTPRequest) async throws -> HTTPResponse { throw CancellationError() }
        }
        let remote = try DatasyncRemote(
            baseURL: try #require(URL(string: "https://example.org")),
            dialect: .datasync,
            transport: Impatient()
        )
        let error = try await failure { try await insert(remote) }
        #expect(error.code == .unreachable && !error.wasNotSent)
    }

    @Test("a token is shown by no description")
    func descriptions() {
        let token = AccessToken("secret", expires: .distantFuture)
        var dumped = ""
        dump(token, to: &dumped)
        dump([token], to: &dumped)
        for text in ["\(token)", String(reflecting: token), "\([token])", dumped] { #expect(!text.contains("secret")) }
    }

    @Test("a redirect is not followed with the token, whatever its status", arguments: [301, 302, 303, 307, 308])
    func redirect(_ status: Int) async throws {
        let other = try ScriptedServer(answering: response("200 OK", #"{"id":"a1"}"#))
        let server = try ScriptedServer(
            answering: response("\(status) Elsewhere", fields: ["Location: \(other.url.absoluteString)/tables/todo"])
        )
        let remote = try DatasyncRemote(baseURL: server.url, dialect: .datasync) { AccessToken("secret") }
        let error = try await failure { try await insert(remote) }
        #expect(!error.description.contains("secret"))
        #expect(other.requests.isEmpty && server.requests.map { $0.fields["authorization"] } == ["Bearer secret"])
    }
}
