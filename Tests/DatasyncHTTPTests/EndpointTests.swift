import DatasyncHTTP
import Foundation
import HTTPTransport
import RemoteContract
import SyncContract
import Testing

@Suite("Addresses, headers and authentication")
struct EndpointTests {
    private static let table = TableDefinition("todo", columns: [.init("text", .string)])

    @Test(
        "https, and http to this machine, are accepted",
        arguments: [
            "https://example.org", "https://example.org:8443/app/", "HTTPS://EXAMPLE.ORG", "http://localhost:8080",
            "http://LOCALHOST", "http://127.0.0.1:1", "http://127.255.1.9", "http://[::1]:8080",
            "https://münchen.example",
        ]
    )
    func accepted(_ url: String) throws {
        _ = try DatasyncRemote.recording(.datasync, into: RecordingTransport(), base: url)
    }

    @Test(
        "anything else is refused with a remedy",
        arguments: [
            "http://example.org", "http://10.0.0.1", "http://128.0.0.1", "http://127.0.0.1.example.org",
            "http://localhost.example.org", "http://127.0.0", "http://127.0.0.256", "http://127.0.0.0x1",
            "http://127..0.1", "http://[::2]", "http://[::ffff:10.0.0.1]", "http://0.0.0.0", "http://2130706433",
            "ftp://localhost", "file:///etc/passwd", "example.org", "/tables", "https://", "https:///x",
            "https://user@example.org", "https://user:secret@example.org", "https://example.org?x=1",
            "https://example.org#x", "https://example.org/a/../b", "https://example.org/./b", "https://example.org:0",
            "https://example.org:99999",
        ]
    )
    func refused(_ url: String) throws {
        let url = try #require(URL(string: url))
        do {
            _ = try DatasyncRemote(baseURL: url, dialect: .datasync)
            Issue.record("\(url) is accepted")
        } catch {
            #expect(error.code == .invalidAddress)
            #expect(error.message.hasPrefix("The ") && error.message.hasSuffix("."))
            #expect(!error.description.contains("secret"))
        }
    }

