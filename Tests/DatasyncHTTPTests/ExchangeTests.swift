import DatasyncHTTP
import Foundation
import HTTPTransport
import RemoteContract
import SyncContract
import Testing

/// A service that refuses everything and repeats what it was asked, with its header fields, in every writing.
private struct EchoService: ClientTransport {
    var status = 400
    var length = 0

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var echo = request.headerFields.map { "\($0.name.rawName)=\($0.value)" }.joined(separator: ";")
        echo += " " + (request.path ?? "")
        let escaped = echo.replacing("/", with: "\\/").replacing("+", with: "\\u002B").replacing("\"", with: "'")
        let body = #"{"message":"you sent \#(escaped)\#(String(repeating: "ż", count: length))"}"#
        return HTTPResponse(
            status: .init(code: status),
            headerFields: [
                .contentType: "application/json", HTTPField.Name("Set-Cookie")!: "session=c00kiejar; Path=/",
                HTTPField.Name("X-Echo")!: echo, HTTPField.Name("Server")!: "Kestrel \(echo)",
            ],
            body: Array(body.utf8)
        )
    }
}

/// A network in which nothing arrives.
private struct NoNetwork: ClientTransport {
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        throw TransportError(.cannotConnect, "no network", fate: .notSent)
    }
}

@Suite("What went over the wire, for support")
struct ExchangeTests {
    private static let table = TableDefinition("todo", columns: [.init("text", .string)])
    private static let token = "eyJhbGciOi.J9eyJ+zdWIi/OiIx.abc_DEF-123=="
    private static let secrets = ["eyJhbGciOi", "J9eyJ", "zdWIi", "OiIx", "abc_DEF-123", "k3y-of-gateway", "c00kiejar"]

    private func remote(_ transport: some ClientTransport, _ dialect: DatasyncDialect) throws -> DatasyncRemote {
        var options = DatasyncOptions()
        options.headerFields = ["X-Gateway-Key": "k3y-of-gateway", "Cookie": "session=c00kiejar"]
        return try dialect == .datasync
            ? .datasync("https://example.org/base", options: options, transport: transport) { AccessToken(Self.token) }
            : .azureMobileApps("https://example.org/base", options: options, transport: transport) {
                AccessToken(Self.token)
            }
    }

    private func failure(_ call: () async throws -> Void) async throws -> RemoteError {
        try #require(await #expect(throws: RemoteError.self) { try await call() })
    }

