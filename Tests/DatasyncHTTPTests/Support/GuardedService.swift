import DatasyncHTTP
import Foundation
import HTTPTransport
import Synchronization

/// A service that lets only certain tokens in, and holds requests back until a test lets them go. Without sockets.
final class GuardedService: ClientTransport {
    private struct State {
        var valid: Set<String> = []
        var seen: [String?] = []
        /// How many of those have begun to wait, or go on.
        var arrived = 0
        var isHolding = false
        var held: [Int: CheckedContinuation<Void, Never>] = [:]
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())
    private let field: HTTPField.Name

    init(field: HTTPField.Name = .authorization, valid: Set<String>) {
        self.field = field
        state.withLock { $0.valid = valid }
    }

    /// The tokens of all requests in their order, nil for those without.
    var seen: [String?] { state.withLock { $0.seen } }

    func accept(_ valid: Set<String>) { state.withLock { $0.valid = valid } }

    /// From now on, requests wait for ``release()``; they are judged when they arrive.
    func hold() { state.withLock { $0.isHolding = true } }

    /// Lets requests through from now on; those that wait go on waiting.
    func letThrough() { state.withLock { $0.isHolding = false } }

    func release() {
        let held = state.withLock { state in
            state.isHolding = false
            defer { state.held = [:] }
            return state.held.values
        }
        for continuation in held { continuation.resume() }
    }

    /// Returns once so many requests have arrived.
    func arrived(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.arrived < count else { return true }
                state.waiting.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let text = request.headerFields[field].map { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : $0 }
        let (number, isValid, isHeld) = state.withLock { state in
            state.seen.append(text)
            return (state.seen.count, text.map(state.valid.contains) ?? false, state.isHolding)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // It is held before anybody hears that it has arrived, and may let it go.
                let (goesOn, ready) = state.withLock { state in
                    state.arrived += 1
                    let ready = state.waiting.filter { $0.count <= state.arrived }
                    state.waiting.removeAll { $0.count <= state.arrived }
                    let goesOn = !isHeld || Task.isCancelled
                    if !goesOn { state.held[number] = continuation }
                    return (goesOn, ready)
                }
                if goesOn { continuation.resume() }
                for waiting in ready { waiting.continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.held.removeValue(forKey: number) }?.resume()
        }
        try Task.checkCancellation()
        guard isValid else { return HTTPResponse(status: .init(code: 401), body: []) }
        return HTTPResponse(status: .ok, body: Array(#"{"id":"a1","version":"V1"}"#.utf8))
    }
}

/// Gives one token after the other and counts how often it was asked.
final class TokenSource: Sendable {
    private struct State {
        var count = 0
        var isHolding = false
        var held: [CheckedContinuation<Void, Never>] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let give: @Sendable (Int) throws -> AccessToken?

    init(_ give: @escaping @Sendable (Int) throws -> AccessToken?) { self.give = give }

    /// How often it was asked.
    var count: Int { state.withLock { $0.count } }

    func hold() { state.withLock { $0.isHolding = true } }

    func release() {
        let held = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Returns once it has been asked while it was held.
    func asked() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.held.isEmpty else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func token() async throws -> AccessToken? {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        await withCheckedContinuation { continuation in
            let (goesOn, waiting) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
                guard state.isHolding else { return (true, []) }
                state.held.append(continuation)
                defer { state.waiting = [] }
                return (false, state.waiting)
            }
            if goesOn { continuation.resume() }
            for waiting in waiting { waiting.resume() }
        }
        return try give(number)
    }
}
