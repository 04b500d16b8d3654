internal import Synchronization

/// What committed transactions touched since a subscriber last looked.
public struct StoreChange: Sendable, Hashable {
    /// The tables in which a row was written or deleted, system tables included. Never empty.
    public var tables: Set<String>

    /// Creates a change.
    public init(tables: Set<String>) { self.tables = tables }
}

/// Hands changes to any number of subscribers; what a subscriber has not read yet is merged into one change.
///
/// Stores use one to implement ``SyncContextDataSource/changes()``: they call ``send(_:)`` after a commit and before
/// `write` returns, and ``finish()`` when they close.
public final class ChangeBroadcaster: Sendable {
    private struct Subscriber {
        var unread: StoreChange?
        var waiting: CheckedContinuation<StoreChange?, Never>?
        var isFinished = false
    }

    private struct State {
        var subscribers: [Int: Subscriber] = [:]
        var nextID = 0
        var isFinished = false
    }

    private let state = Mutex(State())

    /// Creates a broadcaster without subscribers.
    public init() {}

    /// A stream of the changes sent from now on. It ends after ``finish()``, or when the reading task is cancelled.
    public func subscribe() -> AsyncStream<StoreChange> {
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            state.subscribers[state.nextID] = Subscriber(isFinished: state.isFinished)
            return state.nextID
        }
        // Dropping the stream unsubscribes through the token's deinit.
        let token = Token { [self] in cancel(id) }
        return AsyncStream {
            await withTaskCancellationHandler {
                await self.next(id)
            } onCancel: {
                token.cancel()
            }
        }
    }

    /// Adds a change to what every subscriber will read next. A change without tables is not delivered.
    public func send(_ change: StoreChange) {
        guard !change.tables.isEmpty else { return }
        let ready = state.withLock { state in
            var ready: [CheckedContinuation<StoreChange?, Never>] = []
            for id in state.subscribers.keys {
                if let waiting = state.subscribers[id]?.waiting {
                    state.subscribers[id]?.waiting = nil
                    ready.append(waiting)
                } else {
                    let unread = state.subscribers[id]?.unread?.tables ?? []
                    state.subscribers[id]?.unread = StoreChange(tables: unread.union(change.tables))
                }
            }
            return ready
        }
        for continuation in ready { continuation.resume(returning: change) }
    }

    /// Ends every stream, after what it has not read yet; later subscribers get a stream that has ended.
    public func finish() {
        let waiting = state.withLock { state in
            state.isFinished = true
            var waiting: [CheckedContinuation<StoreChange?, Never>] = []
            for id in state.subscribers.keys {
                state.subscribers[id]?.isFinished = true
                if let continuation = state.subscribers[id]?.waiting { waiting.append(continuation) }
                state.subscribers[id]?.waiting = nil
            }
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: nil) }
    }

    private func next(_ id: Int) async -> StoreChange? {
        await withCheckedContinuation { continuation in
            let immediate: StoreChange?? = state.withLock { state in
                guard var subscriber = state.subscribers[id] else { return .some(nil) }
                if let unread = subscriber.unread {
                    subscriber.unread = nil
                    state.subscribers[id] = subscriber
                    return .some(unread)
                }
                if subscriber.isFinished {
                    state.subscribers[id] = nil
                    return .some(nil)
                }
                state.subscribers[id]?.waiting = continuation
                return nil
            }
            if let immediate { continuation.resume(returning: immediate) }
        }
    }

    private func cancel(_ id: Int) {
        let waiting = state.withLock { state in state.subscribers.removeValue(forKey: id)?.waiting }
        waiting?.resume(returning: nil)
    }
}

/// Unsubscribes once: when cancelled, or when the last stream that holds it is dropped.
private final class Token: Sendable {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    func cancel() { action() }

    deinit { action() }
}
