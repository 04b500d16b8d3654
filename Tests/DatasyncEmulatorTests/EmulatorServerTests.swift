import Foundation
import Testing

@testable import DatasyncEmulator

/// The server as its clients use it, over real sockets.
@Suite(.timeLimit(.minutes(5)))
struct EmulatorServerTests {
    private let fields = ["Content-Type": "application/json", "ZUMO-API-VERSION": "2.0.0"]

    private func post(_ id: String, _ client: RawClient, text: String = "") async throws -> RawClient.Answer {
        try await client.ask("POST", "/tables/todoitem", fields, body: #"{"id":"\#(id)","text":"\#(text)"}"#)
    }

    @Test("many requests over one connection take little time each")
    func latency() async throws {
        try await withServer { server, url in
            let client = try RawClient(url)
            let clock = ContinuousClock()
            let start = clock.now
            for number in 0..<200 {
                #expect(try await post("r\(number)", client).status == 201)
            }
            print("latency of a POST over a kept connection: \((clock.now - start) / 200)")
            #expect(server.emulator.rows(in: "todoitem").count == 200)
        }
    }

    @Test("the server listens on the loopback interface unless told otherwise, and not after it stopped")
    func listening() async throws {
        try await withServer(startsAgain: true) { server, url in
            #expect(url.host() == "127.0.0.1" && url.scheme == "http")
            #expect(await server.url == url)
            await expectError(.alreadyRunning) { try await server.start() }
            let port = try #require(url.port.flatMap { UInt16(exactly: $0) })
            let second = EmulatorServer(server.emulator)
            await expectError(.cannotListen) { try await second.start(port: port) }
            await expectError(.cannotListen) { try await second.start(host: "nowhere") }
            await expectError(.cannotListen) { try await second.start(host: "192.0.2.1") }
            #expect(try await post("a", RawClient(url)).status == 201)
            await server.stop()
            #expect(await server.url == nil)
            #expect(throws: RawClient.Failure.cannotConnect) { try RawClient(url) }
            let again = try await server.start(port: port)
            #expect(again == url)
            #expect(try await post("b", RawClient(url)).status == 201)
        }
    }

    @Test("the server listens on IPv6 too, where the machine has it")
    func version6() async throws {
        let server = EmulatorServer(EmulatorConfiguration(tables: ["todoitem"]))
        do {
            let url = try await server.start(host: "::1")
            #expect(url.absoluteString.hasPrefix("http://[::1]:"))
            await server.stop()
        } catch let error as EmulatorError {
            #expect(error.code == .cannotListen, "a machine without IPv6 has no such address")
        }
    }

    @Test("a server that nobody refers to any more stops")
    func forgotten() async throws {
        var server: EmulatorServer? = EmulatorServer(EmulatorConfiguration(tables: ["todoitem"]))
        let url = try #require(try await server?.start())
        let client = try RawClient(url)
        #expect(try await post("a", client).status == 201)
        server = nil
        #expect(try await client.readToEnd() == RawClient.End(bytes: [], wasReset: false))
    }

    private func expectError(_ code: EmulatorError.Code, _ body: () async throws -> Void) async {
        do {
            try await body()
            Issue.record("no error, \(code) expected")
        } catch {
            #expect((error as? EmulatorError)?.code == code, "\(error)")
        }
    }

    @Test("bodies of every size arrive whole, and one too large does not keep the next connection from working")
    func bodies() async throws {
        try await withServer { server, url in
            let client = try RawClient(url)
            for size in [0, 4_000, 5_000, 3_000_000] {
                let text = String(repeating: "x", count: size)
                #expect(try await post("s\(size)", client, text: text).status == 201)
                let row = server.emulator.rows(in: "todoitem").first { $0["id"] == .string("s\(size)") }
                #expect(row?["text"]?.string?.utf8.count == size)
            }
            let text = String(repeating: "x", count: 30_000_000)
            let answer = try await post("large", RawClient(url), text: text)
            #expect(answer.status == 413 && answer.fields["connection"] == "close")
            #expect(try await post("after", RawClient(url)).status == 201)
        }
    }

    @Test("the raw target reaches the core, decoded once")
    func target() async throws {
        try await withServer { server, url in
            let client = try RawClient(url)
            for id in ["a?b", "50%25", "x+y z", "é"] {
                try server.emulator.seed([["id": .string(id)]], in: "todoitem")
                let segment = PercentEncoding.encode(id)
                #expect(try await client.ask("GET", "/tables/todoitem/" + segment).status == 200, "\(id)")
                let filter = PercentEncoding.encode("id eq '\(id)'").replacing("%20", with: "+")
                let page = try await client.ask("GET", "/tables/todoitem?$filter=" + filter).json
                #expect(page["items"]?.array?.first?["id"] == .string(id))
            }
            let target = "/a/../b//c?$x=%41+%2b&&=&\(String(repeating: "a=b&", count: 1_000))"
            #expect(try await client.ask("GET", target).status == 404)
            let request = try #require(server.emulator.requests.last?.request)
            #expect(request.path + "?" + request.query == target)
        }
    }

    @Test("any method and repeated fields reach the core, and repeated fields come back")
    func anything() async throws {
        let respond: EmulatorServer.Responder = { request, _ in
            var answer = EmulatorResponse(299, body: Data(request.method.utf8))
            for value in request.headers.values(of: "x-many") { answer.headers.append("X-Back", value) }
            answer.headers["X-Joined"] = request.headers["X-Many"]
            return answer
        }
        try await withServer(respond: respond) { _, url in
            let client = try RawClient(url)
            try await client.send("brew /pot HTTP/1.1\r\nHost: a\r\nX-Many: 1\r\nOther: x\r\nx-MANY: 2, 3\r\n\r\n")
            client.endSending()
            let text = try await client.readToEnd().text
            #expect(text.hasPrefix("HTTP/1.1 299 Status\r\nX-Back: 1\r\nX-Back: 2, 3\r\nX-Joined: 1, 2, 3\r\nDate: "))
            #expect(text.hasSuffix("\r\n\r\nBREW"))
        }
    }

    @Test("faults come in their order, to the requests they match, and the log tells")
    func faults() async throws {
        try await withServer { server, url in
            let client = try RawClient(url)
            let emulator = server.emulator
            emulator.inject(.respond(EmulatorResponse(401), times: 2))
            emulator.inject(.respond(.html(500, "<p>sorry</p>")) { $0.method == "POST" })
            emulator.inject(.applyThenRespond(EmulatorResponse(503)))
            for expected in [401, 401, 500, 503, 409] {
                #expect(try await post("a", client).status == expected)
            }
            emulator.inject(.drop())
            await #expect(throws: RawClient.Failure.noAnswer) { try await post("b", RawClient(url)) }
            #expect(emulator.rows(in: "todoitem").count == 1)
            emulator.inject(.applyThenDrop { $0.path == "/tables/todoitem" })
            await #expect(throws: RawClient.Failure.noAnswer) { try await post("b", RawClient(url)) }
            #expect(emulator.rows(in: "todoitem").count == 2)
            #expect(emulator.requests.map(\.status) == [401, 401, 500, 503, 409, nil, nil])
            #expect(emulator.requests.map(\.number) == Array(0..<7))
            #expect(emulator.requests[6].request.body == Data(#"{"id":"b","text":""}"#.utf8))
            emulator.clearRequests()
            #expect(emulator.requests.isEmpty)
        }
    }

    @Test("protocol 2 answers over the socket with its own headers")
    func protocol2() async throws {
        try await withServer(.azureMobileApps) { _, url in
            let answer = try await post("a", RawClient(url))
            #expect(answer.status == 201)
            #expect(answer.fields["etag"] == "\"MQ==\"")
            #expect(answer.fields["x-zumo-server-version"] == "node-3.0.0")
            #expect(try answer.json["version"] == "MQ==")
        }
    }

    @Test("a handler that fails is answered with 500, in the emulator's form")
    func failingHandler() async throws {
        struct Failure: Error {}
        let respond: EmulatorServer.Responder = { _, _ in throw Failure() }
        try await withServer(.azureMobileApps, respond: respond) { _, url in
            let client = try RawClient(url)
            for _ in 0..<2 {
                let answer = try await client.ask("GET", "/")
                #expect(answer.status == 500)
                #expect(try answer.json["error"]?.string != nil)
            }
        }
    }
}
