internal import ConformanceRunner
internal import Foundation
internal import SyncContract

// What becomes of an encrypted store whose files were changed.
extension StoreRules {
    static let integrity: [StoreRule] = [
        rule(
            "encryption.changed-bytes",
            "and bytes that were changed there are an error, never other data.",
            in: "StoreCapabilities",
            "Changes one byte of the closed store at 24 random places, one at a time, opens and reads everything, small tables"
                + " and operations included.",
            needs: "encrypted"
        ) { trial in
            var random = trial.random()
            let store = try await trial.makeStore()
            try await store.write { transaction in
                let bytes = (0..<60).map { FieldValue.bytes(Array(repeating: UInt8($0), count: 500)) }
                try transaction.upsert(
                    bytes.enumerated().map { numbered($0.offset, ["bytes": $0.element]) },
                    into: "items"
                )
                try transaction.upsert((0..<9).map { numbered($0, ["text": "small"]) }, into: "other")
                try transaction.upsert((0..<3).map { numbered($0, ["int": 1]) }, into: "folding")
                let operations = (0..<200)
                    .map { Record(id: .int64(Int64($0)), ["table": "items", "itemId": .string("\($0)"), "state": 0]) }
                try transaction.upsert(operations, into: SystemTables.operations.name)
            }
            let expected = try await allTables(store)
            try await trial.close(store)
            let place = try trial.place()
            let names = try await trial.subject.files(place).filter { !$0.value.isEmpty }.keys.sorted()
            for number in 0..<24 {
                let name = names[number % names.count]
                try await trial.expectNoOtherData([expected], copy: number, of: name) { data in
                    let position = Int.random(in: 0..<data.count, using: &random)
                    data[position] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
                    return "change byte \(position)"
                }
            }
        },
        rule(
            "encryption.moved-blocks",
            "and bytes that were changed there are an error, never other data.",
            in: "StoreCapabilities",
            "Exchanges two blocks of the closed store, or copies one over another, blocks of 1,024 and of 4,096 bytes at 24 random"
                + " places, one pair at a time, opens and reads everything.",
            needs: "encrypted"
        ) { trial in
            var random = trial.random()
            let rows = (0..<24)
                .map { Record(id: .string("\($0)"), ["bytes": .bytes(Array(repeating: UInt8($0), count: 20_000))]) }
            let store = try await trial.makeStore()
            try await store.upsert(rows, table: "items")
            let expected = try await allTables(store)
            try await trial.close(store)
            let place = try trial.place()
            let names = try await trial.subject.files(place).filter { $0.value.count > 100_000 }.keys.sorted()
            guard !names.isEmpty else { throw Unsupported("no file of the store is as large as its content") }
            for number in 0..<24 {
                let size = number % 2 == 0 ? 4_096 : 1_024
                let name = names[number % names.count]
                try await trial.expectNoOtherData([expected], copy: number, of: name) { data in
                    let count = data.count / size
                    let first = Int.random(in: 0..<count, using: &random) * size
                    let second = Int.random(in: 0..<count, using: &random) * size
                    let (one, other) = (data[first..<first + size], data[second..<second + size])
                    data.replaceSubrange(first..<first + size, with: other)
                    guard number % 4 < 2 else { return "copy \(size) bytes from \(second) to \(first)" }
                    data.replaceSubrange(second..<second + size, with: one)
                    return "exchange \(size) bytes at \(first) and \(second)"
                }
            }
        },
        rule(
            "encryption.killed-changed-bytes",
            "and bytes that were changed there are an error, never other data.",
            in: "StoreCapabilities",
            "A process writes 12 transactions and is killed. Changes one byte of what it left at 24 random places, one at a"
                + " time, opens and reads everything: an error, or the state after some of the transactions, as a whole.",
            needs: "encrypted",
            drills: [
                "writer": { trial in
                    let store = try await trial.reopen()
                    for number in 0..<12 { try await store.write { try writeNumbered(number, &$0) } }
                }
            ]
        ) { trial in
            let new = try await trial.makeStore(at: trial.place())
            let states = states(beginningWith: try await allTables(new), transactions: 12)
            try await trial.close(new)
            try await trial.runKilled("writer")
            var random = trial.random()
            let names = try await trial.subject.files(trial.place()).filter { !$0.value.isEmpty }.keys.sorted()
            for number in 0..<24 {
                let name = names[number % names.count]
                try await trial.expectNoOtherData(states, copy: number, of: name) { data in
                    let position = Int.random(in: 0..<data.count, using: &random)
                    data[position] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
                    return "change byte \(position) of what a killed process left"
                }
            }
        },
        rule(
            "encryption.cut-files",
            "and bytes that were changed there are an error, never other data.",
            in: "StoreCapabilities",
            "Writes 5 transactions, and cuts each file of the closed store: to nothing, to one byte, to half of it, by 4,096"
                + " bytes and by one. Opens and reads everything: an error, or the state after some of the transactions, as a"
                + " whole: a log may end at any of them.",
            needs: "encrypted"
        ) { trial in
            let store = try await trial.makeStore()
            let states = states(beginningWith: try await allTables(store), transactions: 5)
            for number in 0..<5 { try await store.write { try writeNumbered(number, &$0) } }
            try await trial.close(store)
            var copies = 0
            for (name, bytes) in try await trial.subject.files(trial.place()).sorted(by: { $0.key < $1.key }) {
                let counts: Set = [0, 1, bytes.count / 2, bytes.count - 4_096, bytes.count - 1]
                for count in counts.sorted() where (0..<bytes.count).contains(count) {
                    try await trial.expectNoOtherData(states, copy: copies, of: name) { data in
                        data.removeSubrange(count...)
                        return "cut to \(count) of \(bytes.count) bytes"
                    }
                    copies += 1
                }
            }
        },
    ]

