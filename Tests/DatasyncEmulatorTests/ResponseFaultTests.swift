import Foundation
import Testing

@testable import DatasyncEmulator

/// Faults in the bytes of an answer, over real sockets and in process.
@Suite(.timeLimit(.minutes(5)))
struct ResponseFaultTests {
    private static let request = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"

    /// A server whose answers are the same to the byte.
    private func withAnswers(
        of size: Int = 100_000,
        _ body: (EmulatorServer, URL, [UInt8]) async throws -> Void
    ) async throws {
        let respond: EmulatorServer.Responder = { request, emulator in
            var answer = try await emulator.deliver(request)
            answer.headers["Date"] = "then"
            answer.body = Data(repeating: UInt8(ascii: "x"), count: size)
            return answer
        }
        try await withServer(respond: respond) { server, url in
            let client = try RawClient(url)
            try await client.send(Self.request)
            let head = "HTTP/1.1 404 Not Found\r\nDate: then\r\nContent-Length: \(size)\r\n\r\n"
            let whole = try await client.read(head.utf8.count + size)
            #expect(whole.starts(with: head.utf8))
            try await body(server, url, whole)
        }
    }

    /// Positions in the head, at its end, in the body, and at and after the end of all.
    private func positions(_ whole: [UInt8]) -> [Int] {
        let headEnd = whole.count - 100_000
        return [0, 1, 12, headEnd - 1, headEnd, headEnd + 1, 50_000, whole.count - 1, whole.count, whole.count + 1]
    }

    @Test("an answer is cut at the very byte, in an orderly end")
    func cut() async throws {
        try await withAnswers { server, url, whole in
            for position in positions(whole) {
                server.emulator.inject(.cut(after: position))
                let client = try RawClient(url)
                try await client.send(Self.request)
                #expect(try await client.readToEnd() == .init(bytes: Array(whole.prefix(position)), wasReset: false))
            }
        }
    }

    @Test("an answer is reset after the very byte, which has arrived")
    func reset() async throws {
        try await withAnswers { server, url, whole in
            for position in positions(whole) {
                server.emulator.inject(.reset(after: position))
                let client = try RawClient(url)
                try await client.send(Self.request)
                #expect(try await client.readToEnd() == .init(bytes: Array(whole.prefix(position)), wasReset: true))
            }
        }
    }

    @Test("an answer that is larger than what is under way at once is reset after the very byte too")
    func resetOfLarge() async throws {
        let respond: EmulatorServer.Responder = { request, emulator in
            var answer = try await emulator.deliver(request)
            answer.body = Data(count: 20_000_000)
            return answer
        }
        try await withServer(respond: respond) { server, url in
            server.emulator.inject(.reset(after: 15_000_000))
            let client = try RawClient(url, receiveBufferSize: 8_192)
            try await client.send(Self.request)
            let end = try await client.readToEnd()
            #expect(end.bytes.count == 15_000_000 && end.wasReset)
        }
    }

    @Test("a dribbled answer arrives whole, piece by piece, on a connection that stays")
    func dribble() async throws {
        try await withAnswers { server, url, whole in
            server.emulator.inject(.dribble(30_000, every: .milliseconds(20)))
            let client = try RawClient(url)
            let clock = ContinuousClock()
            let start = clock.now
            for _ in 0..<2 {
                try await client.send(Self.request)
                #expect(try await client.read(whole.count).elementsEqual(whole))
            }
            #expect(clock.now - start >= .milliseconds(60), "there are three pauses between four pieces")
        }
    }

    @Test("a dribbled answer is not sent further than its pauses allow")
    func firstPiece() async throws {
        try await withAnswers { server, url, whole in
            server.emulator.inject(.dribble(10, every: .seconds(600)))
            let client = try RawClient(url)
            try await client.send(Self.request)
            #expect(try await client.read(10) == Array(whole.prefix(10)))
            #expect(client.unreadCount == 0)
            await server.stop()
            #expect(try await client.readToEnd().bytes.elementsEqual(whole.dropFirst(10)), "a stop ends the pauses")
        }
    }

    @Test("an answer stalls after the very byte and then goes on")
    func stall() async throws {
        try await withAnswers { server, url, whole in
            for position in positions(whole) {
                server.emulator.inject(.stall(.milliseconds(20), after: position))
                let client = try RawClient(url)
                let start = ContinuousClock.now
                try await client.send(Self.request)
                #expect(try await client.read(whole.count).elementsEqual(whole))
                if position < whole.count { #expect(.now - start >= .milliseconds(20)) }
            }
            server.emulator.inject(.stall(.seconds(600), after: 70))
            let client = try RawClient(url)
            try await client.send(Self.request)
            #expect(try await client.read(70) == Array(whole.prefix(70)))
            #expect(client.unreadCount == 0)
            await server.stop()
            #expect(try await client.readToEnd().bytes.elementsEqual(whole.dropFirst(70)), "a stop ends the pause")
        }
    }

    @Test("the request of a damaged answer was carried out, and the log says which answers arrived")
    func log() async throws {
        try await withServer { server, url in
            let faults: [Fault] = [
                .cut(after: 9), .reset(after: 9), .dribble(1_000, every: .zero), .stall(.zero, after: 9),
            ]
            for (number, fault) in faults.enumerated() {
                server.emulator.inject(fault)
                let body = #"{"id":"\#(number)"}"#
                let client = try RawClient(url)
                try await client.send(
                    "POST /tables/todoitem HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                        + "Connection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
                #expect(try await client.readToEnd().bytes.count >= 9)
            }
            #expect(server.emulator.rows(in: "todoitem").count == 4)
            #expect(server.emulator.requests.map(\.status) == [nil, nil, 201, 201])
        }
    }

    @Test("in process, an answer that is cut or reset is an error, and a slow one comes whole")
    func inProcess() async throws {
        let client = Client()
        for fault in [Fault.cut(after: 1_000_000), .reset(after: 0)] {
            client.emulator.inject(fault)
            let error = await #expect(throws: EmulatorError.self) { try await client.get("/") }
            #expect(error?.code == .connectionDropped)
        }
        _ = try await client.send("POST", "/tables/todoitem", json: ["id": "a"])
        for fault in [Fault.dribble(10, every: .milliseconds(5)), .stall(.milliseconds(5), after: 10)] {
            client.emulator.inject(fault)
            let start = ContinuousClock.now
            #expect(try await client.get("/tables/todoitem/a").json["id"] == "a")
            #expect(.now - start >= .milliseconds(5))
        }
        client.emulator.inject(.dribble(1, every: .seconds(600)))
        let waiting = Task { try await client.get("/tables/todoitem/a").status }
        while client.emulator.pendingFaults > 0 { await Task.yield() }
        waiting.cancel()
        #expect(try await waiting.value == 200, "a cancelled wait ends at once")
    }

    @Test("positions and sizes that make no sense are taken for the nearest that do")
    func strangeNumbers() async throws {
        // Pieces of no size are taken for bytes, each of which is sent by itself.
        try await withAnswers(of: 1_000) { server, url, whole in
            server.emulator.inject(.cut(after: -5))
            let cut = try RawClient(url)
            try await cut.send(Self.request)
            #expect(try await cut.readToEnd().bytes == [])
            server.emulator.inject(.dribble(0, every: .zero))
            let dribbled = try RawClient(url)
            try await dribbled.send(Self.request)
            #expect(try await dribbled.read(whole.count).elementsEqual(whole))
        }
    }
}
