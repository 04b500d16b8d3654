import Foundation
import Testing

@testable import DatasyncEmulator

/// What the server does not put up with, and how it says so.
@Suite(.timeLimit(.minutes(5)))
struct ServerLimitTests {
    private let post = "POST /tables/todoitem HTTP/1.1\r\nHost: a\r\nZUMO-API-VERSION: 2.0.0\r\n"

    /// Sends the beginning of a request, and no more until the answer and the end are there.
    private func refusal(of beginning: String, _ url: URL) async throws -> RawClient.Answer {
        let client = try RawClient(url)
        try await client.send(beginning)
        let answer = try await client.answer()
        #expect(answer.fields["connection"] == "close")
        #expect(try await client.readToEnd() == RawClient.End(bytes: [], wasReset: false))
        return answer
    }

    private var refusals: [(String, Int)] {
        [
            ("GET /" + String(repeating: "x", count: 9_000), 414),
            ("GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: 33_000), 431),
            (post + "Content-Length: 30000001\r\n\r\n", 413),
            (post + "Transfer-Encoding: chunked\r\n\r\n1C9C381\r\n", 413),
            (post + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
            (post + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501), ("GET / HTTP/1.1\n", 400),
            ("GET / HTTP/3.0\r\n", 505), ("\u{16}\u{3}\u{1}", 400),
        ]
    }

    @Test("what is too large or malformed is refused while it arrives, in the form of a Datasync server")
    func datasync() async throws {
        try await withServer { server, url in
            for (beginning, status) in refusals {
                let answer = try await refusal(of: beginning, url)
                #expect(answer.status == status, "\(beginning.prefix(60))")
                #expect(answer.body == [] && answer.fields["date"] != nil && answer.fields["content-length"] == "0")
            }
            #expect(server.emulator.requests.map(\.status) == [413, 413], "the others are not requests")
        }
    }

    @Test("what is too large or malformed is refused while it arrives, in the form of a Node server")
    func azureMobileApps() async throws {
        try await withServer(.azureMobileApps) { server, url in
            for (beginning, status) in refusals {
                let answer = try await refusal(of: beginning, url)
                #expect(answer.status == (status == 413 ? 400 : status), "\(beginning.prefix(60))")
                #expect(try answer.json["error"]?.string != nil)
                #expect(answer.fields["x-powered-by"] == "Express")
            }
            let answer = try await refusal(of: post + "Content-Length: 102401\r\n\r\n", url)
            #expect(try answer.json == ["error": "request entity too large"])
            let unrouted = "POST /elsewhere HTTP/1.1\r\nHost: a\r\nContent-Length: 102401\r\n\r\n"
            #expect(try await refusal(of: unrouted, url).status == 404, "routes are looked at first, as in process")
            #expect(server.emulator.requests.map(\.status) == [400, 400, 400, 404])
        }
    }

    @Test("a refusal arrives although the client is in the middle of sending megabytes")
    func refusalWhileSending() async throws {
        try await withServer { _, url in
            let client = try RawClient(url)
            try await client.send(post + "Content-Length: 30000001\r\n\r\n")
            try await client.send([UInt8](repeating: 120, count: 8_000_000))
            #expect(try await client.answer().status == 413)
            let chunked = try RawClient(url)
            try await chunked.send(post + "Transfer-Encoding: chunked\r\n\r\n")
            let chunk = "10000\r\n\(String(repeating: "x", count: 65_536))\r\n"
            try await chunked.send(chunk + "1C90000\r\n" + String(repeating: "x", count: 8_000_000))
            #expect(try await chunked.answer().status == 413)
        }
    }

    @Test("a fault may be meant for a request whose body is too large")
    func faultForTooLarge() async throws {
        try await withServer { server, url in
            server.emulator.inject(.respond(EmulatorResponse(401)) { $0.isBodyTooLarge })
            let answer = try await refusal(of: post + "Content-Length: 40000000\r\n\r\n", url)
            #expect(answer.status == 401)
        }
    }

    // MARK: Time

    private func settings(_ change: (inout ServerSettings) -> Void) -> ServerSettings {
        var settings = ServerSettings()
        change(&settings)
        return settings
    }

    @Test("a head that is not whole in time is answered with 408, also when its bytes keep coming")
    func slowHead() async throws {
        try await withServer(settings: settings { $0.headLimit = .milliseconds(100) }) { _, url in
            let answer = try await refusal(of: "GET / HTTP/1.1\r\nHo", url)
            #expect(answer.status == 408)
            #expect(try await statusOfDribble("GET / HTTP/1.1\r\nX: ", "y", url) == 408)
        }
    }

    @Test("a body that is not whole in time is answered with 408, also when its bytes keep coming")
    func slowBody() async throws {
        try await withServer(.azureMobileApps, settings: settings { $0.bodyLimit = .milliseconds(100) }) { _, url in
            let answer = try await refusal(of: post + "Content-Length: 10\r\n\r\nabc", url)
            #expect(answer.status == 408)
            #expect(try answer.json["error"]?.string != nil)
            #expect(try await statusOfDribble(post + "Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", url) == 408)
        }
    }

    /// Sends a piece again and again until there is an answer; each piece resets what a limit per byte would count.
    private func statusOfDribble(_ beginning: String, _ piece: String, _ url: URL) async throws -> Int {
        let client = try RawClient(url)
        try await client.send(beginning)
        let sending = Task {
            while !Task.isCancelled {
                try await client.send(piece)
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        defer { sending.cancel() }
        return try await client.answer().status
    }

    @Test("a connection without a request is closed after a while, without a word")
    func idle() async throws {
        try await withServer(settings: settings { $0.idleLimit = .seconds(1) }) { _, url in
            #expect(try await RawClient(url).readToEnd() == RawClient.End(bytes: [], wasReset: false))
            let client = try RawClient(url)
            #expect(try await client.ask("GET", "/").status == 404)
            #expect(try await client.readToEnd() == RawClient.End(bytes: [], wasReset: false))
        }
    }

    @Test("a client that does not take its answer is given up")
    func slowReader() async throws {
        let respond: EmulatorServer.Responder = { _, _ in EmulatorResponse(200, body: Data(count: 20_000_000)) }
        var settings = settings { $0.sendLimit = .milliseconds(100) }
        settings.maximumConnections = 1
        try await withServer(settings: settings, respond: respond) { _, url in
            let client = try RawClient(url, receiveBufferSize: 4_096)
            try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await client.read(100)
            // There is room for another connection only when this one was given up.
            while try await takesAnswer(url) == false { await Task.yield() }
            #expect(try await client.readToEnd().bytes.count < 20_000_000)
        }
    }

    private func takesAnswer(_ url: URL) async throws -> Bool {
        do {
            return try await RawClient(url).ask("GET", "/").body.count == 20_000_000
        } catch is RawClient.Failure {
            return false
        }
    }
}