    @Test("plain HTTP to another machine is possible when it is asked for")
    func insecure() throws {
        var options = DatasyncOptions()
        options.allowsInsecureHTTP = true
        _ = try DatasyncRemote.recording(
            .datasync,
            into: RecordingTransport(),
            base: "http://10.0.0.1",
            options: options
        )
        #expect(throws: RemoteError.self) {
            try DatasyncRemote.recording(
                .datasync,
                into: RecordingTransport(),
                base: "ftp://10.0.0.1",
                options: options
            )
        }
    }

    @Test(
        "paths are put together from base, endpoint and table",
        arguments: [
            ("https://example.org", "tables", "todo", "https example.org /tables/todo/a1"),
            ("https://example.org/", "/tables/", "todo", "https example.org /tables/todo/a1"),
            (
                "https://example.org:8443/my%20app", "api/v1", "To Do",
                "https example.org:8443 /my%20app/api/v1/To%20Do/a1"
            ),
            ("http://[::1]:80/", "", "data/todo", "http [::1]:80 /data/todo/a1"),
            ("https://Example.ORG", "tables", "é", "https example.org /tables/%C3%A9/a1"),
        ]
    )
    func paths(_ base: String, _ endpoint: String, _ remoteName: String, _ expected: String) async throws {
        var options = DatasyncOptions()
        options.tableEndpoint = endpoint
        options.tableNames = ["todo": remoteName]
        let transport = RecordingTransport()
        let remote = try DatasyncRemote.recording(.datasync, into: transport, base: base, options: options)
        try await remote.delete("a1", from: Self.table, version: nil)
        let request = try #require(transport.lastRequest)
        #expect("\(request.scheme ?? "") \(request.authority ?? "") \(request.path ?? "")" == expected)
    }

    @Test("names with dot segments are refused", arguments: ["..", "a/../b", "."])
    func dotSegments(_ name: String) {
        var options = DatasyncOptions()
        options.tableNames = ["todo": name]
        #expect(throws: RemoteError.self) {
            try DatasyncRemote.recording(.datasync, into: RecordingTransport(), options: options)
        }
    }

    @Test(
        "every request names its protocol, and nothing more than needed",
        arguments: [(DatasyncDialect.datasync, "3.0.0"), (.azureMobileApps, "2.0.0")]
    )
    func fields(_ dialect: DatasyncDialect, _ version: String) async throws {
        let transport = RecordingTransport()
        var options = DatasyncOptions()
        options.requestTimeout = .seconds(7)
        let plain = try DatasyncRemote.recording(dialect, into: transport, options: options)
        try await plain.delete("a1", from: Self.table, version: nil)
        #expect(
            transport.fields == ["ZUMO-API-VERSION": version, "Accept": "application/json", "User-Agent": "SealedSync"]
        )
        #expect(transport.lastTimeout == .seconds(7))

        options.installationID = "5F9A"
        let named = try DatasyncRemote.recording(
            dialect,
            into: transport,
            options: options,
            authentication: TokenAuthentication.bearer { "abc" }
        )
        _ = try await named.insert(Record(id: "a1"), into: Self.table)
        #expect(
            transport.fields == [
                "ZUMO-API-VERSION": version, "Accept": "application/json", "User-Agent": "SealedSync",
                "Content-Type": "application/json", "X-ZUMO-INSTALLATION-ID": "5F9A", "Authorization": "Bearer abc",
            ]
        )
        #expect(named.requestCount == 1)
        #expect(named.replacesWholeRows == (dialect == .datasync))
    }

    @Test("an installation id that no header can carry is refused")
    func installationID() {
        var options = DatasyncOptions()
        options.installationID = "a\r\nX-Other: b"
        #expect(throws: RemoteError.self) {
            try DatasyncRemote.recording(.datasync, into: RecordingTransport(), options: options)
        }
    }

    @Test("a token is asked for anew for every request, in the field of its scheme")
    func tokens() async throws {
        let (numbers, next) = AsyncStream<Int>.makeStream()
        for number in 1...2 { next.yield(number) }
        let transport = RecordingTransport()
        let remote = try DatasyncRemote.recording(
            .azureMobileApps,
            into: transport,
            authentication: TokenAuthentication.azureMobileApps {
                for await number in numbers { return "token\(number)" }
                return nil
            }
        )
        for number in 1...2 {
            try await remote.delete("a1", from: Self.table, version: nil)
            #expect(transport.fields["X-ZUMO-AUTH"] == "token\(number)")
        }
        next.finish()
        try await remote.delete("a1", from: Self.table, version: nil)
        #expect(transport.fields["X-ZUMO-AUTH"] == nil)
    }

    private struct LoginFailed: Error {}

    @Test("without a usable token nothing is sent, and the token is not told")
    func noToken() async throws {
        let tokens: [@Sendable () async throws -> String?] = [
            { throw LoginFailed() }, { "secret\r\nX-Other: b" }, { "secret\u{0}" },
        ]
        for token in tokens {
            let transport = RecordingTransport()
            let remote = try DatasyncRemote.recording(
                .datasync,
                into: transport,
                authentication: TokenAuthentication.bearer(token)
            )
            let error = await #expect(throws: RemoteError.self) {
                try await remote.delete("a1", from: Self.table, version: nil)
            }
            #expect(error?.code == .unauthorized)
            #expect(error?.description.contains("secret") == false)
            #expect(transport.lines.isEmpty)
            #expect(remote.requestCount == 0)
        }
    }

    @Test("a dialect is found by its number")
    func dialects() {
        #expect(DatasyncDialect(rawValue: 3) == .datasync)
        #expect(DatasyncDialect(rawValue: 2) == .azureMobileApps)
        #expect(DatasyncDialect(rawValue: 1) == nil)
    }
}
