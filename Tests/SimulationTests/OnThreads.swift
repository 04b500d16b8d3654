import Foundation
import Synchronization

/// Work that blocks its thread, on threads of its own: as many as there are processors.
enum OnThreads {
    /// The values of a function, in the order of the elements.
    static func map<Element: Sendable, Value: Sendable>(
        _ elements: [Element],
        _ body: @escaping @Sendable (Element) throws -> Value
    ) async throws -> [Value] {
        let next = Next()
        let results = try await withThrowingTaskGroup(of: [(Int, Value)].self) { group in
            for _ in 0..<min(elements.count, ProcessInfo.processInfo.activeProcessorCount) {
                group.addTask {
                    try await onThread {
                        var results: [(Int, Value)] = []
                        while true {
                            let index = next.take()
                            guard index < elements.count else { return results }
                            results.append((index, try body(elements[index])))
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        return results.sorted { $0.0 < $1.0 }.map(\.1)
    }

    private final class Next: Sendable {
        private let index = Atomic(0)

        func take() -> Int { index.add(1, ordering: .relaxed).oldValue }
    }

    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Result { try body() }) }
            thread.stackSize = 8 << 20
            thread.start()
        }
    }
}
