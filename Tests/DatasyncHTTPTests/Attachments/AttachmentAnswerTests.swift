import DatasyncHTTP
import HTTPTransport
import RemoteContract
import ScriptedServer
import Testing

@Suite("What servers answer about attachments", .timeLimit(.minutes(5)))
struct AttachmentAnswerTests {
    /// A service that answers every request as a closure says, and its files below a path.
    private struct Service: AttachmentTransport {
        let server: ScriptedServer
        let files: any AttachmentTransport

        init(_ answer: @escaping @Sendable (ScriptedServer.Request) -> String) throws {
            server = try ScriptedServer { [.send(Array(answer($0).utf8))] }
            let remote = try DatasyncRemote(baseURL: server.url, dialect: .datasync, transport: CurlTransport())
            files = try remote.attachments(path: "/files/photos")
        }

        func state(of id: AttachmentID) async throws -> AttachmentUploadState { try await files.state(of: id) }

        func upload(
            _ id: AttachmentID,
            from offset: Int64,
            length: Int64,
            content: @escaping @Sendable () async throws -> [UInt8]?
        ) async throws { try await files.upload(id, from: offset, length: length, content: content) }

        func download(
            _ id: AttachmentID,
            from offset: Int64,
            receive: @escaping @Sendable (_ version: AttachmentVersion, _ bytes: [UInt8]) async throws -> Void
        ) async throws { try await files.download(id, from: offset, receive: receive) }

        func delete(_ id: AttachmentID) async throws { try await files.delete(id) }
    }

    private static let page = "<html><body>Welcome to the hotel</body></html>"
    private static let html = ["Content-Type: text/html"]

    @Test("addresses are below the path that was given, and segments of dots are refused")
    func addresses() async throws {
        let id = AttachmentID.make()
        let files = try Service { request in
            #expect(request.target == "/files/photos/\(id.text)")
            return response("404 Not Found", fields: ["Content-Type: application/problem+json"])
        }
        #expect(try await files.state(of: id) == .missing)
        let server = try ScriptedServer(answering: "")
        let remote = try DatasyncRemote(baseURL: server.url, dialect: .datasync)
        #expect(throws: RemoteError.self) { try remote.attachments(path: "a/../b") }
    }

    @Test(
        "a page for browsers is not the service, whatever it is an answer to",
        arguments: ["200 OK", "404 Not Found", "206 Partial Content", "302 Found", "502 Bad Gateway"]
    )
    func pages(_ status: String) async throws {
        let files = try Service { _ in response(status, Self.page, fields: Self.html) }
        let id = AttachmentID.make()
        let received = Received()
        #expect(try await files.failure(from: 0, received).code == .notTheService)
        #expect(received.bytes.isEmpty)
        for work in [
            { _ = try await files.state(of: id) }, { try await files.send(id, TestContent(10)) },
            { try await files.delete(id) },
        ] {
            let error = await #expect(throws: RemoteError.self) { try await work() }
            #expect(error?.code == .notTheService)
        }
    }

    @Test("an answer that says nothing of a file does not make one complete")
    func silence() async throws {
        for fields in [
            [], ["Upload-Offset: 10"], ["Upload-Complete: ?1"], ["Upload-Offset: x", "Upload-Complete: ?1"],
        ] {
            let files = try Service { _ in response("200 OK", fields: fields) }
            let error = await #expect(throws: RemoteError.self) { try await files.state(of: .make()) }
            #expect(error?.code == .invalidResponse)
            if fields.contains("Upload-Complete: ?1") { continue }
            await #expect(throws: RemoteError.self) { try await files.send(.make(), TestContent(10)) }
        }
    }

    @Test("where the answer to the last byte says nothing, the server is asked what it has")
    func asksAgain() async throws {
        for (offset, isThere) in [(10, true), (9, false)] {
            let files = try Service { request in
                guard request.method == "HEAD" else { return response("200 OK") }
                return response("200 OK", fields: ["Upload-Offset: \(offset)", "Upload-Complete: ?1"])
            }
            do {
                try await files.send(.make(), TestContent(10))
                #expect(isThere)
            } catch let error as RemoteError {
                #expect(!isThere && error.code == .conflict)
            }
        }
    }

