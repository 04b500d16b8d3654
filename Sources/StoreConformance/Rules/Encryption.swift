internal import ConformanceRunner
internal import Foundation
internal import SyncContract

extension StoreRules {
    static let encryption: [StoreRule] = secrecy + temporaryFiles + ciphertexts + keys + integrity

    private static let unreadable = "Nothing the store writes to disk can be read without its key"

    private static let secrecy: [StoreRule] = [
        rule(
            "encryption.nothing-in-clear",
            unreadable,
            in: "StoreCapabilities",
            "Writes texts, ids, bytes, JSON, decimals and undeclared keys, and looks for them in every file, logs and"
                + " journals included, while the store is open and after it was closed: as they are, backwards, in UTF-16,"
                + " in hexadecimal and in Base64.",
            needs: "encrypted"
        ) { trial in
            let store = try await trial.makeStore([markerTable])
            try await writeMarkers(store)
            try await trial.expectNoMarkers("while the store is open")
            try await trial.close(store)
            try await trial.expectNoMarkers("after the store was closed")
        },
        rule(
            "encryption.names-not-in-clear",
            unreadable,
            in: "StoreCapabilities",
            "Looks for the names of tables and columns in every file of a store without rows.",
            needs: "encrypted"
        ) { trial in
            let store = try await trial.makeStore([markerTable])
            try await trial.expectNoMarkers("of a new store")
            try await trial.close(store)
            try await trial.expectNoMarkers("of a new store that was closed")
        },
        rule(
            "encryption.numbers-not-in-clear",
            unreadable,
            in: "StoreCapabilities",
            "Writes a number, a double and a date, and looks for their bytes and digits in every file.",
            needs: "encrypted"
        ) { trial in
            let store = try await trial.makeStore()
            let number: Int64 = 0x51A7_3C9E_D204_6B8F
            let double = 7.123456789012345e47
            let date = Timestamp(milliseconds: 4_178_293_651_987)
            let row: [String: FieldValue] = ["int": .int64(number), "double": .double(double), "date": .date(date)]
            try await store.upsert((0..<50).map { Record(id: .string("\($0)"), row) }, table: "items")
            var forms: [(String, [UInt8])] = [
                ("the digits of a number", Array("\(number)".utf8)),
                ("the digits of a double", Array("7.12345678901".utf8)),
                ("the digits of a date", Array("\(date.milliseconds)".utf8)),
                ("the text of a date", Array(date.text.utf8.prefix(19))),
            ]
            for (name, bits) in [
                ("number", UInt64(bitPattern: number)), ("double", double.bitPattern),
                ("date", UInt64(bitPattern: date.milliseconds)),
            ] {
                // The two highest bytes of a date are zeros, which a database leaves out.
                let bytes = (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }.drop { $0 == 0 }
                forms += [("the bytes of a \(name)", Array(bytes)), ("the bytes of a \(name)", bytes.reversed())]
            }
            for isOpen in [true, false] {
                for (file, bytes) in try await trial.contents() {
                    let data = Data(bytes)
                    for (what, form) in forms where data.range(of: Data(form)) != nil {
                        trial.report(
                            "write numbers, search '\(file)' \(isOpen ? "while the store is open" : "after closing")",
                            expected: "nothing of what was written",
                            got: what
                        )
                    }
                }
                if isOpen { try await trial.close(store) }
            }
        },
        rule(
            "encryption.search-index-not-in-clear",
            unreadable,
            in: "StoreCapabilities",
            "Writes texts into a searchable column and looks for their words, folded and not, in every file.",
            needs: "encrypted"
        ) { trial in
            let table = TableDefinition("notes", columns: [.init("text", .string, isSearchable: true)])
            let store = try await trial.makeStore([table])
            let rows = (0..<300).map { Record(id: .string("\($0)"), ["text": .string("Marker\($0) and MARKER")]) }
            try await store.upsert(rows, table: "notes")
            try await trial.expectNoMarkers("while the store is open")
            try await trial.close(store)
            try await trial.expectNoMarkers("after the store was closed")
        },
        rule(
            "encryption.deleted-not-in-clear",
            unreadable,
            in: "StoreCapabilities",
            "Writes rows, deletes them all, rolls back others, and looks for both in every file.",
            needs: "encrypted"
        ) { trial in
            let store = try await trial.makeStore([markerTable])
            try await writeMarkers(store)
            try await store.delete(Query(markerTable.name))
            do {
                try await store.write { transaction in
                    try transaction.upsert(markerRows, into: markerTable.name)
                    throw OwnError(number: 1)
                }
            } catch is OwnError {
                // This is what the closure throws.
            }
            try await trial.expectNoMarkers("after everything was deleted")
            try await trial.close(store)
            try await trial.expectNoMarkers("after everything was deleted and the store closed")
        },
        rule(
            "encryption.killed-not-in-clear",
            unreadable,
            in: "StoreCapabilities",
            "A process writes rows and is killed in a large transaction; looks for the rows in every file it left.",
            needs: "encrypted",
            drills: [
                "writer": { trial in
                    let store = try await trial.makeStore([markerTable])
                    try await writeMarkers(store)
                    try await store.write { transaction in
                        for _ in 0..<5 { try transaction.upsert(markerRows, into: markerTable.name) }
                        killThisProcess()
                    }
                }
            ]
        ) { trial in
            try await trial.runKilled("writer")
            try await trial.expectNoMarkers("that a killed process left")
        },
        rule(
            "encryption.no-patterns",
            unreadable,
            in: "StoreCapabilities",
            "Writes 400 kB of one repeated block and looks for repeated blocks of 16 bytes in every file: encryption"
                + " that works block by block, or adds a constant, shows them.",
            needs: "encrypted"
        ) { trial in
            let store = try await trial.makeStore([markerTable])
            // A block of many bytes: one byte and a constant could give the zeros that bookkeeping may hold.
            let block = FieldValue.bytes((0..<40_000).map { UInt8($0 % 16 * 15 + 7) })
            let rows = (0..<10).map { Record(id: .string("\($0)"), ["MarkerBytes": block]) }
            try await store.upsert(rows, table: markerTable.name)
            try await trial.close(store)
            for (name, bytes) in try await trial.subject.files(trial.place()) {
                var counts: [[UInt8]: Int] = [:]
                for start in stride(from: 0, to: bytes.count - 15, by: 16) {
                    counts[Array(bytes[start..<start + 16]), default: 0] += 1
                }
                // Bookkeeping may hold runs of zeros; content that is encrypted well repeats nothing.
                let most =
                    counts.filter { entry in !entry.key.allSatisfy { $0 == entry.key[0] && ($0 == 0 || $0 == 255) } }
                    .values.max() ?? 0
                trial.expect(
                    most < 100,
                    "write 400 kB of one block of 16 bytes, read '\(name)'",
                    expected: "no block of 16 bytes again and again",
                    got: "one that comes \(most) times"
                )
            }
        },
    ]

