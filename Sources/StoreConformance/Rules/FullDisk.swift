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
            "A process may not make its files larger, as if the disk were full, and writes 300 kB that cannot be compressed: an"
                + " error that says so, or all of it. Then a closure takes no notice of an error, writes a small row after 1 MB"
                + " and returns. Reads go on, or say that they cannot, and the process is killed. Another one does the same with"
                + " 18 MB, and writes once there is room: no change is told of what failed. What returned is there when the store"
                + " is opened again, and nothing else, and writes go on.",
            needs: "durable",
            drills: [
                "writer": { trial in
                    let store = try await trial.makeStore(at: trial.place())
                    try await store.upsert([trial.row("a", 10)], table: "items")
                    try Written(items: ["a": 10]).save(trial)
                    _ = try await trial.writeWithoutRoom(store, "first", megabytes: 1)
                },
                "later": { trial in try await writeWithRoomAgain(trial) },
            ]
        ) { trial in
            for (drill, id) in [("writer", "b"), ("later", "c")] {
                try await trial.runKilled(drill)
                var written = try Written(trial)
                let store = try await trial.reopen()
                let input = "of the process '\(drill)', for which the disk was full"
                try await trial.expect(written, store, input)
                try await store.upsert([Record(id: .string(id))], table: "other")
                written.other.append(id)
                try await trial.expect(written, store, input + ", after a write with room for it")
                try await trial.close(store)
                try written.save(trial)
            }
        }
    ]

    private static func writeWithRoomAgain(_ trial: StoreTrial) async throws {
        let store = try await trial.reopen()
        let feed = store.changes()
        let before = try Written(trial)
        let hasFailed = try await trial.writeWithoutRoom(store, "second", megabytes: 18)
        try FileSize.limit(to: nil)
        let input = "write to 'other' after a full disk"
        guard try await unlessFull({ try await store.upsert([Record(id: "later")], table: "other") }) != nil else {
            // After an error a store may have to be opened again.
            return trial.expect(hasFailed, input, expected: "no error, as nothing has failed", got: "an error")
        }
        var written = try Written(trial)
        written.other.append("later")
        try written.save(trial)
        // Changes that were not read merge into one: there is none of what failed.
        let changed = [
            written.items.count > before.items.count ? "items" : nil,
            written.folding.count > before.folding.count ? "folding" : nil, "other",
        ]
        await trial.expectChange(feed, changed.compactMap { $0 }, input)
    }
}

/// What a call gives; nil when it fails because there is no room.
private func unlessFull<Value>(_ body: () async throws -> Value) async throws -> Value? {
    do {
        return try await body()
    } catch let error as StoreError where [.full, .readOnly, .inputOutput].contains(error.code) {
        // This is what the contract promises.
        return nil
    }
}

/// What was written without an error, by the ids of rows, for this process and others.
private struct Written: Codable {
    /// With the number of bytes.
    var items: [String: Int] = [:]
    var folding: [String] = []
    var other: [String] = []

    init(items: [String: Int]) { self.items = items }

    init(_ trial: StoreTrial) throws {
        self = try JSONDecoder().decode(Written.self, from: try Data(contentsOf: Self.url(trial)))
    }

    func save(_ trial: StoreTrial) throws { try JSONEncoder().encode(self).write(to: Self.url(trial)) }

    private static func url(_ trial: StoreTrial) -> URL {
        URL(fileURLWithPath: trial.folder).appendingPathComponent("written")
    }
}

extension Trial where Subject == StoreSubject {
    /// A row with bytes that cannot be compressed.
    fileprivate func row(_ id: String, _ count: Int) -> Record {
        var random = random()
        var bytes: [UInt8] = []
        while bytes.count < count {
            let number = random.next()
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        return Record(id: .string(id), ["bytes": .bytes(Array(bytes.prefix(count)))])
    }

    /// Writes what there is no room for, from now on, and notes what returned all the same: a store may find room.
    ///
    /// - Returns: Whether something has failed.
    fileprivate func writeWithoutRoom(
        _ store: any SyncContextDataSource,
        _ name: String,
        megabytes: Int
    ) async throws -> Bool {
        var written = try Written(self)
        let large = row(name, 300_000)
        let bytes = row("", 1_000_000).fields
        let names = (0..<megabytes).map { "\(name) \($0)" }
        try FileSize.limit(to: (try fileLengths().values.max() ?? 0) + 65_536)
        let isWritten = try await unlessFull { try await store.upsert([large], table: "items") } != nil
        if isWritten { written.items[name] = 300_000 }
        let isTaken = try await unlessFull {
            try await store.write { transaction in
                var isTaken = true
                do {
                    try transaction.upsert(names.map { Record(id: .string($0), bytes) }, into: "items")
                } catch is StoreError {
                    // An app may go on.
                    isTaken = false
                }
                try transaction.upsert([Record(id: .string(name))], into: "folding")
                return isTaken
            }
        }
        if isTaken == true { for name in names { written.items[name] = 1_000_000 } }
        if isTaken != nil { written.folding.append(name) }
        try written.save(self)
        let (input, hasFailed) = ("while the disk is full", !isWritten || isTaken != true)
        if try await unlessFull({ try await expect(written, store, input) }) == nil {
            expect(hasFailed, "read \(input)", expected: "the rows, as nothing has failed", got: "an error")
        }
        return hasFailed
    }

    fileprivate func expect(_ written: Written, _ store: any SyncContextDataSource, _ input: String) async throws {
        let tables = try await store.read { reader in
            try ["items", "folding", "other"].map { try reader.records(Query($0)) }
        }
        let items = written.items.sorted { $0.key < $1.key }
            .map { TableDefinition.items.filled(row($0.key, $0.value)) }
        expectRows(tables[0], items, "rows of 'items' \(input)")
        for (name, rows, ids) in [("folding", tables[1], written.folding), ("other", tables[2], written.other)] {
            expectIDs(rows, ids.sorted().map { .string($0) }, "rows of '\(name)' \(input)")
        }
    }
}

/// How large this process may make a file.
enum FileSize {
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
