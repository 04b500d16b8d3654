import DatasyncEmulator
import FixedPorts
import Foundation
import HTTPTransport
import ScriptedServer
import Testing

@Suite("Time limits and cancellation", .timeLimit(.minutes(5)))
struct TimeTests {
    @Test("silence ends at the request's time limit, and the message names it and the server")
    func silence() async throws {
        let server = try ScriptedServer { _ in [.silence] }
        let error = try await CurlTransport().failure(of: .to(server, .post, timeout: .milliseconds(1_200)))
        #expect(error.code == .timedOut)
        #expect(error.fate == .mayHaveBeenProcessed)
        #expect(error.message.contains(server.authority) && error.message.contains("1.2 seconds"))
    }

    @Test("an answer that drips runs out of time as well")
    func drip() async throws {
        let bytes = Array(response("200 OK", "slow").utf8)
        let server = try ScriptedServer { _ in [.drip(bytes, milliseconds: 50)] }
        let error = try await CurlTransport().failure(of: .to(server, timeout: .milliseconds(300)))
        #expect(error.code == .timedOut)
    }

    @Test("an answer that stops in the middle is given up after the pause that is allowed")
    func stall() async throws {
        let transport = CurlTransport.with { $0.stallTimeout = .milliseconds(200) }
        for text in ["HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"] {
            let server = try ScriptedServer { _ in [.send(Array(text.utf8)), .silence] }
            let error = try await transport.failure(of: .to(server))
            #expect(error.code == .timedOut)
            #expect(error.message.contains("stood still"))
            #expect(error.fate == .mayHaveBeenProcessed)
        }
    }

    @Test("a server that takes nothing of a body is given up after the pause that is allowed")
    func stallWhileSending() async throws {
        let transport = CurlTransport.with { $0.stallTimeout = .milliseconds(200) }
        let server = try ScriptedServer(readsBodies: false) { _ in [.hold] }
        let error = try await transport.failure(of: .to(server, .post, body: String(repeating: "x", count: 30_000_000)))
        #expect(error.code == .timedOut && error.message.contains("stood still"), "\(error)")
    }

    @Test("a server that thinks, and one that keeps sending, do not stand still")
    func noStall() async throws {
        let transport = CurlTransport.with { $0.stallTimeout = .seconds(2) }
        let late = Array(response("200 OK", "late").utf8)
        let interim = Array("HTTP/1.1 102 Processing\r\n\r\n".utf8)
        // Each drip is far below the pause that is allowed; what is thought takes longer than it.
        let server = try ScriptedServer { request in
            let thinks: [ScriptedServer.Step] = [
                .drip([late[0]], milliseconds: 2_300), .send(Array(late.dropFirst())),
            ]
            return switch request.target {
            case "/thinks": thinks
            case "/interim": [.send(interim)] + thinks
            default: [.drip(late, milliseconds: 10)]
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for path in ["/thinks", "/interim", "/drips"] {
                group.addTask {
                    let answer = try await transport.send(.to(server, .get, path))
                    #expect(answer.text == "late")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("a refused connection and a port that nobody answers on were not sent")
    func refused() async throws {
        let server = EmulatorServer(EmulatorConfiguration(tables: []))
        let port = try #require(try await server.startOnFixedPort().port)
        await server.stop()
        let request = HTTPRequest(method: .post, scheme: "http", authority: "localhost:\(port)", path: "/secret")
        let error = try await CurlTransport().failure(of: request)
        #expect(error.code == .cannotConnect)
        #expect(error.fate == .notSent)
        #expect(error.message.contains("localhost:\(port)"))
        #expect(!error.description.contains("secret"))
    }

    @Test("a name that does not exist was not sent")
    func unknownHost() async throws {
        let request = HTTPRequest(method: .post, scheme: "https", authority: "nowhere.invalid", path: "/")
        let error = try await CurlTransport().failure(of: request)
        #expect(error.code == .unknownHost)
        #expect(error.fate == .notSent)
    }

    @Test("cancelling ends a request that waits for an answer, and its connection")
    func cancellation() async throws {
        let (arrivals, arrived) = AsyncStream<Void>.makeStream()
        let server = try ScriptedServer { _ in
            arrived.yield()
            return [.silence]
        }
        let transport = CurlTransport()
        let task = Task { try await transport.send(.to(server)) }
        for await _ in arrivals { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await server.allConnectionsClosed()
    }

    @Test(
        "an exchange can be ended alone: the task that waits for it goes on",
        arguments: [CurlTransport(), TaskTransport(CurlTransport())] as [any EndableTransport]
    )
    func endedAlone(_ transport: any EndableTransport) async throws {
        let (arrivals, arrived) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<@Sendable () -> Void>.makeStream()
        let server = try ScriptedServer { request in
            guard request.target == "/held" else { return [.send(Array(response("200 OK", "done").utf8))] }
            arrived.yield()
            return [.silence]
        }
        let task = Task {
            await #expect(throws: CancellationError.self) {
                try await transport.send(.to(server, .get, "/held")) { end.yield($0) }
            }
            #expect(!Task.isCancelled)
            return try await transport.send(.to(server)).text
        }
        for await _ in arrivals { break }
        for await end in ends {
            end()
            break
        }
        #expect(try await task.value == "done")
    }

    @Test("a task that is cancelled already sends nothing")
    func cancelledBefore() async throws {
        let server = try ScriptedServer(answering: response("200 OK"))
        let transport = CurlTransport()
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await transport.send(.to(server))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.connectionCount == 0)
    }

    @Test("closing ends what is under way, and refuses what comes")
    func closing() async throws {
        let (arrivals, arrived) = AsyncStream<Void>.makeStream()
        let server = try ScriptedServer { _ in
            arrived.yield()
            return [.silence]
        }
        let transport = CurlTransport()
        let tasks = (0..<20).map { _ in Task { try await transport.failure(of: .to(server, .post)) } }
        var count = 0
        for await _ in arrivals {
            count += 1
            if count == tasks.count { break }
        }
        transport.close()
        for task in tasks {
            let error = try await task.value
            #expect(error.code == .closed && error.fate == .mayHaveBeenProcessed)
        }
        await server.allConnectionsClosed()
        let error = try await transport.failure(of: .to(server))
        #expect(error.code == .closed && error.fate == .notSent)
        transport.close()
    }
}
