import ScriptedServer
import Synchronization
import Testing

@testable import HTTPTransport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite("Tasks on the thread of their answers", .timeLimit(.minutes(5)))
struct AnswerExecutorTests {
    private static let answer = ScriptedServer.Step.send(Array(response("200 OK", "done", keepsOpen: true).utf8))

    /// What tasks have seen.
    private final class Seen: Sendable {
        let threads = Mutex<Set<UInt>>([])
        let isDone = Atomic(false)
    }

    private static func thread() -> UInt { UInt(pthread_self()) }

    @Test("stay on it from one exchange to the next, their children as well, and nothing is mixed up")
    func staying() async throws {
        let server = try ScriptedServer { _ in [Self.answer, .keepOpen] }
        let transport = CurlTransport()
        let executor = try #require(transport.answerExecutor)
        let outside = Self.thread()
        let seen = Seen()
        try await withTaskExecutorPreference(executor) {
            for _ in 0..<20 {
                let text = try await transport.send(.to(server)).text
                #expect(text == "done")
                seen.threads.withLock { _ = $0.insert(Self.thread()) }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        for _ in 0..<5 { _ = try await transport.send(.to(server, .patch, body: "{}")) }
                        seen.threads.withLock { _ = $0.insert(Self.thread()) }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(seen.threads.withLock(\.count) == 1)
        #expect(seen.threads.withLock { !$0.contains(outside) })
        #expect(server.requests.count == 270)
    }

    @Test("that is busy with others serve the sockets all the same")
    func fairness() async throws {
        let server = try ScriptedServer { _ in [Self.answer, .keepOpen] }
        let transport = CurlTransport()
        let executor = try #require(transport.answerExecutor)
        let seen = Seen()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // It always wants to run again at once.
            group.addTask(executorPreference: executor) {
                while !seen.isDone.load(ordering: .relaxed) { await Task.yield() }
            }
            group.addTask {
                defer { seen.isDone.store(true, ordering: .relaxed) }
                for _ in 0..<20 { _ = try await transport.send(.to(server)) }
            }
            try await group.waitForAll()
        }
        #expect(server.requests.count == 20)
    }

    @Test("go on elsewhere when the transport is closed, or was before they came", arguments: [false, true])
    func closing(_ isClosedBefore: Bool) async throws {
        let server = try ScriptedServer { _ in [Self.answer, .keepOpen] }
        let transport = CurlTransport()
        let executor = try #require(transport.answerExecutor)
        if isClosedBefore { transport.close() }
        let steps = await withTaskExecutorPreference(executor) {
            if !isClosedBefore { await #expect(throws: Never.self) { try await transport.send(.to(server)) } }
            transport.close()
            await #expect(throws: TransportError.self) { try await transport.send(.to(server)) }
            var steps = 0
            for _ in 0..<10 {
                await Task.yield()
                steps += 1
            }
            return steps
        }
        #expect(steps == 10)
    }
}
