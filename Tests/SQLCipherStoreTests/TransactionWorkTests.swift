import Synchronization
import Testing

@testable import SQLCipherStore

@Suite("A transaction on its way to a connection's thread")
struct TransactionWorkTests {
    private struct Refusal: Error {}

    private let executor = ConnectionTaskExecutor(ConnectionExecutor(label: "SealedSync.test"))

    @Test("gives its value or its error, whether its end is watched for or slept through", arguments: [true, false])
    func outcome(watching: Bool) async throws {
        for number in 0..<500 {
            #expect(try await TransactionWork { .success(number) }.value(on: executor, watching: watching) == number)
        }
        await #expect(throws: Refusal.self) {
            try await TransactionWork<Int> { .failure(Refusal()) }.value(on: executor, watching: watching)
        }
    }

    @Test("does not begin in a task that is cancelled already")
    func cancelledBefore() async throws {
        for _ in 0..<100 {
            let task = Task { [executor] in
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                let work = TransactionWork {
                    Issue.record("it has begun")
                    return .success(())
                }
                try await work.value(on: executor, watching: true)
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    /// Something that a transaction's closure holds, such as a connection.
    private final class Held: Sendable {
        private let onEnd: @Sendable () -> Void

        init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

        deinit { onEnd() }

        /// A transaction that holds a new one, and nobody else does.
        static func work(_ onEnd: @escaping @Sendable () -> Void) -> TransactionWork<Void> {
            let held = Held(onEnd)
            return TransactionWork { withExtendedLifetime(held) { .success(()) } }
        }
    }

    @Test("gives up what it holds before it ends for its caller")
    func givesUp() async throws {
        let ends = Mutex(0)
        for number in 1...100 {
            let work = Held.work { ends.withLock { $0 += 1 } }
            try await work.value(on: executor, watching: true)
            #expect(ends.withLock { $0 } == number)
            withExtendedLifetime(work) {}
        }
    }
}
