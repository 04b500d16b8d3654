import HTTPTransport
import ScriptedServer
import Testing

@Suite("Answers", .timeLimit(.minutes(5)))
struct ResponseTests {
    private let transport = CurlTransport()

    private func answer(_ text: String, _ method: HTTPRequest.Method = .get) async throws -> HTTPResponse {
        let server = try ScriptedServer(answering: text)
        return try await transport.send(.to(server, method))
    }

    @Test("come with their status and their fields, in order and as sent")
    func fields() async throws {
        let answer = try await answer(
            "HTTP/1.1 418 I'm a teapot\r\nx-B: 1\r\nSet-Cookie: a=b\r\nX-A:  two words \t\r\nSet-Cookie: c=d\r\nEmpty:\r\n"
                + "Content-Length: 3\r\n\r\ntea"
        )
        #expect(answer.status.code == 418)
        #expect(
            answer.headerFields.map { "\($0.name): \($0.value)" } == [
                "x-B: 1", "Set-Cookie: a=b", "X-A: two words", "Set-Cookie: c=d", "Empty: ", "Content-Length: 3",
            ]
        )
        #expect(answer.text == "tea")
    }

    @Test("in chunks are put together, trailers left out")
    func chunks() async throws {
        let answer = try await answer(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0A;x=y\r\n0123456789\r\n0\r\nX-Trailer: t\r\n\r\n"
        )
        #expect(answer.text == "abc0123456789")
        #expect(answer.headerFields.count == 1)
    }

    @Test("after interim ones are the real ones")
    func interim() async throws {
        let answer = try await answer(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + response("200 OK", "real")
        )
        #expect(answer.status == .ok && answer.text == "real" && answer.headerFields[HTTPField.Name("Link")!] == nil)
    }

    @Test("without a body by their kind need no length")
    func withoutBody() async throws {
        #expect(try await answer("HTTP/1.1 204 No Content\r\n\r\n", .delete).status.code == 204)
        #expect(try await answer("HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n").body.isEmpty)
        #expect(try await answer("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", .head).body.isEmpty)
    }

    @Test("that redirect, ask for a password or set cookies are returned like any other")
    func noFollowing() async throws {
        let other = try ScriptedServer(answering: response("200 OK", "other"))
        for status in ["301 Moved", "303 See Other", "307 Temporary", "308 Permanent"] {
            let text = response(status, "here", fields: ["Location: \(other.url)/x"])
            #expect(try await answer(text, .post).text == "here")
        }
        let text = response("401 Unauthorized", "who?", fields: ["WWW-Authenticate: Basic realm=\"x\""])
        #expect(try await answer(text).status.code == 401)
        #expect(other.connectionCount == 0)

        let server = try ScriptedServer(answering: response("200 OK", "", fields: ["Set-Cookie: who=me; Path=/"]))
        for _ in 1...2 { _ = try await transport.send(.to(server)) }
        #expect(server.requests.count == 2 && server.requests.allSatisfy { $0.fields["cookie"] == nil })
    }

    @Test("that are compressed are unpacked")
    func gzip() async throws {
        let packed = Gzip.zeros(258 * 100 + 1)
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
        let server = try ScriptedServer { _ in [.send(Array(head.utf8) + packed)] }
        let answer = try await transport.send(.to(server))
        #expect(answer.body == [UInt8](repeating: 0, count: 25_801))
        #expect(answer.headerFields[.contentEncoding] == "gzip")
        #expect(server.requests.first?.fields["accept-encoding"] == "gzip")
    }

    @Test("with a broken compression are errors")
    func brokenGzip() async throws {
        var packed = Gzip.zeros(258 * 100 + 1)
        // One that breaks off is not seen by libcurl 7.88: what it was to unpack to has to be checked by who reads it.
        for damage in [
            { $0.replaceSubrange(0..<2, with: [0, 0]) }, { $0[12] = 0xFF }, { $0[$0.count - 5] ^= 1 },
            { $0 += [1, 2, 3] },
        ] as [(inout [UInt8]) -> Void] {
            packed = Gzip.zeros(258 * 100 + 1)
            damage(&packed)
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
            let bytes = Array(head.utf8) + packed
            let server = try ScriptedServer { _ in [.send(bytes)] }
            let error = try await transport.failure(of: .to(server))
            #expect(error.code == .invalidResponse, "\(error)")
        }
    }

    @Test("of several megabytes arrive whole, with a length and in chunks")
    func large() async throws {
        let body = String(repeating: "abcdefghij", count: 400_000)
        #expect(try await answer(response("200 OK", body)).text == body)
        let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3D0900\r\n\(body)\r\n0\r\n\r\n"
        #expect(try await answer(chunks).text == body)
    }

    @Test("are told apart when many are on their way at once")
    func many() async throws {
        let server = try ScriptedServer {
            [.send(Array(response("200 OK", $0.target, keepsOpen: true).utf8)), .keepOpen]
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let answer = try await transport.send(.to(server, .get, "/\(number)"))
                    #expect(answer.text == "/\(number)")
                }
            }
            try await group.waitForAll()
        }
        #expect(server.requests.count == 200)
    }
}
