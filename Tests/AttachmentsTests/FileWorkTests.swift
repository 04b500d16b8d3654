import SyncContract
import Synchronization
import Testing

@testable import Attachments

@Suite("Work on files")
struct FileWorkTests {
    /// Runs something in a task that has been cancelled.
    private func cancelled(_ work: @escaping @Sendable () async throws -> Void) async throws {
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await work()
        }
        task.cancel()
        try await task.value
    }

    @Test("is not begun by a cancelled task, but where it ends a step that is done")
    func cancelled() async throws {
        let count = Atomic(0)
        await #expect(throws: CancellationError.self) {
            try await cancelled { try await FileWork.run { _ in _ = count.add(1, ordering: .relaxed) } }
        }
        #expect(count.load(ordering: .relaxed) == 0)
        try await cancelled { try await FileWork.finish { _ = count.add(1, ordering: .relaxed) } }
        #expect(count.load(ordering: .relaxed) == 1)
        await #expect(throws: StoreError.self) {
            try await FileWork.finish { throw StoreError(.full, "The disk is full, on purpose.") }
        }
    }
}
