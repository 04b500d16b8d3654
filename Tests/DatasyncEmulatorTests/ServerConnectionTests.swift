import Foundation
import Synchronization
import Testing

@testable import DatasyncEmulator

/// How connections begin, go on and end.
@Suite(.timeLimit(.minutes(5)))
struct ServerConnectionTests {
    private let get = "GET /tables/todoitem/a HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("requests that are sent without waiting are answered in their order on one connection")
    func pipelining() async throws {
        let respond: EmulatorServer.Responder = { request, _ in EmulatorResponse(200, body: Data(request.path.utf8)) }
        try await withServer(respond: respond) { _, url in
            let client = try RawClient(url)
            let requests = (0..<50)
                .map { number in
                    number % 2 == 0
                        ? "GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n"
                        : "PUT /\(number) HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
                }
            try await client.send(requests.joined())
            for number in 0..<50 {
                #expect(try await client.answer().text == "/\(number)")
            }
        }
    }

    @Test("a connection stays or ends as version and client say, and the answer says so where it is not usual")
    func persistence() async throws {
        try await withServer { _, url in
            for (request, field, stays) in [
                ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", nil, true),
                ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "close", false),
                ("GET / HTTP/1.0\r\n\r\n", "close", false),
                ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "keep-alive", true),
            ] as [(String, String?, Bool)] {
                let client = try RawClient(url)
                try await client.send(request)
                let answer = try await client.answer()
                #expect(answer.status == 404 && answer.fields["connection"] == field)
                if stays {
                    #expect(try await client.ask("GET", "/").status == 404)
                } else {
                    #expect(try await client.readToEnd() == RawClient.End(bytes: [], wasReset: false))
                }
            }
        }
    }

    @Test("a client that waits for a 100 gets it, unless its body is refused anyway")
    func continues() async throws {
        try await withServer { _, url in
            let head =
                "POST /tables/todoitem HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
            let client = try RawClient(url)
            try await client.send(head + "Content-Length: 10\r\n\r\n")
            #expect(try await client.answer().status == 100)
            try await client.send(#"{"id":"a"}"#)
            #expect(try await client.answer().status == 201)
            try await client.send(head + "Content-Length: 100000000\r\n\r\n")
            #expect(try await client.answer().status == 413)
        }
    }

    @Test("an answer to HEAD has a length and no body; a 204 and a 304 have neither")
    func bodiless() async throws {
        let respond: EmulatorServer.Responder = { request, _ in
            EmulatorResponse(Int(request.path.dropFirst()) ?? 0, headers: ["Date": "then"], body: Data("body".utf8))
        }
        try await withServer(respond: respond) { _, url in
            let client = try RawClient(url)
            try await client.send("HEAD /200 HTTP/1.1\r\nHost: a\r\n\r\nGET /204 HTTP/1.1\r\nHost: a\r\n\r\n")
            try await client.send("GET /304 HTTP/1.1\r\nHost: a\r\n\r\nGET /200 HTTP/1.0\r\n\r\n")
            let expected = [
                "HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 4\r\n\r\n",
                "HTTP/1.1 204 No Content\r\nDate: then\r\n\r\n",
                "HTTP/1.1 304 Not Modified\r\nDate: then\r\n\r\n",
                "HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody",
            ]
            #expect(try await client.readToEnd().text == expected.joined())
        }
    }

    @Test("a client that sends its last byte first still gets its answer")
    func halfClosed() async throws {
        try await withServer { _, url in
            let client = try RawClient(url)
            try await client.send(get)
            client.endSending()
            #expect(try await client.answer().status == 404)
            #expect(try await client.readToEnd().bytes == [])
        }
    }

    @Test("clients that go away at any byte of a request do no harm")
    func abandoned() async throws {
        try await withServer { server, url in
            let bytes = Array("PUT /tables/todoitem/a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc".utf8)
            for count in 0...bytes.count {
                let client = try RawClient(url)
                try await client.send(Array(bytes.prefix(count)))
            }
            #expect(try await RawClient(url).ask("GET", "/").status == 404)
        }
    }

    // MARK: The end of the server

    /// With these, nothing but being told to ends what is in progress.
    private var patient: ServerSettings {
        var settings = ServerSettings()
        settings.stopGrace = .seconds(3_600)
        return settings
    }

    @Test("a request in progress is answered before the server stops")
    func stopWhileBusy() async throws {
        try await withServer(settings: patient) { server, url in
            server.emulator.inject(.delay(.seconds(600)))
            let client = try RawClient(url)
            try await client.send(get)
            while server.emulator.pendingFaults > 0 { await Task.yield() }
            await server.stop()
            let answer = try await client.answer()
            #expect(answer.status == 404 && answer.fields["connection"] == "close")
            #expect(try await client.readToEnd().bytes == [])
        }
    }

    @Test("stopping ends connections that wait, whatever for, and frees the port")
    func stopWhileWaiting() async throws {
        try await withServer(settings: patient, startsAgain: true) { server, url in
            let port = try #require(url.port.flatMap { UInt16(exactly: $0) })
            let beginnings = [
                "", "GET", "GET / HTTP/1.1\r\nHost: a\r\n", "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc",
            ]
            var clients: [RawClient] = []
            for beginning in beginnings {
                let client = try RawClient(url)
                // The answer shows that the server has come to what follows it, or soon will.
                try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n" + beginning)
                #expect(try await client.answer().status == 404)
                clients.append(client)
            }
            await server.stop()
            for client in clients {
                #expect(try await client.readToEnd().bytes == [])
            }
            for _ in 0..<20 {
                try await server.start(port: port)
                let client = try RawClient(url)
                #expect(try await client.ask("GET", "/").status == 404)
                await server.stop()
                #expect(throws: RawClient.Failure.cannotConnect) { try RawClient(url) }
            }
        }
    }

    @Test("a handler that does not care for being cancelled is left to itself")
    func stopWithoutConsent() async throws {
        let (started, beginning) = AsyncStream.makeStream(of: Void.self)
        let (released, end) = AsyncStream.makeStream(of: Void.self)
        var settings = ServerSettings()
        settings.stopGrace = .milliseconds(1)
        let respond: EmulatorServer.Responder = { _, _ in
            beginning.yield()
            // Cancelling the task that waits here does not end the wait of another.
            await Task.detached { for await _ in released { break } }.value
            return EmulatorResponse(200)
        }
        try await withServer(settings: settings, respond: respond) { server, url in
            let client = try RawClient(url)
            try await client.send(get)
            for await _ in started { break }
            await server.stop()
            #expect(try await client.readToEnd().bytes == [])
            end.finish()
        }
    }

    @Test("a client that does not take its answer does not keep the server from stopping")
    func stopWhileSending() async throws {
        let (started, beginning) = AsyncStream.makeStream(of: Void.self)
        var settings = ServerSettings()
        settings.sendLimit = .seconds(3_600)
        settings.stopGrace = .milliseconds(1)
        let respond: EmulatorServer.Responder = { _, _ in
            beginning.yield()
            return EmulatorResponse(200, body: Data(count: 20_000_000))
        }
        try await withServer(settings: settings, respond: respond) { server, url in
            let client = try RawClient(url, receiveBufferSize: 4_096)
            try await client.send(get)
            for await _ in started { break }
            _ = try await client.read(1_000)
            await server.stop()
            #expect(try await client.readToEnd().bytes.count < 20_000_000)
        }
    }

    @Test("stopping twice at once, and a server that was never started, end alike")
    func stopAgain() async throws {
        try await withServer { server, url in
            async let first: Void = server.stop()
            async let second: Void = server.stop()
            _ = await (first, second)
            #expect(await server.url == nil)
            try await server.start()
        }
        await EmulatorServer(EmulatorConfiguration(tables: [])).stop()
    }

    // MARK: Limits

    @Test("one connection more than allowed is closed at once, and the next one that has room is not")
    func connectionLimit() async throws {
        var settings = ServerSettings()
        settings.maximumConnections = 2
        try await withServer(settings: settings) { _, url in
            let first = try RawClient(url)
            let second = try RawClient(url)
            for client in [first, second] {
                #expect(try await client.ask("GET", "/").status == 404)
            }
            #expect(try await RawClient(url).readToEnd().bytes == [])
            try await first.send("GET / HTTP/1.0\r\n\r\n")
            #expect(try await first.readToEnd().bytes.isEmpty == false)
            // The server has room again once its thread is through with the connection, which it tells nobody.
            while try await answers(RawClient(url)) == false { await Task.yield() }
            #expect(try await second.ask("GET", "/").status == 404)
        }
    }

    private func answers(_ client: RawClient) async throws -> Bool {
        do {
            return try await client.ask("GET", "/").status == 404
        } catch is RawClient.Failure {
            return false
        }
    }
}
