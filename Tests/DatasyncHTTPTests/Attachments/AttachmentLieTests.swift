import DatasyncHTTP
import HTTPTransport
import RemoteContract
import ScriptedServer
import Testing

@Suite("What servers say of attachments and do not keep to", .timeLimit(.minutes(5)))
struct AttachmentLieTests {
    private typealias Work = @Sendable (any AttachmentTransport) async throws -> Void

    /// Runs work against a server that answers every request as a closure says.
    private func with(
        _ answer: @escaping @Sendable (ScriptedServer.Request) -> String,
        _ work: Work
    ) async throws {
        let server = try ScriptedServer { [.send(Array(answer($0).utf8))] }
        let remote = try DatasyncRemote(baseURL: server.url, dialect: .datasync, transport: CurlTransport())
        try await work(try remote.attachments())
    }

    private func part(_ request: ScriptedServer.Request, of text: String, _ fields: String...) -> String {
        let first = request.fields["range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
        let part = String(text.dropFirst(first).prefix(4))
        let range = "Content-Range: bytes \(first)-\(first + part.count - 1)/\(text.count)"
        return response("206 Partial Content", part, fields: [range] + fields)
    }

    @Test("another tag between two parts is another file, of which nothing is put behind the first one's")
    func changedTag() async throws {
        for tags in [["\"a\"", "\"b\""], ["\"a\"", "", "\"b\""]] {
            let received = Received()
            try await with { request in
                let number = (request.fields["range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0) / 4
                let tag = tags[min(number, tags.count - 1)]
                return tag.isEmpty ? part(request, of: "0123456789") : part(request, of: "0123456789", "ETag: \(tag)")
            } _: { files async throws in
                #expect(try await files.failure(from: 0, received).code == .conflict)
            }
            #expect(received.bytes.count == 4 * (tags.count - 1))
        }
    }

    @Test("tags that promise less than the same bytes say nothing, and others are told")
    func tags() async throws {
        for (tag, told) in [("W/\"a\"", nil), ("a", nil), ("\"\"", nil), ("\"a\"", "\"a\"")] {
            try await with {
                part($0, of: "0123", "ETag: \(tag)")
            } _: { files async throws in
                try await files.download(.make(), from: 0) { version, _ in
                    #expect(version == AttachmentVersion(length: 4, tag: told))
                }
            }
        }
        // Weak ones may change for the same bytes.
        try await with {
            part($0, of: "01234567", "ETag: W/\"\($0.fields["range"] ?? "")\"")
        } _: { files async throws in
            let received = Received()
            try await files.download(.make(), from: 0) { received.take($0, $1) }
            #expect(received.bytes.count == 8)
        }
    }

    @Test("another length between two parts is another file")
    func changedLength() async throws {
        try await with {
            part($0, of: $0.fields["range"] == nil ? "0123456789" : "0123456789a")
        } _: { files async throws in
            let received = Received()
            #expect(try await files.failure(from: 0, received).code == .conflict)
            #expect(received.bytes.count == 4)
        }
    }

    @Test("a part that is longer than its range is none, and one that is shorter is gone on with")
    func otherCount() async throws {
        for (body, isTaken) in [("012345", false), ("01", true)] {
            try await with { request in
                let first = request.fields["range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
                let text = String(body.prefix(first == 0 ? 6 : 4 - first))
                return
                    "HTTP/1.1 206 Partial Content\r\nTransfer-Encoding: chunked\r\nContent-Range: bytes \(first)-3/4\r\n"
                    + "Connection: close\r\n\r\n\(text.count)\r\n\(text)\r\n0\r\n\r\n"
            } _: { files async throws in
                let received = Received()
                if isTaken {
                    try await files.download(.make(), from: 0) { received.take($0, $1) }
                    #expect(received.bytes.count == 4)
                } else {
                    #expect(try await files.failure(from: 0, received).code == .invalidResponse)
                }
            }
        }
    }

    @Test("a body that ends early is fetched on, and counts as what it was")
    func endsEarly() async throws {
        let received = Received()
        try await with { _ in
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n01234"
        } _: { files async throws in
            #expect(try await files.failure(from: 0, received).code == .unreachable)
        }
        #expect(received.bytes.count == 5)
    }

    /// What a status means at each step: HEAD, PATCH from 0 and from 5, GET from 0 and from 5, DELETE; nil for no error.
    private static let meanings: [(String, [RemoteError.Code?])] = [
        ("404 Not Found", [nil, .notFound, .conflict, .notFound, .notFound, nil]),
        ("410 Gone", [nil, .notFound, .conflict, .notFound, .notFound, nil]),
        ("413 Content Too Large", .init(repeating: .refused, count: 6)),
        ("507 Insufficient Storage", .init(repeating: .serverFailure, count: 6)),
        ("301 Moved Permanently", .init(repeating: .notTheService, count: 6)),
        ("302 Found", .init(repeating: .notTheService, count: 6)),
        ("307 Temporary Redirect", .init(repeating: .notTheService, count: 6)),
        ("308 Permanent Redirect", .init(repeating: .notTheService, count: 6)),
    ]

    @Test("statuses at every step", arguments: meanings)
    func statuses(_ status: String, _ codes: [RemoteError.Code?]) async throws {
        let steps: [Work] = [
            { _ = try await $0.state(of: .make()) }, { try await $0.send(.make(), TestContent(10)) },
            { try await $0.send(.make(), TestContent(10), from: 5) },
            { try await $0.download(.make(), from: 0) { _, _ in } },
            { try await $0.download(.make(), from: 5) { _, _ in } }, { try await $0.delete(.make()) },
        ]
        for (number, (step, code)) in zip(steps, codes).enumerated() {
            try await with { _ in
                response(status, fields: ["Location: /elsewhere", "Content-Type: application/problem+json"])
            } _: { files async throws in
                do {
                    try await step(files)
                    #expect(code == nil, "step \(number)")
                } catch let error as RemoteError {
                    #expect(error.code == code, "step \(number)")
                }
            }
        }
    }

    @Test("a page for browsers that says it is the end of an upload is asked for, not believed")
    func pageAfterUpload() async throws {
        try await with { _ in
            response("200 OK", "<html></html>", fields: ["Content-Type: text/html", "Upload-Complete: ?1"])
        } _: { files async throws in
            let error = await #expect(throws: RemoteError.self) { try await files.send(.make(), TestContent(10)) }
            #expect(error?.code == .notTheService)
        }
    }
}
