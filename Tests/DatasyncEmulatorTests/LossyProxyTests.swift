import Foundation
import Testing

@testable import DatasyncEmulator

/// The proxy between a client and a server, over real sockets.
@Suite(.timeLimit(.minutes(5)))
struct LossyProxyTests {
    private func withProxy(_ body: (Emulator, LossyProxy, URL) async throws -> Void) async throws {
        try await withServer { server, url in
            let proxy = LossyProxy(upstream: try #require(url.port.flatMap { UInt16(exactly: $0) }))
            let front = try proxy.start()
            defer { proxy.stop() }
            try await body(server.emulator, proxy, front)
        }
    }

    private func post(_ id: String, _ client: RawClient) async throws -> RawClient.Answer {
        try await client.ask(
            "POST",
            "/tables/todoitem",
            ["Content-Type": "application/json"],
            body: #"{"id":"\#(id)"}"#
        )
    }

    @Test("the proxy passes, and loses requests and answers for real")
    func behaviours() async throws {
        try await withProxy { emulator, proxy, front in
            let client = try RawClient(front)
            #expect(try await post("a", client).status == 201)
            #expect(try await post("a", client).status == 409)
            proxy.next(.dropRequest)
            await #expect(throws: RawClient.Failure.noAnswer) { try await post("b", client) }
            #expect(emulator.requests.count == 2)
            proxy.next(.dropResponse) { $0.hasPrefix("POST /tables/todoitem HTTP/1.1") }
            await #expect(throws: RawClient.Failure.noAnswer) { try await post("b", RawClient(front)) }
            #expect(emulator.rows(in: "todoitem").count == 2)
            proxy.next(.cutResponse)
            let cut = try RawClient(front)
            await #expect(throws: RawClient.Failure.noAnswer) { try await post("c", cut) }
            #expect(try await cut.readToEnd().text.hasPrefix("HTTP/1.1 201 Created\r\n"))
            #expect(emulator.rows(in: "todoitem").count == 3)
            #expect(proxy.requestCount == 5)
        }
    }

    @Test("a held request ends when the proxy stops, and the proxy cannot be reached any more")
    func hold() async throws {
        try await withProxy { emulator, proxy, front in
            proxy.setUsual(.hold)
            let client = try RawClient(front)
            let held = Task { try await post("d", client) }
            while proxy.requestCount < 1 { await Task.yield() }
            proxy.stop()
            await #expect(throws: RawClient.Failure.noAnswer) { try await held.value }
            #expect(emulator.requests.isEmpty)
            #expect(throws: RawClient.Failure.cannotConnect) { try RawClient(front) }
            #expect(throws: EmulatorError.self) { try proxy.start() }
        }
    }

    @Test("chunks, waiting for a 100, pipelined requests and HEAD pass, and every byte of an answer does")
    func framing() async throws {
        try await withProxy { emulator, proxy, front in
            let client = try RawClient(front)
            try await client.send(
                "POST /tables/todoitem HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                    + "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
            )
            #expect(try await client.answer().status == 100)
            try await client.send(
                "3;x\r\n{\"i\r\n7\r\nd\":\"a\"}\r\n0\r\n\r\nHEAD /tables/todoitem HTTP/1.1\r\nHost: a\r\n\r\n"
            )
            #expect(try await client.answer().json["id"] == "a")
            #expect(try await client.answer(isToHead: true).status == 405)
            try await client.send("GET /tables/todoitem/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let viaProxy = try await client.readToEnd().text
            #expect(viaProxy.hasSuffix("}\r\n0\r\n\r\n") && viaProxy.contains("\r\nConnection: close\r\n"))
            #expect(emulator.requests.map(\.status) == [201, 405, 200])
            #expect(emulator.requests[0].request.headers["Transfer-Encoding"] == "chunked", "it was not rewritten")
            #expect(proxy.requestCount == 3)
        }
    }

    @Test("what is not a request ends the connection and is not counted")
    func malformed() async throws {
        try await withProxy { emulator, proxy, front in
            let client = try RawClient(front)
            try await client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try await client.readToEnd().bytes == [])
            #expect(proxy.requestCount == 0 && emulator.requests.isEmpty)
        }
    }

    @Test(
        "where answers end",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", false),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", true),
            ("HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n", false),
            ("HTTP/1.1 304\r\n\r\n", false),
            ("HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX: y\r\n\r\n", false),
        ]
    )
    func answers(_ text: String, isToHead: Bool) throws {
        for count in [1, 3, text.utf8.count] {
            var reader = ResponseReader()
            var rest = Array("HTTP/1.1 100 Continue\r\n\r\n\(text)HTTP/1.1".utf8)[...]
            var events: [ResponseReader.Event] = []
            while !rest.isEmpty {
                reader.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
                while let event = try reader.next(isToHead: isToHead) { events.append(event) }
            }
            #expect(events == [.interim(byteCount: 25), .response(byteCount: text.utf8.count)])
            #expect(reader.end() == nil, "half an answer is none")
        }
    }

    @Test("an answer without a length ends with its connection, and one that is not an answer is refused")
    func otherAnswers() throws {
        var reader = ResponseReader()
        reader.append(Array("HTTP/1.0 200 OK\r\n\r\nabc".utf8))
        #expect(try reader.next(isToHead: false) == nil)
        reader.append(Array("de".utf8))
        #expect(try reader.next(isToHead: false) == nil)
        #expect(reader.end() == .response(byteCount: 24))
        #expect(reader.isLast)
        for text in ["hello\r\n", "HTTP/1.1 x OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"] {
            var reader = ResponseReader()
            reader.append(Array(text.utf8))
            #expect(throws: RequestRefusal.self) { try reader.next(isToHead: false) }
        }
    }
}
