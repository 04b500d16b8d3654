internal import Foundation
internal import RemoteContract
internal import Synchronization

/// The token of whoever is signed in. It is asked for once, however many requests wait for it, and kept until shortly
/// before it ends.
final class TokenCache: Sendable {
    /// A token, and which one in the order in which they were given.
    struct Grant: Sendable {
        let number: Int
        let token: AccessToken
    }

    private struct State {
        var grant: Grant?
        /// How many tokens were given.
        var count = 0
        /// How many times the provider was asked, or somebody signed out.
        var turn = 0
        var asking: Task<Void, Never>?
        var waiting: [Int: CheckedContinuation<Grant?, any Error>] = [:]
        var nextWaiting = 0
    }

    /// How long before its end a token is not used any more: clocks differ, and a request takes its time.
    private static let margin: TimeInterval = 60

    /// The cache whose provider the calling task runs.
    @TaskLocal private static var provided: TokenCache?

    private let provider: DatasyncRemote.TokenProvider
    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    init(now: @escaping @Sendable () -> Date, _ provider: @escaping DatasyncRemote.TokenProvider) {
        self.now = now
        self.provider = provider
    }

    /// Gives a token to send.
    ///
    /// Cancelling the calling task ends its own waiting only: others get the token all the same.
    ///
    /// - Parameter rejected: The number of a token that the server has refused; only a later one will do.
    /// - Returns: The token; nil when nobody is signed in.
    /// - Throws: What the provider throws, ``SignedOut``, `CancellationError`.
    func grant(after rejected: Int? = nil) async throws -> Grant? {
        guard Self.provided !== self else {
            throw RemoteError(
                .invalidRequest,
                "The token provider asks the service that waits for its token; let it use a remote without a provider."
            )
        }
        let number = state.withLock { state in
            state.nextWaiting += 1
            return state.nextWaiting
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait(continuation, number: number, rejected: rejected)
            }
        } onCancel: {
            let continuation = state.withLock { $0.waiting.removeValue(forKey: number) }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Forgets the token and asks no further; whoever waits gets ``SignedOut``.
    func signOut() {
        let waiting = state.withLock { state in
            state.grant = nil
            state.turn += 1
            state.asking?.cancel()
            state.asking = nil
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(throwing: SignedOut()) }
    }

    private func wait(_ continuation: CheckedContinuation<Grant?, any Error>, number: Int, rejected: Int?) {
        let answer: Result<Grant?, any Error>? = state.withLock { state in
            // A task that was cancelled before it could be found among those that wait.
            guard !Task.isCancelled else { return .failure(CancellationError()) }
            if let grant = state.grant {
                // A refusal of an older token says nothing about this one.
                if grant.number > rejected ?? 0, isUsable(grant.token) { return .success(grant) }
                state.grant = nil
            }
            state.waiting[number] = continuation
            if state.asking == nil {
                state.turn += 1
                state.asking = Task { [turn = state.turn] in await ask(turn) }
            }
            return nil
        }
        if let answer { continuation.resume(with: answer) }
    }

    private func isUsable(_ token: AccessToken) -> Bool {
        token.expires.map { now().addingTimeInterval(Self.margin) < $0 } ?? true
    }

    private func ask(_ turn: Int) async {
        let answer: Result<AccessToken?, any Error>
        do {
            answer = .success(
                try await Self.$provided.withValue(self) {
                    try await RequestParameters.outside { try await provider() }
                }
            )
        } catch {
            answer = .failure(error)
        }
        let (waiting, result): ([CheckedContinuation<Grant?, any Error>], Result<Grant?, any Error>) =
            state.withLock { state in
                // Who signed out meanwhile wants none of this.
                guard state.turn == turn else { return ([], .success(nil)) }
                state.asking = nil
                let result = answer.map { token in
                    state.count += token == nil ? 0 : 1
                    return token.map { Grant(number: state.count, token: $0) }
                }
                if case .success(let grant) = result { state.grant = grant }
                defer { state.waiting = [:] }
                return (Array(state.waiting.values), result)
            }
        for continuation in waiting { continuation.resume(with: result) }
    }
}

/// Somebody signed out while a request waited.
struct SignedOut: Error {}