    @Test(
        "statuses to bytes that are sent",
        arguments: [
            ("404 Not Found", 0, RemoteError.Code.notFound), ("404 Not Found", 5, .conflict),
            ("410 Gone", 5, .conflict),
            ("409 Conflict", 0, .conflict), ("413 Content Too Large", 0, .refused), ("403 Forbidden", 0, .refused),
            ("401 Unauthorized", 0, .unauthorized), ("429 Too Many Requests", 0, .throttled),
            ("507 Insufficient Storage", 0, .serverFailure), ("504 Gateway Timeout", 0, .notTheService),
        ]
    )
    func statuses(_ status: String, _ offset: Int64, _ code: RemoteError.Code) async throws {
        let files = try Service { _ in response(status, "{\"title\":\"no\"}") }
        let error = await #expect(throws: RemoteError.self) {
            try await files.send(.make(), TestContent(10), from: offset)
        }
        #expect(error?.code == code)
    }

    @Test(
        "other bytes than those that were asked for are never handed on",
        arguments: [
            ["Content-Range: bytes 4-9/10"], ["Content-Range: bytes 4-8/10"], ["Content-Range: bytes 6-9/10"],
            ["Content-Range: bytes 6-10/11"], ["Content-Range: bytes 5-9/*"], [],
            ["Content-Range: bytes 5-8/10"], ["Content-Range: items 5-9/10"], ["Content-Range: bytes 5-10/10"],
            ["Content-Type: multipart/byteranges; boundary=x"],
            ["Content-Range: bytes 5-9/10", "Content-Encoding: gzip"],
        ]
    )
    func wrongRanges(_ fields: [String]) async throws {
        let files = try Service { _ in response("206 Partial Content", "abcde", fields: fields) }
        let received = Received()
        #expect(try await files.failure(from: 5, received).code == .invalidResponse)
        #expect(received.bytes.isEmpty)
    }

    @Test("a server that ignores what was asked for is understood, and what is there already is left out")
    func ignoresRange() async throws {
        let files = try Service { _ in response("200 OK", "0123456789", fields: []) }
        for offset in 0...10 {
            let received = Received()
            try await files.download(.make(), from: Int64(offset)) { received.take($0, $1) }
            #expect(String(decoding: received.bytes, as: UTF8.self) == "0123456789".dropFirst(offset))
            #expect(received.lengths == [10])
        }
        #expect(try await files.failure(from: 11).code == .conflict)
    }

    @Test("a server may give less at a time than was asked for")
    func smallParts() async throws {
        let files = try Service { request in
            let first = request.fields["range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
            let part = String("0123456789".dropFirst(first).prefix(3))
            return response(
                "206 Partial Content",
                part,
                fields: ["Content-Range: bytes \(first)-\(first + part.count - 1)/10"]
            )
        }
        let received = Received()
        try await files.download(.make(), from: 0) { received.take($0, $1) }
        #expect(String(decoding: received.bytes, as: UTF8.self) == "0123456789")
    }

    @Test("a body without a length is held to the one that is said elsewhere")
    func chunked() async throws {
        for (length, code) in [(9, RemoteError.Code.invalidResponse), (10, nil), (11, .invalidResponse)] {
            let head =
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nUpload-Length: \(length)\r\nConnection: close\r\n\r\n"
            let files = try Service { _ in head + "a\r\n0123456789\r\n0\r\n\r\n" }
            let received = Received()
            do {
                try await files.download(.make(), from: 0) { received.take($0, $1) }
                #expect(code == nil && received.bytes.count == 10)
            } catch let error as RemoteError {
                #expect(error.code == code)
            }
        }
    }

    @Test("a file that ends before what is there already is an error")
    func shorter() async throws {
        for (length, isThere) in [(5, true), (4, false)] {
            let range = "Content-Range: bytes */\(length)"
            let files = try Service { _ in response("416 Range Not Satisfiable", fields: [range]) }
            guard isThere else {
                #expect(try await files.failure(from: 5).code == .conflict)
                continue
            }
            let received = Received()
            try await files.download(.make(), from: 5) { received.take($0, $1) }
            #expect(received.calls == 1 && received.lengths == [5])
        }
    }

    @Test("signing out ends what is under way")
    func signOut() async throws {
        let server = try ScriptedServer { _ in
            [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234".utf8)), .silence]
        }
        let remote = try DatasyncRemote(baseURL: server.url, dialect: .datasync, transport: CurlTransport()) {
            AccessToken("a")
        }
        let files = try remote.attachments()
        let error = await #expect(throws: RemoteError.self) {
            try await files.download(.make(), from: 0) { _, _ in remote.signOut() }
        }
        #expect(error?.code == .unauthorized)
        await server.allConnectionsClosed()
    }
}
