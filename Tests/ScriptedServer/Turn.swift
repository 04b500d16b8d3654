internal import Synchronization

/// Counts calls from any thread.
package final class Turn: Sendable {
    package init() {}

    private let count = Atomic<Int>(0)

    /// 0, 1, 2 …
    package func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
}
