import HTTPTransport
import ScriptedServer
import Testing

@Suite("Limits on answers", .timeLimit(.minutes(5)))
struct LimitTests {
    private static let spaces = [UInt8](repeating: 0x20, count: 65_536)
    private let transport = CurlTransport.with {
        $0.maximumBodySize = 1 << 20
        $0.maximumHeadSize = 8_000
    }

    private func failure(_ steps: [ScriptedServer.Step]) async throws -> TransportError {
        let server = try ScriptedServer { _ in steps }
        return try await transport.failure(of: .to(server))
    }

    @Test("a body beyond the limit ends the exchange: by its length before it comes, without one while it comes")
    func bodies() async throws {
        let promised = Array("HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n".utf8)
        let chunked = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3200000\r\n".utf8)
        for steps: [ScriptedServer.Step] in [
            [.send(promised), .silence], [.send(chunked), .flood(Self.spaces, total: 52_428_800)],
        ] {
            let error = try await failure(steps)
            #expect(error.code == .tooLarge)
            #expect(error.message.contains("more than 1048576 bytes"))
            #expect(error.fate == .mayHaveBeenProcessed)
        }
    }

    @Test("a body without a limit takes memory as it comes, not as it is promised")
    func promises() async throws {
        let unlimited = CurlTransport.with { $0.maximumBodySize = .max }
        for length in [Int.max, 1 << 40] {
            let text = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nabc"
            let server = try ScriptedServer(answering: text)
            let error = try await unlimited.failure(of: .to(server))
            #expect(error.code == .connectionLost)
        }
    }

    @Test("a body of exactly the limit is taken")
    func exactBody() async throws {
        let server = try ScriptedServer(answering: response("200 OK", String(repeating: "x", count: 1 << 20)))
        #expect(try await transport.send(.to(server)).body.count == 1 << 20)
    }

    @Test("what unpacks beyond the limit ends the exchange, however small it travels")
    func bomb() async throws {
        let packed = Gzip.zeros(258 * 200_000 + 1)
        #expect(packed.count < 1 << 20)
        let head = Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n".utf8)
        #expect(try await failure([.send(head + packed)]).code == .tooLarge)
    }

    @Test("a head beyond the limit ends the exchange: one line, many lines, or many interim answers")
    func heads() async throws {
        let line = Array("X-A: \(String(repeating: "x", count: 990))\r\n".utf8)
        let interim = Array("HTTP/1.1 103 Early\r\nLink: \(String(repeating: "x", count: 500))\r\n\r\n".utf8)
        let start = Array("HTTP/1.1 200 OK\r\n".utf8)
        for steps: [ScriptedServer.Step] in [
            [.send(start + Array("X-A: ".utf8)), .flood(Self.spaces, total: 1_000_000)],
            // Far below what libcurl would take by itself.
            [.send(start), .flood(line, total: 20_000), .silence], [.flood(interim, total: 20_000), .silence],
        ] {
            let error = try await failure(steps)
            #expect(error.code == .tooLarge, "\(error)")
            #expect(error.message.contains("head"))
        }
    }

    @Test("an early refusal of a large body is the answer, although the server then closes")
    func earlyRefusal() async throws {
        let body = String(repeating: "x", count: 4_000_000)
        for _ in 0..<20 {
            let server = try ScriptedServer(readsBodies: false) { _ in
                [.send(Array(response("413 Too Large", "too large").utf8)), .finish, .silence]
            }
            let answer = try await transport.send(.to(server, .post, body: body))
            #expect(answer.status.code == 413 && answer.text == "too large")
        }
    }
}
