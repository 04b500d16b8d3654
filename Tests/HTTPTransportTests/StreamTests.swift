import HTTPTransport
import ScriptedServer
import Synchronization
import Testing

@Suite("Bodies that pass through piece by piece", .timeLimit(.minutes(5)))
struct StreamTests {
    // However long a test is kept from going on, it meets the connection that it has used before.
    private let transport = CurlTransport.with { $0.maximumIdleTime = .seconds(600) }

    /// Gives so many bytes, a piece at a time, and counts them.
    final class Source: Sendable {
        private let given = Mutex(0)
        private let total: Int
        private let size: Int

        init(_ total: Int, by size: Int) {
            self.total = total
            self.size = size
        }

        var count: Int { given.withLock { $0 } }

        var body: StreamedBody { StreamedBody(length: Int64(total)) { self.next() } }

        private func next() -> [UInt8]? {
            given.withLock { given in
                let count = min(size, total - given)
                defer { given += count }
                return count == 0 ? nil : (given..<given + count).map(Source.byte)
            }
        }

        /// The byte at a place: a letter, so that it can be compared as text.
        static func byte(_ index: Int) -> UInt8 { UInt8(ascii: "a") + UInt8(index % 23) }
    }

    final class Sink: Sendable {
        private let bytes = Mutex<[UInt8]>([])

        var all: [UInt8] { bytes.withLock { $0 } }

        func take(_ piece: [UInt8]) { bytes.withLock { $0 += piece } }
    }

    private func send(
        _ request: HTTPRequest,
        _ body: StreamedBody? = nil,
        by transport: CurlTransport? = nil,
        to receive: @escaping @Sendable ([UInt8]) async throws -> Void = { _ in }
    ) async throws -> HTTPResponse {
        try await (transport ?? self.transport).send(request, body: body) { _ in .streamed(receive) }
    }

