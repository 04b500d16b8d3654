internal import Synchronization

/// A clock that stands still until a test moves it. Who sleeps is woken when it has passed his time.
package final class VirtualClock: Clock, Sendable {
    package struct Instant: InstantProtocol {
        package var offset: Duration

        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        var deadline: Duration
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var offset = Duration.zero
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var next = 0
        var watchers: [(isMet: @Sendable ([Duration]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var now: Instant { Instant(offset: state.withLock { $0.offset }) }
    package var minimumResolution: Duration { .zero }

    /// How long the one who is woken first sleeps yet; nil when nobody sleeps.
    package var nextWaking: Duration? {
        state.withLock { state in state.sleepers.values.map { $0.deadline - state.offset }.min() }
    }

    package func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.offset += duration
            let woken = state.sleepers.filter { $0.value.deadline <= state.offset }
            for number in woken.keys { state.sleepers[number] = nil }
            return woken.values.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Returns when somebody sleeps for a time that is meant, counted from now.
    package func sleeperComes(_ isMeant: @escaping @Sendable (Duration) -> Bool = { _ in true }) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                let offset = state.offset
                let isMet: @Sendable ([Duration]) -> Bool = { $0.contains { isMeant($0 - offset) } }
                if isMet(state.sleepers.values.map(\.deadline)) { return true }
                state.watchers.append((isMet, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let (result, met) = state.withLock {
                    state -> (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) in
                    if state.cancelled.remove(number) != nil { return (.failure(CancellationError()), []) }
                    if deadline.offset <= state.offset { return (.success(()), []) }
                    state.sleepers[number] = Sleeper(deadline: deadline.offset, continuation: continuation)
                    let deadlines = state.sleepers.values.map(\.deadline)
                    let met = state.watchers.filter { $0.isMet(deadlines) }.map(\.continuation)
                    state.watchers.removeAll { $0.isMet(deadlines) }
                    return (nil, met)
                }
                if let result { continuation.resume(with: result) }
                for watcher in met { watcher.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: number)
                if sleeper == nil { state.cancelled.insert(number) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
