internal import ConformanceRunner
internal import Foundation
internal import Synchronization
internal import SyncContract

extension StoreRules {
    static let readBesideWriter = rule(
        "concurrency.reads-beside-a-write",
        "A read should not wait for a write that runs; it may, as long as its turn comes.",
        in: "SyncContextDataSource",
        "Begins a read while the closure of a write runs, which waits for it for half a second at most: the read ends"
            + " before the write does; one of five tries is enough, for a busy machine.",
        isRecommended: true
    ) { trial in
        let store = try await trial.makeStore()
        try await store.upsert([Record(id: "a", ["int": 1])], table: "items")
        for _ in 0..<5 {
            let (hasBegun, hasRead) = (Shared(Mutex(false)), Shared(Mutex(false)))
            let write = Task {
                try await store.write { transaction in
                    try transaction.upsert([Record(id: "a", ["int": 2])], into: "items")
                    hasBegun.value.withLock { $0 = true }
                    // A transaction is synchronous: it blocks its thread, and so not for long.
                    let deadline = ContinuousClock.now + .milliseconds(500)
                    while !hasRead.value.withLock({ $0 }), ContinuousClock.now < deadline { _ = sched_yield() }
                    return hasRead.value.withLock { $0 }
                }
            }
            while !hasBegun.value.withLock({ $0 }) { await Task.yield() }
            _ = try await store.read { try $0.record("a", in: "items") }
            hasRead.value.withLock { $0 = true }
            if try await write.value { return }
        }
        trial.report(
            "begin a read while the closure of a write runs",
            expected: "the read ends while the closure waits for it",
            got: "it ended after the write each time"
        )
    }
}
