internal import SyncContract
internal import Synchronization

/// What happens in the engine, as it happens: `for await event in context.events { … }`.
///
/// Every loop is a subscription of its own, from the moment it asks for the first event. Events are in the order in which
/// they happened. A loop that does not keep up loses the oldest events beyond ``capacity``: what must not be missed is in
/// the reports, ``SyncContext/operationErrors()`` and ``SyncContext/journal()``. It ends with its task.
public final class SyncEvents: AsyncSequence, Sendable {
    /// What happened.
    public typealias Element = SyncEvent
    /// Nothing ends it early.
    public typealias Failure = Never

    /// How many events wait for a loop at most.
    public static let capacity = 1_000

    private let subscribers = Mutex<[Int: AsyncStream<SyncEvent>.Continuation]>([:])
    private let nextNumber = Atomic<Int>(0)
    private let arrivals = Mutex<ArrivedRows?>(nil)
    private let log: (@Sendable (String) -> Void)?

    init(log: (@Sendable (String) -> Void)? = nil) { self.log = log }

    /// Whether an app's log is told of each event.
    var isLogged: Bool { log != nil }

    /// Subscribes: what happens from here on comes.
    public func makeAsyncIterator() -> AsyncStream<SyncEvent>.Iterator {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SyncEvent.self,
            bufferingPolicy: .bufferingNewest(Self.capacity)
        )
        let number = nextNumber.add(1, ordering: .relaxed).newValue
        subscribers.withLock { $0[number] = continuation }
        continuation.onTermination = { [weak self] _ in
            _ = self?.subscribers.withLock { $0.removeValue(forKey: number) }
        }
        return stream.makeAsyncIterator()
    }

    /// Tells which rows arrive from here on, each after the transaction that has written it. There is one follower: the last.
    package func followArrivals() -> ArrivedRows {
        let new = ArrivedRows()
        arrivals.withLock { $0 = new }
        return new
    }

    func arrived(_ ids: [RecordID], of table: String) {
        guard !ids.isEmpty else { return }
        arrivals.withLock { $0 }?.add(ids, of: table)
    }

    func send(_ event: SyncEvent) {
        log?(event.logLine)
        if case .wasReset = event { arrivals.withLock { $0 }?.addEverything() }
        for continuation in subscribers.withLock({ Array($0.values) }) { continuation.yield(event) }
    }

    deinit { for continuation in subscribers.withLock({ Array($0.values) }) { continuation.finish() } }
}
