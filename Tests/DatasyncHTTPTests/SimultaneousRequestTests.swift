import DatasyncEmulator
import DatasyncHTTP
import Foundation
import HTTPTransport
import Testing

@Suite("Many requests at the same time", .timeLimit(.minutes(5)))
struct SimultaneousRequestTests {
    @Test("all are on their way before the first is answered")
    func barrier() async throws {
        let count = 32
        let barrier = Barrier(count)
        let emulator = Emulator(EmulatorConfiguration(tables: ["todoitem"]))
        let server = EmulatorServer(emulator) { request, emulator in
            await barrier.wait()
            return try await emulator.handle(request)
        }
        let url = try await server.start()
        let transport = DefaultTransport()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<count {
                group.addTask {
                    let authority = "127.0.0.1:\(url.port ?? 0)"
                    let request = HTTPRequest(
                        method: .get,
                        scheme: "http",
                        authority: authority,
                        path: "/tables/todoitem",
                        timeout: .seconds(60)
                    )
                    return try await transport.send(request).status.code
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: count))
        await server.stop()
    }
}

/// Lets nobody through until so many wait.
private actor Barrier {
    private var missing: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { missing = count }

    func wait() async {
        missing -= 1
        guard missing > 0 else {
            for continuation in waiting { continuation.resume() }
            waiting = []
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }
}
