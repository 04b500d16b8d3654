internal import ConformanceRunner
internal import Foundation
internal import SyncContract

// What encrypted files tell beside each other, and beside a wrong key.
extension StoreRules {
    private static let unreadable = "Nothing the store writes to disk can be read without its key"

    static let ciphertexts: [StoreRule] = [
        rule(
            "encryption.killed-wrong-key",
            "The key does not open the database. The file is untouched.",
            in: "StoreError/Code",
            "A process writes 12 transactions and is killed in another. Opens what it left with another key, twice: wrongKey;"
                + " with the right one every transaction is there, and nothing of the last.",
            needs: "encrypted",
            drills: [
                "writer": { trial in
                    let store = try await trial.makeStore(at: trial.place())
                    for number in 0..<12 { try await store.write { try writeNumbered(number, &$0) } }
                    try await store.write { transaction in
                        try writeNumbered(12, &transaction)
                        killThisProcess()
                    }
                }
            ]
        ) { trial in
            try await trial.runKilled("writer")
            let place = try trial.place()
            for _ in 0..<2 {
                try await trial.expectError(.wrongKey, from: "open what a killed process left with another key") {
                    try await trial.close(try await trial.reopen(at: place.opened(with: .second)))
                }
            }
            // What a killed process left beside its content, such as a lock, may be replaced; its content is what counts.
            let store = try await trial.reopen()
            for table in [TableDefinition.items, .other] {
                let rows = try await store.read(Query(table.name)).records
                let expected = numberedRows(after: 12, in: table)
                trial.expectRows(rows, expected, "rows of '\(table.name)', opened with the right key at last")
            }
        },
        rule(
            "encryption.same-content-differs",
            unreadable,
            in: "StoreCapabilities",
            "Writes the same 40 kB of zeros into two stores with the same key, and compares their files: what encrypts each"
                + " place in the same way shows where stores agree.",
            needs: "encrypted",
            isRecommended: true
        ) { trial in
            var files: [[String: [UInt8]]] = []
            for name in ["first", "second"] {
                let store = try await trial.makeStore(at: trial.place(name))
                try await store.upsert([block(of: 0)], table: "items")
                try await trial.close(store)
                files.append(try await trial.subject.files(trial.place(name)))
            }
            for (name, first) in files[0].sorted(by: { $0.key < $1.key }) {
                guard let second = files[1][name] else { continue }
                let equal = blocks(of: first, second)
                    .count { first, second in first == second && first.contains { $0 != 0 && $0 != 255 } }
                trial.expect(
                    equal < 20,
                    "write 40 kB of zeros into two stores, compare '\(name)' block by block",
                    expected: "a few equal blocks of 16 bytes at most",
                    got: "\(equal)"
                )
            }
        },
        rule(
            "encryption.overwritten-differs",
            unreadable,
            in: "StoreCapabilities",
            "Overwrites 40 kB of one byte with another, and holds the files before and after against each other: what encrypts a"
                + " place in the same way each time shows how the two contents differ.",
            needs: "encrypted",
            isRecommended: true
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([block(of: 0x33)], table: "items")
            try await trial.close(store)
            let before = try await trial.subject.files(trial.place())
            let again = try await trial.reopen()
            try await again.upsert([block(of: 0x96)], table: "items")
            try await trial.close(again)
            let after = try await trial.subject.files(trial.place())
            for (name, first) in before.sorted(by: { $0.key < $1.key }) {
                guard let second = after[name] else { continue }
                var counts: [[UInt8]: Int] = [:]
                for (first, second) in blocks(of: first, second) where first != second {
                    counts[zip(first, second).map { $0 ^ $1 }, default: 0] += 1
                }
                let most = counts.values.max() ?? 0
                trial.expect(
                    most < 100,
                    "overwrite 40 kB, take '\(name)' before and after apart into blocks",
                    expected: "no difference of 16 bytes again and again",
                    got: "one that comes \(most) times"
                )
            }
        },
    ]

    private static func block(of byte: UInt8) -> Record {
        Record(id: "a", ["bytes": .bytes(Array(repeating: byte, count: 40_000))])
    }

    /// What stands at the same places of two files, 16 bytes at a time.
    private static func blocks(of first: [UInt8], _ second: [UInt8]) -> [([UInt8], [UInt8])] {
        stride(from: 0, to: min(first.count, second.count) - 15, by: 16)
            .map { (Array(first[$0..<$0 + 16]), Array(second[$0..<$0 + 16])) }
    }
}
