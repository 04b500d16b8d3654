import HTTPTransport
import ScriptedServer
import SeededNumbers
import Synchronization
import Testing

@Suite("Connections", .timeLimit(.minutes(5)))
struct ConnectionTests {
    private static let answer = ScriptedServer.Step.send(Array(response("200 OK", "done", keepsOpen: true).utf8))

    /// A transport that keeps connections however slow the machine is.
    private static func keeping() -> CurlTransport { .with { $0.maximumIdleTime = .seconds(600) } }

    @Test("are kept for one request after the other")
    func kept() async throws {
        let server = try ScriptedServer { _ in [Self.answer, .keepOpen] }
        let transport = Self.keeping()
        for _ in 0..<50 { _ = try await transport.send(.to(server, .patch, body: "{}")) }
        #expect(server.connectionCount == 1)
    }

    @Test("are at most as many as requests at the same time, and used again")
    func parallel() async throws {
        let server = try ScriptedServer { _ in [Self.answer, .keepOpen] }
        let transport = Self.keeping()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<100 { _ = try await transport.send(.to(server, .patch, body: "{}")) } }
            }
            try await group.waitForAll()
        }
        #expect(server.requests.count == 800)
        #expect(server.connectionCount <= 8)
    }

    @Test("are not kept when that is asked for, and the server is told")
    func notKept() async throws {
        let server = try ScriptedServer { _ in [Self.answer, .keepOpen] }
        let transport = CurlTransport.with { $0.maximumIdleTime = .zero }
        for _ in 0..<3 { _ = try await transport.send(.to(server)) }
        #expect(server.connectionCount == 3)
        #expect(server.requests.allSatisfy { $0.fields["connection"] == "close" })
        await server.allConnectionsClosed()
    }

    @Test(
        "that the server closed in between are noticed, and nothing is lost or sent twice",
        arguments: [HTTPRequest.Method.get, .post]
    )
    func closedInBetween(_ method: HTTPRequest.Method) async throws {
        // It says that the connection stays, and closes it.
        let server = try ScriptedServer { _ in [Self.answer] }
        let transport = Self.keeping()
        for _ in 0..<20 {
            #expect(try await transport.send(.to(server, method, body: method == .post ? "{}" : nil)).text == "done")
            await server.allConnectionsClosed()
        }
        #expect(server.requests.count == 20)
    }

    @Test(
        "that die under a request do not make it be sent again, whatever the method",
        arguments: [HTTPRequest.Method.get, .head, .post, .put, .patch, .delete],
        [false, true]
    )
    func diesUnderRequest(_ method: HTTPRequest.Method, _ resets: Bool) async throws {
        // The first request of each connection is answered; the second one is carried out, and the connection dies.
        let server = try ScriptedServer { request in
            request.number == 0 ? [Self.answer, .keepOpen] : resets ? [.reset] : []
        }
        let transport = Self.keeping()
        _ = try await transport.send(.to(server))
        let error = try await transport.failure(of: .to(server, method, "/once", body: method.isSafe ? nil : "{}"))
        #expect(error.code == .connectionLost, "\(error)")
        #expect(error.fate == .mayHaveBeenProcessed)
        #expect(server.requests.count { $0.target == "/once" } == 1)
    }

    @Test("that are reset while a body is being sent end the request, which is not sent again")
    func resetWhileSending() async throws {
        let server = try ScriptedServer(readsBodies: false) { _ in [.reset] }
        let body = String(repeating: "x", count: 8_000_000)
        for _ in 0..<10 {
            let error = try await CurlTransport().failure(of: .to(server, .put, body: body))
            #expect(error.code == .connectionLost && error.fate == .mayHaveBeenProcessed, "\(error)")
        }
        #expect(server.requests.count == 10)
    }

    @Test("are gone when their transport is, without being told")
    func dropped() async throws {
        let server = try ScriptedServer { _ in [Self.answer, .keepOpen] }
        do {
            let transport = Self.keeping()
            _ = try await transport.send(.to(server))
        }
        await server.allConnectionsClosed()
    }

    @Test("and callers are all let go after a thousand cancellations at random instants")
    func cancellations() async throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        let server = try ScriptedServer { request in
            request.number % 3 == 2 ? [Self.answer] : [Self.answer, .keepOpen]
        }
        var answered = 0
        do {
            let transport = Self.keeping()
            for round in 0..<100 {
                let waits = (0..<10).map { _ in Int.random(in: 0..<600, using: &random) }
                answered += try await withThrowingTaskGroup(of: Bool.self) { group in
                    for wait in waits {
                        group.addTask { try await hasResponse(by: transport, server, cancelledAfter: wait) }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                // What was cancelled has left nothing in the way of what comes.
                if round % 20 == 0 { #expect(try await isAnswered(by: transport, server), "seed \(seed)") }
            }
        }
        #expect(answered > 0 && answered < 1_000, "seed \(seed): \(answered) of 1000 were answered")
        await server.allConnectionsClosed()
    }

    /// Whether one of a few requests is answered: each kept connection may be closed by the server at the same instant.
    private func isAnswered(by transport: CurlTransport, _ server: ScriptedServer) async throws -> Bool {
        for _ in 0..<11 {
            do {
                return try await transport.send(.to(server)).text == "done"
            } catch let error as TransportError where error.code == .connectionLost {
                // The next one takes another connection.
            }
        }
        return false
    }

    /// Whether a request was answered that is cancelled after so many turns of the pool.
    private func hasResponse(
        by transport: CurlTransport,
        _ server: ScriptedServer,
        cancelledAfter turns: Int
    ) async throws -> Bool {
        let task = Task { try await transport.send(.to(server, .post, body: "{}")) }
        for _ in 0..<turns { await Task.yield() }
        task.cancel()
        do {
            return try await task.value.text == "done"
        } catch is CancellationError {
            return false
        } catch let error as TransportError where error.code == .connectionLost {
            // Kept by the client and closed by the server at the same instant.
            return false
        }
    }
}