    private func failure(
        _ request: HTTPRequest,
        _ body: StreamedBody? = nil,
        by transport: CurlTransport? = nil,
        to receive: @escaping @Sendable ([UInt8]) async throws -> Void = { _ in }
    ) async throws -> TransportError {
        try #require(
            await #expect(throws: TransportError.self) {
                try await send(request, body, by: transport, to: receive)
            }
        )
    }

    /// Waits for a server that takes thirty times so long, a third of a second.
    private func someTime(milliseconds: Int32 = 10) async throws {
        let server = try ScriptedServer { _ in
            [.drip(Array(response("200 OK").utf8.prefix(30)), milliseconds: milliseconds)]
        }
        _ = try await CurlTransport().failure(of: .to(server))
    }

    /// Never comes, but for the end of the task.
    private func untilCancelled() async throws {
        let (never, end) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        end.finish()
        try Task.checkCancellation()
    }

    // MARK: Requests

    @Test("a body arrives as it was given, with its length and no word of permission", arguments: [1, 3_000, 400_000])
    func uploads(_ size: Int) async throws {
        let server = try ScriptedServer(answering: response("201 Created", "{}"))
        let source = Source(1_000_000, by: size)
        let answer = try await transport.send(.to(server, .patch), body: source.body) { _ in .held }
        #expect(answer.status.code == 201 && answer.text == "{}")
        let request = try #require(server.requests.first)
        #expect(Array(request.body.utf8) == (0..<1_000_000).map(Source.byte))
        #expect(request.fields["content-length"] == "1000000")
        #expect(request.fields["expect"] == nil && request.fields["transfer-encoding"] == nil)
    }

    @Test("an empty body, a body that is there as a whole, and a streamed one follow each other on a connection")
    func reuse() async throws {
        let server = try ScriptedServer { _ in [.send(Array(response("200 OK", keepsOpen: true).utf8)), .keepOpen] }
        for _ in 0..<2 {
            _ = try await send(.to(server, .patch), Source(0, by: 1).body)
            _ = try await send(.to(server, .patch), Source(100_000, by: 7_000).body)
            _ = try await transport.send(.to(server, .post, body: "whole"))
            _ = try await transport.send(.to(server))
        }
        #expect(server.requests.map(\.body.utf8.count) == [0, 100_000, 5, 0, 0, 100_000, 5, 0])
        #expect(server.requests.map(\.method) == ["PATCH", "PATCH", "POST", "GET", "PATCH", "PATCH", "POST", "GET"])
        #expect(server.connectionCount == 1)
    }

    @Test(
        "a stream on a connection that was used before has the time that it says itself, and not that of the one before"
    )
    func timeoutAfterReuse() async throws {
        let server = try ScriptedServer { request in
            guard request.target.hasSuffix("/slow") else {
                return [.send(Array(response("200 OK", keepsOpen: true).utf8)), .keepOpen]
            }
            return [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n".utf8))]
                + [.drip([UInt8](repeating: 0x41, count: 20), milliseconds: 125)]
        }
        _ = try await transport.send(.to(server, timeout: .seconds(1)))
        let sink = Sink()
        _ = try await send(.to(server, .get, "/slow", timeout: .seconds(2))) { sink.take($0) }
        #expect(sink.all.count == 20)
        #expect(server.connectionCount == 1)
    }

    @Test("a server that takes nothing holds the source up, and ends it in the end")
    func backPressure() async throws {
        let server = try ScriptedServer(readsBodies: false) { _ in [.hold] }
        let source = Source(100_000_000, by: 65_536)
        let error = try await failure(
            .to(server, .patch),
            source.body,
            by: .with { $0.stallTimeout = .milliseconds(300) }
        )
        #expect(error.code == .timedOut && error.message.contains("stood still"))
        #expect(source.count < 20_000_000, "\(source.count) bytes were taken")
    }

    @Test("a body that is shorter or longer than it was said to be ends the exchange", arguments: [99_999, 100_001])
    func wrongLength(_ length: Int64) async throws {
        let server = try ScriptedServer(answering: response("200 OK"))
        let source = Source(100_000, by: 1_000)
        let error = try await failure(
            .to(server, .patch),
            StreamedBody(length: length, next: source.body.next)
        )
        #expect(error.code == .invalidRequest)
        #expect(error.message.contains("\(length) bytes"))
        #expect(server.requests.isEmpty, "a whole request arrived")
    }

    @Test("an answer before the end of the body is the answer, also while the source stands still")
    func earlyAnswer() async throws {
        for count in [0, 3, 10_000_000] {
            let server = try ScriptedServer(readsBodies: false) { _ in
                [.send(Array(response("409 Conflict", "no").utf8)), .finish, .silence]
            }
            let source = Source(count, by: 65_536)
            let next = source.body.next
            let body = StreamedBody(length: 50_000_000) {
                if let piece = try await next() { return piece }
                try await untilCancelled()
                return nil
            }
            let answer = try await transport.send(.to(server, .patch), body: body) { _ in .held }
            #expect(answer.status.code == 409 && answer.text == "no")
        }
    }

    @Test("a source is not asked before there is a connection")
    func noConnection() async throws {
        let server = try ScriptedServer(answering: "")
        let port = server.port
        let source = Source(10, by: 10)
        var request = HTTPRequest.to(server, .patch)
        request.authority = "127.0.0.1:\(port == 1 ? 2 : 1)"
        let error = try await failure(request, source.body)
        #expect(error.code == .cannotConnect && error.fate == .notSent)
        #expect(source.count == 0)
    }

    @Test("what the source throws ends the exchange")
    func sourceFails() async throws {
        struct Stop: Error {}
        let server = try ScriptedServer(answering: response("200 OK"))
        let source = Source(500_000, by: 65_536)
        await #expect(throws: Stop.self) {
            try await send(
                .to(server, .patch),
                StreamedBody(length: 500_000) {
                    guard source.count < 200_000 else { throw Stop() }
                    return try await source.body.next()
                }
            )
        }
        await server.allConnectionsClosed()
        #expect(server.requests.isEmpty)
    }

    // MARK: Answers

    @Test("a slow receiver holds the server up, and gets everything", arguments: [false, true])
    func slowReceiver(_ isChunked: Bool) async throws {
        let total = 3_000_000
        let bytes = (0..<total).map(Source.byte)
        let head = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(total)"
        let framed =
            isChunked ? Array("\(String(total, radix: 16))\r\n".utf8) + bytes + Array("\r\n0\r\n\r\n".utf8) : bytes
        let server = try ScriptedServer { _ in
            [.send(Array("HTTP/1.1 200 OK\r\n\(head)\r\n\r\n".utf8)), .send(framed)]
        }
        let sink = Sink()
        // Longer than the server may stand still: it is not the one that does.
        let transport = CurlTransport.with { $0.stallTimeout = .seconds(1) }
        let answer = try await send(.to(server), by: transport) { piece in
            #expect(piece.count <= 512 * 1_024)
            if sink.all.isEmpty { try await someTime(milliseconds: 50) }
            sink.take(piece)
        }
        #expect(answer.status.code == 200 && answer.body.isEmpty)
        #expect(sink.all == bytes)
    }

    @Test("while the receiver works, the server cannot go on for long")
    func bounded() async throws {
        let piece = [UInt8](repeating: 0x20, count: 65_536)
        let sent = Mutex(0)
        let server = try ScriptedServer { _ in
            [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 268435456\r\n\r\n".utf8))]
                + (0..<4_096)
                .flatMap { _ in
                    [.send(piece), .perform { sent.withLock { $0 += 65_536 } }] as [ScriptedServer.Step]
                }
        }
        struct Enough: Error {}
        await #expect(throws: Enough.self) {
            try await send(.to(server)) { _ in
                try await someTime()
                // Later the server sends into the void.
                #expect(sent.withLock { $0 } < 30_000_000)
                throw Enough()
            }
        }
    }

    @Test("a body that breaks off is an error, behind all that came of it", arguments: [false, true])
    func cut(_ resets: Bool) async throws {
        for count in [0, 1, 16_384, 99_999] {
            let bytes = (0..<count).map(Source.byte)
            let server = try ScriptedServer { _ in
                [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n".utf8) + bytes)]
                    + (resets ? [.reset] : [])
            }
            let sink = Sink()
            let error = try await failure(.to(server)) { sink.take($0) }
            #expect(error.code == .connectionLost && error.fate == .mayHaveBeenProcessed)
            // A reset may take back what has not arrived.
            #expect(bytes.starts(with: sink.all) && (resets || sink.all.count == count))
        }
    }

    @Test("a body beyond the limit ends the exchange; the head decides what becomes of a body")
    func limits() async throws {
        let body = String(repeating: "x", count: 100_000)
        for (text, kept) in [
            (response("200 OK", body), 0),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n\(body)\r\n0\r\n\r\n", 99_999),
        ] {
            let server = try ScriptedServer(answering: text)
            let sink = Sink()
            let error = await #expect(throws: TransportError.self) {
                try await transport.send(.to(server), body: nil) { _ in .streamed(limit: 99_999) { sink.take($0) } }
            }
            #expect(error?.code == .tooLarge)
            #expect(sink.all.count <= kept)
        }
        struct NotThat: Error {}
        let server = try ScriptedServer(answering: response("404 Not Found", body))
        let answer = try await transport.send(.to(server), body: nil) {
            $0.status.code == 404 ? .held : .streamed { _ in }
        }
        #expect(answer.text == body)
        await #expect(throws: NotThat.self) {
            try await transport.send(.to(server), body: nil) { _ in throw NotThat() }
        }
    }

    @Test("the request's timeout counts from its last byte to the answer's head")
    func timeout() async throws {
        let silent = try ScriptedServer { _ in [.silence] }
        let error = try await failure(.to(silent, .patch, timeout: .milliseconds(200)), Source(1_000, by: 10).body)
        #expect(error.code == .timedOut && error.fate == .mayHaveBeenProcessed)
        let slow = try ScriptedServer { _ in
            [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n".utf8))]
                + [.drip([UInt8](repeating: 0x41, count: 20), milliseconds: 125)]
        }
        let sink = Sink()
        _ = try await send(.to(slow, timeout: .seconds(2))) { sink.take($0) }
        #expect(sink.all.count == 20)
    }

    // MARK: Cancellation

    @Test("cancelling ends the exchange, wherever it is")
    func cancellation() async throws {
        let begun = Array("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nabc".utf8)
        for (steps, isRead) in [([.hold], false), ([.silence], true), ([.send(begun), .silence], true)]
            as [([ScriptedServer.Step], Bool)]
        {
            let server = try ScriptedServer(readsBodies: false) { _ in steps }
            let (reached, reach) = AsyncStream.makeStream(of: Void.self)
            let source = Source(1_000_000_000, by: 65_536)
            let task = Task {
                try await send(
                    .to(server, .patch),
                    StreamedBody(length: 1_000_000_000) {
                        if source.count > 100_000 {
                            reach.yield()
                            try await untilCancelled()
                        }
                        return try await source.body.next()
                    }
                ) { _ in
                    reach.yield()
                    try await untilCancelled()
                }
            }
            for await _ in reached { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            // Who reads nothing is not told of an end behind what was sent.
            if isRead { await server.allConnectionsClosed() }
        }
    }

    @Test("a transport that only knows whole bodies holds them")
    func held() async throws {
        struct Whole: ClientTransport {
            func send(_ request: HTTPRequest) async throws -> HTTPResponse {
                HTTPResponse(status: .ok, body: Array((request.body ?? []).reversed()))
            }
        }
        let server = try ScriptedServer(answering: "")
        let sink = Sink()
        let source = Source(10, by: 3)
        let answer = try await Whole().send(.to(server, .patch), body: source.body) { _ in .streamed { sink.take($0) } }
        #expect(answer.body.isEmpty && sink.all == (0..<10).reversed().map(Source.byte))
        let large = await #expect(throws: TransportError.self) {
            try await Whole().send(.to(server, .patch), body: Source(1 << 27, by: 1).body) { _ in .held }
        }
        #expect(large?.fate == .notSent)
    }
}
