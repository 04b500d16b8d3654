import Synchronization

/// Counts calls from any thread.
final class Turn: Sendable {
    private let count = Atomic<Int>(0)

    /// 0, 1, 2 …
    func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
}
