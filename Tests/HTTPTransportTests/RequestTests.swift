import DatasyncEmulator
import Foundation
import HTTPTransport
import ScriptedServer
import Testing

@Suite("Requests on the wire", .timeLimit(.minutes(5)))
struct RequestTests {
    private let transport = CurlTransport.with { $0.maximumIdleTime = .seconds(600) }

    private func echo() throws -> ScriptedServer {
        try ScriptedServer { _ in [.send(Array(response("200 OK", "done", keepsOpen: true).utf8)), .keepOpen] }
    }

    @Test(
        "have their method, raw target and body",
        arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "QUERY", "get"]
    )
    func methods(_ name: String) async throws {
        let server = try echo()
        let method = try #require(HTTPRequest.Method(name))
        let path = "/a/../b//c/%2E%2e/%41?x=%20+'()&$y=[1]|\\\"<>^`{}&&"
        let answer = try await transport.send(.to(server, method, path, body: name == "GET" ? nil : "bödy"))
        #expect(answer.status == .ok && answer.text == "done")
        let request = try #require(server.requests.first)
        #expect(request.method == name && request.target == path)
        #expect(request.body == (name == "GET" ? "" : "bödy"))
    }

    @Test("have the fields that were given, in their order and case, and nothing that was not asked for")
    func fields() async throws {
        let server = try echo()
        var fields: HTTPFields = [HTTPField.Name("x-First")!: "1", .contentType: "application/json"]
        fields.append(HTTPField(name: HTTPField.Name("X-Same")!, value: "a"))
        fields.append(HTTPField(name: HTTPField.Name("X-Same")!, value: "b, é"))
        fields.append(HTTPField(name: HTTPField.Name("X-Empty")!, value: ""))
        fields.append(HTTPField(name: HTTPField.Name("X-Blank")!, value: " \t"))
        _ = try await transport.send(.to(server, .post, fields: fields, body: "{}"))
        #expect(
            server.requests.first?.head == [
                "POST /tables/todo HTTP/1.1", "Host: \(server.authority)", "Accept-Encoding: gzip", "x-First: 1",
                "Content-Type: application/json", "X-Same: a", "X-Same: b, é", "X-Empty:", "X-Blank:",
                "Content-Length: 2",
            ]
        )
    }

    @Test("without a body say so where the method usually has one", arguments: [HTTPRequest.Method.post, .put, .patch])
    func emptyBodies(_ method: HTTPRequest.Method) async throws {
        let server = try echo()
        _ = try await transport.send(.to(server, method))
        _ = try await transport.send(.to(server, .delete))
        #expect(server.requests.map { $0.fields["content-length"] } == ["0", nil])
        #expect(server.requests.allSatisfy { $0.fields["content-type"] == nil && $0.fields["expect"] == nil })
    }

    @Test("of several megabytes arrive whole, without waiting for a permission")
    func largeBody() async throws {
        let server = try ScriptedServer { [.send(Array(response("200 OK", "\($0.body.utf8.count)").utf8))] }
        let body = String(repeating: "0123456789", count: 500_000)
        let answer = try await transport.send(.to(server, .put, body: body))
        #expect(answer.text == "5000000")
        #expect(server.requests.first?.body == body)
        #expect(server.requests.first?.fields["expect"] == nil)
    }

    @Test("of one method leave nothing behind for those of another on the same connection")
    func methodsInTurn() async throws {
        let server = try ScriptedServer { request in
            let text = response("200 OK", request.method == "HEAD" ? "" : request.body, keepsOpen: true)
            return [.send(Array(text.utf8)), .keepOpen]
        }
        let methods: [(HTTPRequest.Method, String?)] = [
            (.post, "one"), (.get, nil), (.head, nil), (.patch, "two"), (.delete, nil), (.delete, "three"), (.get, nil),
            (.put, ""), (.head, nil), (.post, "four"),
        ]
        for (method, body) in methods {
            #expect(try await transport.send(.to(server, method, body: body)).text == body ?? "")
        }
        #expect(server.requests.map(\.method) == methods.map(\.0.rawValue))
        #expect(server.requests.map(\.body) == methods.map { $0.1 ?? "" })
        #expect(server.connectionCount == 1)
    }

    @Test("reach a server by its IPv6 address")
    func addressOfVersion6() async throws {
        let server = EmulatorServer(EmulatorConfiguration(tables: ["todo"]))
        let url = try await server.start(host: "::1")
        let request = HTTPRequest(
            method: .get,
            scheme: "http",
            authority: "[::1]:\(url.port ?? 0)",
            path: "/tables/todo"
        )
        let answer = try await transport.send(request)
        await server.stop()
        #expect(answer.status == .ok)
    }

    @Test("with a body in a HEAD, or with far too large a head, are refused before anything is sent")
    func refusedByShape() async throws {
        let server = try echo()
        let long = String(repeating: "x", count: 300_000)
        for request: HTTPRequest in [
            .to(server, .head, body: "x"), .to(server, .get, "/" + long), .to(server, fields: [.accept: long]),
        ] {
            let error = try await transport.failure(of: request)
            #expect(error.code == .invalidRequest && error.fate == .notSent)
        }
        #expect(server.connectionCount == 0)
    }

    @Test(
        "that cannot be sent are refused before anything is",
        arguments: [
            (nil, "h", "/", [:]), ("ftp", "h", "/", [:]), ("HTTP ", "h", "/", [:]), ("http", nil, "/", [:]),
            ("http", "", "/", [:]), ("http", ":80", "/", [:]), ("http", "user@h", "/", [:]),
            ("http", "user:secret@h", "/", [:]), ("http", "h/x", "/", [:]), ("http", "h?x", "/", [:]),
            ("http", "h#x", "/", [:]), ("http", "a b", "/", [:]), ("http", "h\r\nX: y", "/", [:]),
            ("http", "münchen.example", "/", [:]), ("http", "h:99999", "/", [:]), ("http", "[::1", "/", [:]),
            ("http", "h", nil, [:]), ("http", "h", "", [:]), ("http", "h", "x", [:]), ("http", "h", "/a b", [:]),
            ("http", "h", "/a\r\nX: y", [:]), ("http", "h", "/\u{0}", [:]), ("http", "h", "/é", [:]),
            ("http", "h", "/a#b", [:]), ("http", "h", "/", [.accept: "a\r\nX-Injected: b"]),
            ("http", "h", "/", [.accept: "a\nb"]), ("http", "h", "/", [.accept: "a\u{0}b"]),
            ("http", "h", "/", [.host: "other"]), ("http", "h", "/", [.contentLength: "5"]),
            ("http", "h", "/", [.transferEncoding: "chunked"]), ("http", "h", "/", [.connection: "close"]),
            ("http", "h", "/", [.expect: "100-continue"]),
        ] as [(String?, String?, String?, HTTPFields)]
    )
    func refused(_ scheme: String?, _ authority: String?, _ path: String?, _ fields: HTTPFields) async throws {
        let server = try echo()
        // Where the server's name is not what is wrong, it is one that would notice.
        let request = HTTPRequest(
            method: .get,
            scheme: scheme,
            authority: authority == "h" ? server.authority : authority,
            path: path,
            headerFields: fields
        )
        let error = try await transport.failure(of: request)
        #expect(error.code == .invalidRequest)
        #expect(error.fate == .notSent)
        #expect(!error.description.contains("secret"))
        #expect(server.connectionCount == 0)
    }
}