    private static let keys: [StoreRule] = [
        rule(
            "encryption.wrong-key",
            "The key does not open the database. The file is untouched.",
            in: "StoreError/Code",
            "Opens the closed store with another key: wrongKey.",
            needs: "encrypted"
        ) { trial in
            try await trial.writeAndClose(TableDefinition.standard, [fullRow("a")])
            try await trial.expectError(.wrongKey, from: "open with another key") {
                _ = try await trial.reopen(at: trial.place().opened(with: .second))
            }
        },
        rule(
            "encryption.wrong-key-of-an-empty-store",
            "The key does not open the database. The file is untouched.",
            in: "StoreError/Code",
            "Opens a closed store that never had a row with another key: wrongKey, and no new store in its place.",
            needs: "encrypted"
        ) { trial in
            try await trial.close(try await trial.makeStore())
            try await trial.expectError(.wrongKey, from: "open a store without rows with another key") {
                _ = try await trial.reopen(at: trial.place().opened(with: .second))
            }
            let store = try await trial.reopen()
            try await trial.expectStored([fullRow("a")], in: .items, store)
        },
        rule(
            "encryption.wrong-key-touches-nothing",
            "The key does not open the database. The file is untouched.",
            in: "StoreError/Code",
            "Compares the files before and after opening with another key, and then opens with the right one.",
            needs: "encrypted"
        ) { trial in
            try await trial.writeAndClose(TableDefinition.standard, [fullRow("a")])
            let before = try await trial.contents()
            for _ in 0..<2 {
                do {
                    let store = try await trial.reopen(at: trial.place().opened(with: .second))
                    trial.report("open with another key", expected: "an error", got: "a store")
                    try await trial.close(store)
                } catch is StoreError {
                    // Another rule judges the code.
                }
            }
            trial.expect(
                try await trial.contents() == before,
                "open with another key, twice",
                expected: "the files as they were",
                got: "other files"
            )
            let store = try await trial.reopen()
            let row = try await store.read(table: "items", itemID: "a")
            trial.expectRow(row, TableDefinition.items.filled(fullRow("a")), "open with the right key afterwards")
        },
        rule(
            "encryption.key-change",
            unreadable,
            in: "StoreCapabilities",
            "Changes the key: the old one is refused, the new one opens every row of every table, system tables included,"
                + " and nothing is in clear.",
            needs: "encrypted"
        ) { trial in
            let store = try await trial.makeStore([markerTable])
            try await writeMarkers(store)
            let names = store.schema.allTables.map(\.name)
            let before = try await store.read { reader in try names.map { try reader.records(Query($0)) } }
            try await trial.close(store)
            let place = try trial.place()
            try await trial.subject.changeKey(place, .second)
            try await trial.expectError(.wrongKey, from: "open with the old key") {
                _ = try await trial.reopen([markerTable], at: place)
            }
            try await trial.expectNoMarkers("after the key was changed")
            let again = try await trial.reopen([markerTable], at: place.opened(with: .second))
            let after = try await again.read { reader in try names.map { try reader.records(Query($0)) } }
            for (index, name) in names.enumerated() {
                trial.expectRows(after[index], before[index], "rows of '\(name)' after the key was changed")
            }
        },
    ]

