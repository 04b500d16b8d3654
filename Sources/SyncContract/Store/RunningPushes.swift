internal import Synchronization

/// The pushes that run in this process, by the numbers with which they mark the operations that they have under way.
///
/// A number is drawn by chance from 63 bits: what a killed process left in a store is not that of another push.
public enum RunningPushes {
    private static let numbers = Mutex<Set<Int64>>([])

    /// Whether the push with a number runs.
    public static func contains(_ number: Int64) -> Bool { numbers.withLock { $0.contains(number) } }

    /// Whether no push runs.
    package static var isEmpty: Bool { numbers.withLock { $0.isEmpty } }

    /// Makes the number of a push that begins.
    package static func begin() -> Int64 {
        numbers.withLock { numbers in
            var number: Int64
            repeat { number = .random(in: 1 ... .max) } while !numbers.insert(number).inserted
            return number
        }
    }

    /// Forgets a push that has ended.
    package static func end(_ number: Int64) { numbers.withLock { _ = $0.remove(number) } }
}