    private static func numbered(_ number: Int, _ fields: [String: FieldValue]) -> Record {
        Record(id: .string("\(number)"), fields)
    }

    /// What tables hold before and after each of the transactions with a number, from a store without rows on.
    private static func states(beginningWith empty: [String: [Record]], transactions: Int) -> [[String: [Record]]] {
        (0...transactions)
            .map { count in
                let rows = numberedRows(after: count, in: .items).map(\.withoutNulls)
                return empty.merging(["items": rows, "other": rows]) { $1 }
            }
    }
}

/// All rows of all tables, those of the system included, without nulls.
private func allTables(_ store: any SyncContextDataSource) async throws -> [String: [Record]] {
    let names = store.schema.allTables.map(\.name)
    let rows = try await store.read { reader in try names.map { try reader.records(Query($0)).map(\.withoutNulls) } }
    return Dictionary(uniqueKeysWithValues: zip(names, rows))
}

extension Trial where Subject == StoreSubject {
    /// Opens a copy of the closed store in which a file was changed, reads everything, and reports other rows.
    ///
    /// - Parameters:
    ///   - states: What the store may hold, by table: after each of several transactions, or in the only state it had.
    ///   - number: Which copy it is.
    ///   - name: The file's name.
    ///   - change: Changes the file's bytes, and says what it did.
    /// - Throws: `Unsupported` when the file is not in the place's folder.
    fileprivate func expectNoOtherData(
        _ states: [[String: [Record]]],
        copy number: Int,
        of name: String,
        _ change: (inout Data) -> String
    ) async throws {
        let (place, copy) = (try place(), try place("copy-\(number)"))
        for path in try FileManager.default.contentsOfDirectory(atPath: place.folder) {
            try FileManager.default.copyItem(atPath: place.folder + "/" + path, toPath: copy.folder + "/" + path)
        }
        let url = URL(fileURLWithPath: copy.folder).appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw Unsupported("the store's files do not lie in the place's folder")
        }
        var data = try Data(contentsOf: url)
        let what = change(&data)
        try data.write(to: url)
        do {
            let store = try await reopen(at: copy)
            let got = try await allTables(store)
            if !states.contains(got) { reportOtherData(got, states, "\(what) of '\(name)', open and read") }
            try await close(store)
        } catch is StoreError {
            // Saying that something is wrong is right.
        }
    }
    private func reportOtherData(_ got: [String: [Record]], _ states: [[String: [Record]]], _ input: String) {
        guard let first = states.first, states.count > 1 else {
            for (table, rows) in (states.first ?? [:]).sorted(by: { $0.key < $1.key }) {
                expectRows(got[table] ?? [], rows, "\(input) '\(table)'")
            }
            return
        }
        let counts = first.keys.sorted()
            .compactMap { table -> String? in
                let rows = got[table] ?? []
                let counts = states.indices.filter { states[$0][table] == rows }
                // Tables that no transaction writes to have nothing to tell unless they are wrong.
                guard counts.count < states.count else { return nil }
                return "'\(table)' " + (counts.first.map { "after \($0)" } ?? "after none of these: \(rows.count) rows")
            }
        report(
            input + " everything",
            expected: "the state after one of 0…\(states.count - 1) transactions, the same in all tables",
            got: counts.joined(separator: ", ")
        )
    }
}