    private static let markerTable = TableDefinition(
        "MarkerTable",
        columns: [
            .init("MarkerText", .string), .init("MarkerBytes", .bytes), .init("MarkerJSON", .json),
            .init("MarkerDecimal", .decimal),
        ],
        indexes: [["MarkerText"]]
    )

    private static let markerRows: [Record] = (0..<200)
        .map { index in
            Record(
                id: .string("MarkerIdentifier\(index)"),
                [
                    "MarkerText": .string("MarkerContent\(index)"),
                    "MarkerBytes": .bytes(Array("MarkerBlob".utf8) + Array(repeating: 0, count: 2_000)),
                    "MarkerJSON": .json("{\"MarkerMember\":\(index)}"),
                    "MarkerDecimal": .decimal("987654321987654321.\(index)"), "MarkerUndeclared": "MarkerExtra",
                ]
            )
        }

    private static func writeMarkers(_ store: any SyncContextDataSource) async throws {
        try await store.write { transaction in
            try transaction.upsert(markerRows, into: markerTable.name)
            let operation = Record(
                id: 1,
                ["table": "MarkerTable", "properties": .bytes(Array("MarkerOperation".utf8))]
            )
            try transaction.upsert([operation], into: SystemTables.operations.name)
            try transaction.upsert(
                [Record(id: "MarkerToken", ["value": "MarkerValue"])],
                into: SystemTables.configuration.name
            )
        }
    }
}

extension Trial where Subject == StoreSubject {
    /// The store's files.
    fileprivate func contents() async throws -> [String: [UInt8]] { try await subject.files(place()) }

    /// Reports every file in which something that was written can be read.
    fileprivate func expectNoMarkers(_ when: String) async throws {
        let files = try await contents()
        expect(!files.isEmpty, "the files \(when)", expected: "at least one", got: "none")
        let markers = ["Marker", "marker", "MARKER", "987654321987654321", "MS_TableOperations", "MS_TableConfig"]
        for (name, bytes) in files {
            let data = Data(bytes)
            for marker in markers {
                for form in Self.forms(of: marker) {
                    expect(
                        data.range(of: form) == nil,
                        "search '\(name)' \(when)",
                        expected: "nothing of what was written",
                        got: "'\(marker)', in some form"
                    )
                }
            }
        }
    }

    /// A text as it may be found in a file.
    private static func forms(of text: String) -> [Data] {
        let bytes = Data(text.utf8)
        let hexadecimal = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        // Where the text begins in the middle of a group of three bytes, its first and last characters depend on others.
        let base64 = (0..<3)
            .map { shift in
                let coded = (Data(repeating: 0, count: shift) + bytes).base64EncodedString()
                return Data(coded.utf8.prefix((shift + bytes.count) * 8 / 6).dropFirst((shift * 8 + 5) / 6))
            }
        return [
            bytes, Data(bytes.reversed()), Data(text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }),
            Data(hexadecimal.utf8), Data(hexadecimal.uppercased().utf8),
        ] + base64
    }
}
