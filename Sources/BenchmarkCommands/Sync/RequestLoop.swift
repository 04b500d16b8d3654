internal import Foundation
internal import HTTPTransport
internal import Synchronization

/// The floor of everything that asks a server: the same requests on the same client, whose answers are dropped.
enum RequestLoop {
    /// Sends requests in their order, so many at a time.
    static func send(_ requests: [HTTPRequest], parallel: Int) async throws {
        let transport = DefaultTransport()
        let places = Places()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<parallel {
                group.addTask {
                    while true {
                        let place = places.next()
                        guard place < requests.count else { return }
                        let status = try await transport.send(requests[place]).status
                        try expect((200...299).contains(status.code), "request")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Numbers from 0 on, each given once.
    private final class Places: Sendable {
        private let count = Atomic(0)

        func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
    }
}

/// The requests of a run, so that the floor can send the same ones.
final class RequestRecord: Sendable {
    private let kept = Mutex<[HTTPRequest]>([])

    var requests: [HTTPRequest] { kept.withLock { $0 } }

    /// What carries the requests of a run: it keeps those of the first one, which does not count.
    ///
    /// - Parameter limit: How many are carried; those that follow find no server.
    /// - Returns: The transport of one run.
    func transport(limit: Int? = nil) -> any ClientTransport {
        let transport: any ClientTransport = requests.isEmpty ? Recorder(record: self) : DefaultTransport()
        return limit.map { Ending(after: $0, transport) } ?? transport
    }

    /// What carries so many requests and keeps none.
    static func ending(after limit: Int) -> any ClientTransport { Ending(after: limit, DefaultTransport()) }

    private struct Recorder: ClientTransport {
        let record: RequestRecord
        let transport = DefaultTransport()

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            record.kept.withLock { $0.append(request) }
            return try await transport.send(request)
        }
    }

    private final class Ending: ClientTransport {
        private let limit: Int
        private let transport: any ClientTransport
        private let count = Atomic(0)

        init(after limit: Int, _ transport: any ClientTransport) {
            self.limit = limit
            self.transport = transport
        }

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            guard count.add(1, ordering: .relaxed).newValue <= limit else {
                throw TransportError(.cannotConnect, "The measurement is over.", fate: .notSent)
            }
            return try await transport.send(request)
        }
    }
}

extension HTTPRequest {
    /// Asks a ``ServerProcess`` to forget what it was sent.
    static func reset(_ url: URL) -> HTTPRequest {
        HTTPRequest(
            method: .post,
            scheme: "http",
            authority: "\(url.host() ?? ""):\(url.port ?? 0)",
            path: "/__reset",
            body: []
        )
    }
}
