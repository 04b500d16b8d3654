/// A transport whose exchanges can be ended one by one, whatever task waits for them.
package protocol EndableTransport: ClientTransport {
    /// Runs tasks on the thread on which answers arrive; nil when there is no such thread. What waits there holds up every
    /// exchange.
    var answerExecutor: (any TaskExecutor)? { get }

    /// Sends a request; see ``ClientTransport/send(_:)``.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - whenEndable: Is called once, on the way, with what ends this exchange with a `CancellationError`. That may be called
    ///     by anybody and at any time, and does nothing once the exchange has ended.
    /// - Returns: The complete answer.
    /// - Throws: As ``ClientTransport/send(_:)``.
    func send(
        _ request: HTTPRequest,
        whenEndable: (@escaping @Sendable () -> Void) -> Void
    ) async throws -> HTTPResponse

    /// Sends a request with streamed bodies; see ``ClientTransport/send(_:body:receiving:)``, and above.
    func send(
        _ request: HTTPRequest,
        body: StreamedBody?,
        receiving choose: @escaping ReceptionChoice,
        whenEndable: (@escaping @Sendable () -> Void) -> Void
    ) async throws -> HTTPResponse
}

extension EndableTransport {
    package var answerExecutor: (any TaskExecutor)? { nil }
}

/// Any transport, each of whose exchanges runs in a task of its own, which can be cancelled alone.
package struct TaskTransport: EndableTransport {
    private let transport: any ClientTransport

    package init(_ transport: any ClientTransport) { self.transport = transport }

    package func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await transport.send(request) }

    package func send(
        _ request: HTTPRequest,
        whenEndable: (@escaping @Sendable () -> Void) -> Void
    ) async throws -> HTTPResponse {
        try await result(of: start(request), whenEndable)
    }

    package func send(
        _ request: HTTPRequest,
        body: StreamedBody?,
        receiving choose: @escaping ReceptionChoice
    ) async throws -> HTTPResponse {
        try await transport.send(request, body: body, receiving: choose)
    }

    package func send(
        _ request: HTTPRequest,
        body: StreamedBody?,
        receiving choose: @escaping ReceptionChoice,
        whenEndable: (@escaping @Sendable () -> Void) -> Void
    ) async throws -> HTTPResponse {
        let task = Task { try await transport.send(request, body: body, receiving: choose) }
        return try await result(of: task, whenEndable)
    }

    private func result(
        of task: Task<HTTPResponse, any Error>,
        _ whenEndable: (@escaping @Sendable () -> Void) -> Void
    ) async throws -> HTTPResponse {
        whenEndable { task.cancel() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Starts an exchange on this thread, up to where it waits for the answer, because the way to another one takes as long
    /// as all that is done for a request here.
    private func start(_ request: HTTPRequest) -> Task<HTTPResponse, any Error> {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return Task { try await transport.send(request) }
        }
        return Task.immediate { try await transport.send(request) }
    }
}
