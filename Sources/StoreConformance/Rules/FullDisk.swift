internal import ConformanceRunner
internal import Foundation
internal import SyncContract

// What cannot be written, because there is no room for it.
extension StoreRules {
    static let fullDisk: [StoreRule] = [
        rule(
            "failure.disk-full",
            "when the commit fails, after which nothing was kept.",
            in: "SyncContextDataSource/write(_:)",
            "A process may not make its files larger, as if the disk were full, and writes 300 kB: an error that says so. Then"
                + " a closure takes no notice of an error, writes a small row after 18 MB and returns: an error, or nothing of"
                + " the 18 MB is kept. No change is told, reads go on, and writes once there is room; all of it is still so"
                + " when the process was killed and the store opened again.",
            needs: "durable",
            drills: ["writer": { trial in try await writeWithoutRoom(trial) }]
        ) { trial in
            try await trial.runKilled("writer")
            let store = try await trial.reopen()
            let small: [RecordID] =
                FileManager.default.fileExists(atPath: try trial.place("kept").folder + "/small") ? ["small"] : []
            for (table, ids) in [("items", ["a"]), ("folding", small), ("other", ["b"])] {
                let rows = try await store.read(Query(table)).records
                trial.expectIDs(rows, ids, "'\(table)' of a process for which the disk was full for a while")
            }
        }
    ]

    private static func writeWithoutRoom(_ trial: StoreTrial) async throws {
        let store = try await trial.makeStore(at: trial.place())
        try await store.upsert([Record(id: "a", ["int": 1])], table: "items")
        let feed = store.changes()
        let largest = try await trial.subject.files(trial.place()).values.map(\.count).max() ?? 0
        try FileSize.limit(to: largest + 65_536)
        let refusals: [StoreError.Code] = [.full, .readOnly, .inputOutput]
        let expected = "the error .full, .readOnly or .inputOutput"
        do {
            let bytes = FieldValue.bytes(Array(repeating: 1, count: 300_000))
            try await store.upsert([Record(id: "large", ["bytes": bytes])], table: "items")
            trial.report("write 300 kB to a full disk", expected: expected, got: "no error")
        } catch let error as StoreError where refusals.contains(error.code) {
            // This is what the contract promises.
        }
        let isKept: Bool
        do {
            try await store.write { transaction in
                let bytes = FieldValue.bytes(Array(repeating: 2, count: 1_000_000))
                do {
                    let rows = (0..<18).map { Record(id: .string("large \($0)"), ["bytes": bytes]) }
                    try transaction.upsert(rows, into: "items")
                } catch is StoreError {
                    // An app may go on.
                }
                try transaction.upsert([Record(id: "small")], into: "folding")
            }
            isKept = true
        } catch let error as StoreError where refusals.contains(error.code) {
            isKept = false
        }
        let input = "after a full disk"
        let (items, folding) = try await store.read {
            (try $0.records(Query("items")), try $0.records(Query("folding")))
        }
        trial.expectIDs(items, ["a"], "the rows of 'items' \(input)")
        trial.expectIDs(folding, isKept ? ["small"] : [], "the rows of 'folding' \(input)")
        try FileSize.limit(to: nil)
        try await store.upsert([Record(id: "b")], table: "other")
        // Changes that were not read merge into one: there is none of what failed.
        await trial.expectChange(feed, isKept ? ["folding", "other"] : ["other"], "write to 'other' \(input)")
        if isKept { try Data().write(to: URL(fileURLWithPath: trial.place("kept").folder + "/small")) }
    }
}

/// How large this process may make a file.
private enum FileSize {
    /// Lets every write beyond a size fail from now on, or none that the system lets through.
    static func limit(to count: Int?) throws {
        #if os(Linux)
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        #elseif os(macOS)
        let resource = RLIMIT_FSIZE
        #endif
        #if os(Linux) || os(macOS)
        // It would end the process otherwise.
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { throw Unsupported("the limit of files cannot be read") }
        limit.rlim_cur = count.map { min(rlim_t($0), limit.rlim_max) } ?? limit.rlim_max
        guard unsafe setrlimit(resource, &limit) == 0 else { throw Unsupported("the size of files cannot be limited") }
        #else
        throw Unsupported("the size of files cannot be limited here")
        #endif
    }
}
