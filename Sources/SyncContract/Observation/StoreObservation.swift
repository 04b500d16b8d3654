/// What an item throws that asks for its state in a row that was read without; the second time it is there.
package struct MissingSyncState: Error {
    package init() {}
}

/// A live query: what a read gives now, and again whenever committed transactions change it.
///
/// Made by the `observe` methods of ``SyncContextDataSource``. Each iterator is an observer of its own, and any number
/// of them may look at one store at the same time:
///
/// - **First the result as it is**, also when it is empty. After that an element comes only for a result that differs
///   from the one given before.
/// - **No change is missed.** The observer subscribes to the store's changes when its iterator is made, before it reads.
///   Every element is the state of one instant, and once writing has stopped the last element is the final state.
/// - **The newest state only.** Changes made while the consumer is busy are merged: when it asks again, it gets the
///   state of that moment, not the ones between. Nothing is read while nobody asks, nor for a transaction that touched
///   none of the observed tables; an observer keeps the last result and nothing else.
/// - **The end.** The sequence ends when the store is closed, also when it was closed before, and when the task that
///   waits is cancelled; neither is an error. A change that was not read when the store closed is not given any more.
///   Dropping the iterator ends the subscription.
///
/// - **Locking.** While a store is locked there are no elements, and the sequence goes on after the unlocking, with the
///   result of then if it differs.
///
/// The sequence throws what the read throws, such as ``StoreError/Code/tableNotFound``, and has ended then. It keeps
/// the store alive, but does not keep it open.
public struct StoreObservation<Element: Sendable>: AsyncSequence, Sendable {
    /// What reads throw.
    public typealias Failure = any Error

    fileprivate typealias Reader = () async throws -> Element?

    /// Asked at each change: an item that asks for its state for the first time adds the table of operations.
    private let tables: @Sendable () -> Set<String>
    private let subscribe: @Sendable () -> AsyncStream<StoreChange>
    /// Makes what one iterator reads with; it gives nil for a result equal to the one before.
    private let makeReader: @Sendable () -> Reader

    /// Observes a read, and turns every new result into an element. One that fails for want of states is read again.
    package init<Store: SyncContextDataSource, Value: Sendable & Equatable>(
        of store: Store,
        tables: @autoclosure @escaping @Sendable () -> Set<String>,
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value,
        transform: @escaping @Sendable (Value) throws -> Element
    ) {
        self.tables = tables
        subscribe = { store.changes() }
        makeReader = {
            var last: Value?
            func next() async throws -> Element? {
                let value = try await store.read(body)
                guard value != last else { return nil }
                last = .some(value)
                return try transform(value)
            }
            return {
                do {
                    return try await next()
                } catch is MissingSyncState {
                    return try await next()
                }
            }
        }
    }

    /// Subscribes to the store's changes. Nothing is read yet.
    public func makeAsyncIterator() -> Iterator {
        Iterator(tables: tables, changes: subscribe().makeAsyncIterator(), read: makeReader())
    }

    /// One observer of a store.
    public struct Iterator: AsyncIteratorProtocol {
        private let tables: @Sendable () -> Set<String>
        private var subscription: (changes: AsyncStream<StoreChange>.Iterator, read: Reader)?
        private var isFirst = true

        fileprivate init(
            tables: @escaping @Sendable () -> Set<String>,
            changes: AsyncStream<StoreChange>.Iterator,
            read: @escaping Reader
        ) {
            self.tables = tables
            subscription = (changes, read)
        }

        /// The result, the first time at once and then as soon as it differs from the one given before; nil after the
        /// store was closed, the task was cancelled or an error was thrown.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            do {
                if let element = try await nextElement(isolation: actor) { return element }
                subscription = nil
                return nil
            } catch {
                subscription = nil
                if error is CancellationError || (error as? StoreError)?.code == .closed { return nil }
                throw error
            }
        }

        /// The same, for callers without a loop.
        public mutating func next() async throws(any Error) -> Element? { try await next(isolation: #isolation) }

        private mutating func nextElement(isolation actor: isolated (any Actor)?) async throws -> Element? {
            guard let read = subscription?.read else { return nil }
            if isFirst {
                isFirst = false
                if let element = try await Self.result(of: read) { return element }
            }
            while let change = await subscription?.changes.next(isolation: actor) {
                guard !tables().isDisjoint(with: change.tables) else { continue }
                if let element = try await Self.result(of: read) { return element }
            }
            return nil
        }

        /// Nil when nothing is new, and while the store is locked: to subscribers, its unlocking is a change.
        private static func result(of read: Reader) async throws -> Element? {
            do {
                return try await read()
            } catch let error as StoreError where error.code == .locked {
                return nil
            }
        }
    }
}