    @Test("a refusal has request and answer, and nothing secret of them", arguments: DatasyncDialect.allCases)
    func refusal(_ dialect: DatasyncDialect) async throws {
        let remote = try remote(EchoService(), dialect)
        let row = Record(id: "a1", ["text": "buy milk"])
        let error = try await failure {
            _ = try await remote.update(row, in: Self.table, version: "V1", restoring: false)
        }
        let exchange = try #require(error.exchange)
        #expect(exchange.method == (dialect == .datasync ? "PUT" : "PATCH"))
        #expect(exchange.path.hasPrefix("/base/tables/todo/a1") && exchange.status == 400)
        #expect(exchange.requestBody?.contains("buy milk") == true)
        #expect(exchange.answerBody?.contains("you sent") == true)
        let fields = Dictionary(exchange.requestFields.map { ($0.name, $0.value) }) { _, last in last }
        #expect(fields["If-Match"] == "\"V1\"" && fields["Content-Type"] == "application/json")
        // That a field was sent is told, what it held is not.
        let field = dialect == .datasync ? "Authorization" : "X-ZUMO-AUTH"
        for name in [field, "X-Gateway-Key", "Cookie"] { #expect(fields[name] == .some(nil), "\(name)") }
        #expect(exchange.text.contains("\(field): (left out)"))
        for secret in Self.secrets {
            #expect(!exchange.text.contains(secret), "\(secret) is in what is kept for support")
            #expect(!error.description.contains(secret), "\(secret) is in the message")
            #expect(!String(reflecting: exchange).contains(secret))
        }
    }

    @Test("of the call of a custom API neither body is kept: they may be passwords")
    func customAPI() async throws {
        let call = APICall("login", method: .post, body: Array(#"{"password":"hunter22"}"#.utf8))
        for transport: any ClientTransport in [EchoService(), NoNetwork()] {
            let url = try #require(URL(string: "https://example.org"))
            let remote = try DatasyncRemote(baseURL: url, dialect: .datasync, transport: transport)
            let error = try await failure { _ = try await remote.invokeAPI(call) }
            let exchange = try #require(error.exchange)
            #expect(exchange.method == "POST" && exchange.requestBody == "(left out)")
            #expect(exchange.answerBody == (exchange.status == nil ? nil : "(left out)"))
            #expect(!exchange.text.contains("hunter22") && !exchange.text.contains("you sent"))
        }
    }

    @Test("what describes an error or an exchange has no content of rows")
    func descriptions() async throws {
        let remote = try remote(EchoService(status: 422), .datasync)
        let error = try await failure {
            _ = try await remote.insert(Record(id: "a1", ["text": "buy milk"]), into: Self.table)
        }
        let exchange = try #require(error.exchange)
        #expect("\(exchange)" == "POST /base/tables/todo: HTTP 422")
        for text in ["\(error)", error.localizedDescription, String(reflecting: error), String(reflecting: exchange)] {
            #expect(!text.contains("milk"), "\(text)")
        }
    }

    @Test("a long body is cut, also behind a secret, and says how long it was")
    func longBodies() async throws {
        let remote = try remote(EchoService(length: 60_000), .datasync)
        let error = try await failure {
            _ = try await remote.insert(
                Record(id: "a1", ["text": .string(String(repeating: "é", count: 9_000))]),
                into: Self.table
            )
        }
        let exchange = try #require(error.exchange)
        for body in [exchange.requestBody, exchange.answerBody] {
            let body = try #require(body)
            #expect(body.utf8.count < RemoteExchange.maximumBodySize + 40)
            #expect(body.hasSuffix(" bytes)"))
        }
    }

    @Test("a secret on which a body is cut leaves no half of it")
    func cutSecret() {
        let secret = String(repeating: "s3cret", count: 40)
        for size in stride(
            from: 4 * RemoteExchange.maximumBodySize - 240,
            through: 4 * RemoteExchange.maximumBodySize,
            by: 7
        ) {
            let exchange = RemoteExchange(
                method: "GET",
                path: "/",
                requestFields: [("X-Key", secret)],
                answerBody: Array(repeating: UInt8(ascii: " "), count: size - RemoteExchange.maximumBodySize * 3)
                    + Array(secret.utf8)
                    + Array(repeating: UInt8(ascii: " "), count: 5 * RemoteExchange.maximumBodySize)
            )
            #expect(exchange.answerBody?.contains("s3cret") == false)
        }
    }

    @Test("of two secrets of which one is a part of the other, nothing is left of the longer one")
    func secretWithinSecret() {
        let exchange = RemoteExchange(
            method: "GET",
            path: "/",
            answerBody: Array("you sent abcdefgh".utf8),
            secrets: ["abcd", "abcdefgh"]
        )
        #expect(exchange.answerBody?.hasPrefix("you sent ") == true)
        #expect(!exchange.text.contains("efgh"))
    }

    @Test("a request without an answer is told, and says so")
    func unanswered() async throws {
        let remote = try remote(NoNetwork(), .datasync)
        let error = try await failure { try await remote.delete("a1", from: Self.table, version: "V1") }
        let exchange = try #require(error.exchange)
        #expect(error.code == .unreachable && exchange.status == nil)
        #expect("\(exchange)" == "DELETE /base/tables/todo/a1: no answer")
        for secret in Self.secrets { #expect(!exchange.text.contains(secret)) }
    }

    @Test(
        "of the parameters of a pull only the protocol's own keep their values",
        arguments: ["code", "__code", "key$"]
    )
    func parameters(_ name: String) async throws {
        let remote = try remote(EchoService(), .datasync)
        let error = try await failure {
            _ = try await remote.page(
                Query("todo"),
                of: Self.table,
                at: .everything,
                pageSize: 5,
                parameters: [name: "f6nction-key"]
            )
        }
        let exchange = try #require(error.exchange)
        #expect(exchange.path.contains("$top=5") && exchange.path.contains("=&") || exchange.path.hasSuffix("="))
        #expect(!exchange.text.contains("f6nction") && !error.description.contains("f6nction"))
    }

    @Test("what was refused before it was sent has no exchange")
    func notSent() async throws {
        let remote = try remote(EchoService(), .datasync)
        let error = try await failure { _ = try await remote.insert(Record(id: 7), into: Self.table) }
        #expect(error.code == .invalidRequest && error.exchange == nil)
    }
}
