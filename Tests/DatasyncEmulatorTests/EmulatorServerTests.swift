import Foundation
import Testing

@testable import DatasyncEmulator

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The server, its faults and the proxy, over real sockets.
struct EmulatorServerTests {
    /// A session with connections of its own. On Linux, Foundation does not notice that a connection it had used
    /// before was closed instead of answered, and waits for its timeout; so lost answers are asked for on fresh ones.
    private func session() -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 1
        configuration.timeoutIntervalForRequest = 20
        return URLSession(configuration: configuration)
    }

    private func started(_ dialect: EmulatorConfiguration.Dialect = .datasync) async throws -> (EmulatorServer, URL) {
        let server = EmulatorServer(EmulatorConfiguration(dialect: dialect, tables: ["todoitem"]))
        return (server, try await server.start())
    }

    private func post(_ id: String, to base: URL, text: String = "") -> URLRequest {
        var request = URLRequest(url: base.appending(path: "tables/todoitem"))
        request.httpMethod = "POST"
        request.httpBody = Data(#"{"id":"\#(id)","text":"\#(text)"}"#.utf8)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("2.0.0", forHTTPHeaderField: "ZUMO-API-VERSION")
        return request
    }

    private func status(_ request: URLRequest, _ session: URLSession) async throws -> Int? {
        (try await session.data(for: request).1 as? HTTPURLResponse)?.statusCode
    }

    @Test("many requests over one connection take little time each")
    func latency() async throws {
        let (server, base) = try await started()
        let session = session()
        for number in 0..<20 {
            #expect(try await status(post("warm\(number)", to: base), session) == 201)
        }
        let clock = ContinuousClock()
        let start = clock.now
        for number in 0..<200 {
            #expect(try await status(post("r\(number)", to: base), session) == 201)
        }
        print("latency of a POST over a kept connection: \((clock.now - start) / 200)")
        #expect(server.emulator.rows(in: "todoitem").count == 220)
        await server.stop()
    }

    @Test("the server listens on the loopback interface unless told otherwise, and not after it stopped")
    func listening() async throws {
        let (server, base) = try await started()
        #expect(base.host() == "127.0.0.1")
        #expect(await server.url == base)
        await #expect(throws: EmulatorError.self) { try await server.start() }
        let port = try #require(base.port.flatMap { UInt16(exactly: $0) })
        let second = EmulatorServer(server.emulator)
        do {
            try await second.start(port: port)
            Issue.record("two servers on one port")
        } catch let error as EmulatorError {
            #expect(error.code == .cannotListen)
        }
        await #expect(throws: EmulatorError.self) { try await second.start(host: "nowhere") }
        await server.stop()
        #expect(await server.url == nil)
        await #expect(throws: URLError.self) { try await status(post("a", to: base), session()) }
        let again = try await server.start(port: port)
        #expect(again == base)
        #expect(try await status(post("a", to: base), session()) == 201)
        await server.stop()
    }

    @Test("a request in progress is answered before the server stops")
    func stopWhileBusy() async throws {
        let (server, base) = try await started()
        server.emulator.inject(.delay(.milliseconds(200)))
        let session = session()
        async let answer = status(post("a", to: base), session)
        while server.emulator.pendingFaults > 0 { await Task.yield() }
        await server.stop()
        #expect(try await answer == 201)
    }

    @Test("bodies of every size arrive whole, and one too large leaves the connection usable")
    func bodies() async throws {
        let (server, base) = try await started()
        let session = session()
        for size in [0, 4_000, 5_000, 900_000] {
            let text = String(repeating: "x", count: size)
            #expect(try await status(post("s\(size)", to: base, text: text), session) == 201)
            let row = server.emulator.rows(in: "todoitem").first { $0["id"] == .string("s\(size)") }
            #expect(row?["text"]?.string?.utf8.count == size)
        }
        for size in [1_100_000, 3_000_000] {
            let text = String(repeating: "x", count: size)
            #expect(try await status(post("large", to: base, text: text), session) == 413)
        }
        #expect(try await status(post("after", to: base), session) == 201)
        await server.stop()
    }

    @Test("the raw target reaches the core, decoded once")
    func target() async throws {
        let (server, base) = try await started()
        let session = session()
        for id in ["a/b", "50%25", "x+y z", "é"] {
            try server.emulator.seed([["id": .string(id)]], in: "todoitem")
            let segment = PercentEncoding.encode(id)
            let byID = try #require(URL(string: base.absoluteString + "/tables/todoitem/" + segment))
            #expect(try await status(URLRequest(url: byID), session) == 200, "\(id)")
            let filter = PercentEncoding.encode("id eq '\(id)'").replacing("%20", with: "+")
            let query = try #require(URL(string: base.absoluteString + "/tables/todoitem?$filter=" + filter))
            let page = try JSONValue(parsing: try await session.data(from: query).0)
            #expect(page["items"]?.array?.first?["id"] == .string(id))
        }
        await server.stop()
    }

    @Test("faults come in their order, to the requests they match, and the log tells")
    func faults() async throws {
        let (server, base) = try await started()
        let session = session()
        let emulator = server.emulator
        emulator.inject(.answer(EmulatorResponse(401), times: 2))
        emulator.inject(.answer(.html(500, "<p>sorry</p>")) { $0.method == "POST" })
        emulator.inject(.applyThenAnswer(EmulatorResponse(503)))
        for expected in [401, 401, 500, 503, 409] {
            #expect(try await status(post("a", to: base), session) == expected)
        }
        emulator.inject(.drop())
        await #expect(throws: URLError.self) { try await status(post("b", to: base), self.session()) }
        #expect(emulator.rows(in: "todoitem").count == 1)
        emulator.inject(.applyThenDrop { $0.path == "/tables/todoitem" })
        await #expect(throws: URLError.self) { try await status(post("b", to: base), self.session()) }
        #expect(emulator.rows(in: "todoitem").count == 2)
        #expect(emulator.requests.map(\.status) == [401, 401, 500, 503, 409, nil, nil])
        #expect(emulator.requests.map(\.number) == Array(0..<7))
        #expect(emulator.requests[6].request.body == post("b", to: base).httpBody)
        emulator.clearRequests()
        #expect(emulator.requests.isEmpty)
        await server.stop()
    }

    @Test("the proxy passes, and loses requests and answers for real")
    func proxy() async throws {
        let (server, base) = try await started()
        let proxy = LossyProxy(upstream: try #require(base.port.flatMap { UInt16(exactly: $0) }))
        let front = try proxy.start()
        let session = session()
        let emulator = server.emulator
        #expect(try await status(post("a", to: front), session) == 201)
        #expect(try await status(post("a", to: front), session) == 409)
        proxy.next(.dropRequest)
        await #expect(throws: URLError.self) { try await status(post("b", to: front), self.session()) }
        #expect(emulator.requests.count == 2)
        proxy.next(.dropAnswer) { $0.hasPrefix("POST ") }
        await #expect(throws: URLError.self) { try await status(post("b", to: front), self.session()) }
        #expect(emulator.rows(in: "todoitem").count == 2)
        proxy.next(.cutAnswer)
        await #expect(throws: URLError.self) { try await status(post("c", to: front), self.session()) }
        #expect(emulator.rows(in: "todoitem").count == 3)
        proxy.setUsual(.hold)
        let held = Task { try await status(post("d", to: front), self.session()) }
        while proxy.requestCount < 6 { await Task.yield() }
        proxy.stop()
        await #expect(throws: URLError.self) { try await held.value }
        #expect(emulator.rows(in: "todoitem").count == 3)
        await server.stop()
    }

    @Test("protocol 2 answers over the socket with its own headers")
    func protocol2() async throws {
        let (server, base) = try await started(.azureMobileApps)
        let (data, response) = try await session().data(for: post("a", to: base))
        let http = try #require(response as? HTTPURLResponse)
        #expect(http.statusCode == 201)
        #expect(http.value(forHTTPHeaderField: "ETag") == "\"MQ==\"")
        #expect(http.value(forHTTPHeaderField: "x-zumo-server-version") == "node-3.0.0")
        #expect(try JSONValue(parsing: data)["version"] == "MQ==")
        await server.stop()
    }
}
