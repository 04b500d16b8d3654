import HTTPTransport
import ScriptedServer
import Testing

@Suite("Half an answer is none", .timeLimit(.minutes(5)))
struct BrokenResponseTests {
    private let transport = CurlTransport()

    private func failure(_ bytes: [UInt8], resets: Bool = false) async throws -> TransportError {
        let server = try ScriptedServer { _ in [.send(bytes)] + (resets ? [.reset] : []) }
        return try await transport.failure(of: .to(server, .post, body: "{}", timeout: .seconds(10)))
    }

    @Test(
        "when it is cut at any byte, of head or body",
        arguments: [
            "Content-Length: 11\r\n\r\n{\"id\":\"a1\"}",
            "Transfer-Encoding: chunked\r\n\r\nb\r\n{\"id\":\"a1\"}\r\n0\r\n\r\n",
        ]
    )
    func cut(_ rest: String) async throws {
        let whole = Array(("HTTP/1.1 200 OK\r\nETag: \"V1\"\r\n" + rest).utf8)
        // Of the very last line break libcurl misses nothing: the last chunk was there.
        for count in 0..<whole.count - (rest.hasPrefix("T") ? 2 : 0) {
            let error = try await failure(Array(whole.prefix(count)))
            #expect(error.code == .connectionLost, "cut after \(count) bytes: \(error)")
            #expect(error.fate == .mayHaveBeenProcessed)
        }
    }

    @Test("when the connection is reset before, within or behind it")
    func reset() async throws {
        for text in ["", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"] {
            let error = try await failure(Array(text.utf8), resets: true)
            #expect(error.code == .connectionLost, "\(error)")
            #expect(error.fate == .mayHaveBeenProcessed)
        }
    }

    @Test(
        "when nothing tells where it ends, or two things differ",
        arguments: [
            "HTTP/1.1 200 OK\r\n\r\n{\"id\":\"a1\"}", "HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.1 401 Unauthorized\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 2\r\n\r\nabc",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nabc", "HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc",
        ]
    )
    func endless(_ text: String) async throws {
        let error = try await failure(Array(text.utf8))
        #expect(error.code == .invalidResponse, "\(error)")
        #expect(error.fate == .mayHaveBeenProcessed)
    }

    @Test(
        "when it is not HTTP",
        arguments: [
            "SSH-2.0-OpenSSH_9.2\r\n", "\r\n\r\n", "{\"id\":\"a1\"}", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 99\r\n\r\n",
            "HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n: x\r\n\r\n", "\u{15}\u{3}\u{3}\u{0}\u{2}\u{2}F",
        ]
    )
    func noHTTP(_ text: String) async throws {
        let error = try await failure(Array(text.utf8))
        #expect(error.code == .invalidResponse || error.code == .connectionLost, "\(error)")
        #expect(error.message.contains("127.0.0.1"))
    }

    @Test("when a chunk has no size, or is longer than it")
    func brokenChunks() async throws {
        for chunk in ["x\r\nabc\r\n0\r\n\r\n", "2\r\nabc\r\n0\r\n\r\n", "FFFFFFFFFFFFFFFFFF\r\nabc\r\n0\r\n\r\n"] {
            let error = try await failure(Array(("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk).utf8))
            #expect(error.code == .invalidResponse, "\(error)")
        }
    }
}
