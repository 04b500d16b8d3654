internal import HTTPTransport
internal import Synchronization

/// Bodies that pass through one exchange, and what is known of them when it ends.
final class ExchangeStreams: Sendable {
    private struct State {
        var isUntouched = true
        var failure: (any Error)?
    }

    private let content: StreamedBody?
    private let choose: ReceptionChoice
    private let state = Mutex(State())

    /// - Parameters:
    ///   - body: The body of the request.
    ///   - choose: What becomes of the answer's.
    init(_ body: StreamedBody? = nil, _ choose: @escaping ReceptionChoice = { _ in .held }) {
        content = body
        self.choose = choose
    }

    /// Whether nothing was taken from the one body and nothing was given of the other, so that sending the request again
    /// does the same.
    var isUntouched: Bool { state.withLock(\.isUntouched) }

    /// What a closure that belongs to the caller threw. It is not what a transport throws, and is not read as that.
    var failure: (any Error)? { state.withLock(\.failure) }

    var body: StreamedBody? {
        guard let content else { return nil }
        return StreamedBody(length: content.length) { [self] in try await touching { try await content.next() } }
    }

    func reception(of head: HTTPResponse) throws -> BodyReception {
        switch try choose(head) {
        case .held: .held
        case .streamed(let limit, let receive):
            .streamed(limit: limit) { [self] bytes in try await touching { try await receive(bytes) } }
        }
    }

    private func touching<Value>(_ work: () async throws -> Value) async throws -> Value {
        state.withLock { $0.isUntouched = false }
        do {
            return try await work()
        } catch let error where !(error is CancellationError) {
            state.withLock { if $0.failure == nil { $0.failure = error } }
            throw error
        }
    }
}
