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
        var watchers: [Int: (isMet: @Sendable ([Duration]) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
            [:]
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

    /// Returns when somebody sleeps for a time that is meant, counted from now, or the task is cancelled.
    package func sleeperComes(_ isMeant: @escaping @Sendable (Duration) -> Bool = { _ in true }) async {
        let number = newNumber()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    let offset = state.offset
                    let isMet: @Sendable ([Duration]) -> Bool = { $0.contains { isMeant($0 - offset) } }
                    if Task.isCancelled || isMet(state.sleepers.values.map(\.deadline)) { return true }
                    state.watchers[number] = (isMet, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.watchers.removeValue(forKey: number) }?.continuation.resume()
        }
    }

    private func newNumber() -> Int {
        state.withLock { state in
            state.next += 1
            return state.next
        }
    }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let number = newNumber()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let (result, met) = state.withLock {
                    state -> (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) in
                    if state.cancelled.remove(number) != nil { return (.failure(CancellationError()), []) }
                    if deadline.offset <= state.offset { return (.success(()), []) }
                    state.sleepers[number] = Sleeper(deadline: deadline.offset, continuation: continuation)
                    let deadlines = state.sleepers.values.map(\.deadline)
                    let met = state.watchers.filter { $0.value.isMet(deadlines) }
                    for number in met.keys { state.watchers[number] = nil }
                    return (nil, met.values.map(\.continuation))
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
