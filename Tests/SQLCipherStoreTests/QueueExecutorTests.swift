import SeededNumbers
import Testing

@testable import SQLCipherStore

@Suite("The executor of a queue")
struct QueueExecutorTests {
    /// Counts, and notices when a task's jobs are mixed up.
    private actor Counter {
        private nonisolated let executor = QueueExecutor(label: "SealedSync.test")
        private var latest: [Int: Int] = [:]
        private(set) var total = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

        func add(_ number: Int, of task: Int) -> Bool {
            let before = total
            defer { latest[task] = number }
            total = before + 1
            return latest[task, default: -1] == number - 1
        }
    }

    /// Keeps a thread busy, so that the next job comes while the executor works, or sleeps.
    private static func pause(_ microseconds: Int64) {
        let end = ContinuousClock.now + .microseconds(microseconds)
        while ContinuousClock.now < end {}
    }

    @Test("jobs that come at any moment are all run, each task's in order", arguments: [1, 2, 8])
    func everyJobRuns(taskCount: Int) async {
        let seed = SeededGenerator.seed()
        let counter = Counter()
        let inOrder = await withTaskGroup(of: Bool.self) { group in
            for task in 0..<taskCount {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &+ UInt64(task))
                    var inOrder = true
                    for number in 0..<1_000 {
                        if Bool.random(using: &generator) { Self.pause(.random(in: 0...250, using: &generator)) }
                        if !(await counter.add(number, of: task)) { inOrder = false }
                    }
                    return inOrder
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        #expect(inOrder)
        #expect(await counter.total == taskCount * 1_000)
    }

    @Test("what is scheduled runs on the executor, also after jobs")
    func scheduledWork() async {
        let executor = QueueExecutor(label: "SealedSync.test")
        await withCheckedContinuation { continuation in
            executor.schedule(after: .milliseconds(1)) {
                executor.checkIsolated()
                continuation.resume()
            }
        }
    }
}
