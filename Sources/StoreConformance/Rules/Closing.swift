internal import ConformanceRunner
internal import Foundation
internal import Synchronization
internal import SyncContract

extension StoreRules {
    static let closing: [StoreRule] = [
        rule(
            "failure.close-beside-work",
            allOrNothing,
            in: "SyncContextDataSource",
            "Closes a store while a write is in its closure and others write, read and walk, and opens it again when all have"
                + " ended, three times: what did not throw closed is there and nothing else, a later write throws closed, and a"
                + " feed with a change that was not read gives one at most and ends.",
            needs: "durable"
        ) { trial in
            for round in 1...3 {
                let place = try trial.place("store \(round)")
                let store = try await trial.makeStore(at: place)
                let feed = store.changes()
                try await store.upsert([Record(id: "before")], table: "items")
                let work = Work(store, trial)
                await work.begin()
                let closing = Task { try await trial.close(store) }
                await work.goOn()
                try await closing.value
                let returned = await work.returned()
                let again = try await trial.reopen(at: place)
                try await trial.expectError(.closed, from: "write after the store was closed") {
                    try await store.upsert([Record(id: "after closing")], table: "items")
                }
                let rows = try await again.read { reader in
                    try ["items", "other"].map { try reader.records(Query($0)) }
                }
                let expected = (["before"] + returned).sorted()
                for (table, rows) in zip(["items", "other"], rows) {
                    let expected = expected.filter { table == "items" || $0 != "before" }
                    let input = "close beside 13 writes, open: the rows of '\(table)' of those that returned"
                    trial.expectIDs(rows, expected.map { .string($0) }, input)
                }
                let count = await trial.patiently {
                    var count = 0
                    for await _ in feed { count += 1 }
                    return count
                }
                trial.expect(
                    count.map { $0 <= 1 } ?? false,
                    "read a feed with changes after its store was closed",
                    expected: "one change at most, and the end",
                    got: count.map { "\($0) changes, and the end" } ?? "no end"
                )
                try await trial.close(again)
            }
        }
    ]
}

/// What a store has to do while it is closed.
private final class Work: Sendable {
    private let store: any SyncContextDataSource
    private let trial: StoreTrial
    private let hasBegun = Mutex(false)
    private let mayEnd = Mutex(false)
    private let written = Mutex<[String]>([])
    private let tasks = Mutex<[Task<Void, Never>]>([])

    init(_ store: any SyncContextDataSource, _ trial: StoreTrial) {
        self.store = store
        self.trial = trial
    }

    /// Returns when a write is in its closure, or has ended, and others have been begun.
    func begin() async {
        add { work in
            await work.write("held") {
                work.hasBegun.withLock { $0 = true }
                // A transaction is synchronous: it blocks its thread, and so not for long.
                let deadline = ContinuousClock.now + .milliseconds(50)
                while !work.mayEnd.withLock({ $0 }), ContinuousClock.now < deadline { _ = sched_yield() }
            }
            // A write that throws before its closure begins none.
            work.hasBegun.withLock { $0 = true }
        }
        while !hasBegun.withLock({ $0 }) { await Task.yield() }
        for number in 10..<22 { add { await $0.write("\(number)") } }
        for number in 0..<6 { add { await $0.read(number) } }
    }

    /// Lets the write end, after others had their turn.
    func goOn() async {
        for _ in 0..<20 { await Task.yield() }
        mayEnd.withLock { $0 = true }
    }

    /// The ids of the writes that did not throw, when all have ended.
    func returned() async -> [String] {
        for task in tasks.withLock({ $0 }) { await task.value }
        return written.withLock { $0 }
    }

    private func add(_ body: @escaping @Sendable (Work) async -> Void) {
        let task = Task { await body(self) }
        tasks.withLock { $0.append(task) }
    }

    /// Writes a row into two tables, unless the store says that it was closed.
    private func write(_ id: String, _ during: @escaping @Sendable () -> Void = {}) async {
        await unlessClosed("write") { work in
            try await work.store.write { transaction in
                try transaction.upsert([Record(id: .string(id))], into: "items")
                during()
                try transaction.upsert([Record(id: .string(id))], into: "other")
            }
            work.written.withLock { $0.append(id) }
        }
    }

    private func read(_ number: Int) async {
        await unlessClosed("read") { work in
            let ids = try await work.store.read { reader in
                if number % 2 == 0, work.store.capabilities.contains(.sql) {
                    return try reader.rows("SELECT id FROM items").compactMap { $0["id"]?.stringValue }
                }
                var ids: [String] = []
                try reader.forEach(Query("items")) { ids.append($0.id.stringValue ?? "") }
                return ids
            }
            work.trial.expect(
                ids.contains("before"),
                "read while the store is closed",
                expected: "the row from before, or .closed",
                got: brief(ids)
            )
        }
    }

    private func unlessClosed(_ what: String, _ body: (Work) async throws -> Void) async {
        do {
            try await body(self)
        } catch {
            trial.expect(
                (error as? StoreError)?.code == .closed,
                "\(what) while the store is closed",
                expected: "no error or .closed",
                got: brief(error)
            )
        }
    }
}
