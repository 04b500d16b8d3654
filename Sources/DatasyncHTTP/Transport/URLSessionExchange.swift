internal import Foundation
internal import HTTPTypes
internal import RemoteContract
internal import Synchronization

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// One request on its way and the answer as far as it has come. It ends once, with whatever ends it first.
final class URLSessionExchange: Sendable {
    typealias Answer = (response: HTTPResponse, body: [UInt8])

    private struct State {
        var response: HTTPResponse?
        var body: [UInt8] = []
        var continuation: CheckedContinuation<Answer, any Error>?
        /// Set when the exchange ended before anyone waited for it.
        var result: Result<Answer, any Error>?
        var isOver = false
    }

    let task: URLSessionTask
    let server: String
    private let state = Mutex(State())

    init(task: URLSessionTask, server: String) {
        self.task = task
        self.server = server
    }

    /// Starts the request and waits for its end. To be called once.
    func answer() async throws -> Answer {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let early: Result<Answer, any Error>? = state.withLock { state in
                    if state.result == nil { state.continuation = continuation }
                    return state.result
                }
                if let early { continuation.resume(with: early) } else { task.resume() }
            }
        } onCancel: {
            fail(CancellationError())
        }
    }

    func received(_ response: HTTPResponse) {
        state.withLock { $0.response = response }
    }

    func received(_ data: Data, maximumBodySize: Int) {
        let isTooLarge = state.withLock { state in
            guard !state.isOver else { return false }
            guard state.body.count + data.count <= maximumBodySize else { return true }
            state.body.append(contentsOf: data)
            return false
        }
        if isTooLarge { fail(TransportFailure.tooLarge(server, maximumBodySize)) }
    }

    var hasResponse: Bool { state.withLock { $0.response != nil } }

    /// Ends the exchange with the answer that has arrived.
    func finish() {
        // A redirect without a usable address is never reported on Linux: the response is only found in the task.
        let told = task.response.flatMap(HTTPResponse.init)
        let answer = state.withLock { state in (state.response ?? told).map { ($0, state.body) } }
        end(with: answer.map(Result.success) ?? .failure(TransportFailure.noAnswer(server)))
    }

    /// Ends the exchange and stops the request.
    func fail(_ error: any Error) {
        end(with: .failure(error))
        task.cancel()
    }

    private func end(with result: Result<Answer, any Error>) {
        let continuation = state.withLock { state in
            guard !state.isOver else { return nil as CheckedContinuation<Answer, any Error>? }
            state.isOver = true
            state.body = []
            if state.continuation == nil { state.result = result }
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: result)
    }
}

/// The exchanges of one session, found by their task.
final class URLSessionExchanges: NSObject, URLSessionDataDelegate {
    private let exchanges = Mutex<[Int: URLSessionExchange]>([:])
    private let maximumBodySize: Int

    init(maximumBodySize: Int) { self.maximumBodySize = maximumBodySize }

    func add(_ exchange: URLSessionExchange) {
        exchanges.withLock { $0[exchange.task.taskIdentifier] = exchange }
    }

    func remove(_ exchange: URLSessionExchange) {
        _ = exchanges.withLock { $0.removeValue(forKey: exchange.task.taskIdentifier) }
    }

    private func exchange(_ task: URLSessionTask) -> URLSessionExchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = HTTPResponse(response) { exchange(dataTask)?.received(response) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(dataTask)?.received(data, maximumBodySize: maximumBodySize)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        if let response = HTTPResponse(response) { exchange(task)?.received(response) }
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // On Linux, a 401 that asks for a password comes here once it is complete, and without a password neither
        // default handling nor refusing would ever end the task with it.
        if let exchange = exchange(task), exchange.hasResponse {
            exchange.finish()
            completionHandler(.cancelAuthenticationChallenge, nil)
        } else {
            completionHandler(.performDefaultHandling, nil)
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchange(task) else { return }
        if let error {
            exchange.fail(TransportFailure.error(for: error, server: exchange.server))
        } else {
            exchange.finish()
        }
    }
}

extension HTTPResponse {
    fileprivate init?(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse, (100...999).contains(response.statusCode) else { return nil }
        self.init(status: Status(code: response.statusCode))
        for (name, value) in response.allHeaderFields {
            guard let text = name as? String, let name = HTTPField.Name(text), let value = value as? String else {
                continue
            }
            headerFields.append(HTTPField(name: name, value: value))
        }
    }
}
