internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let expecting: [StoreRule] = [
        rule(
            "read.expected-row",
            "The row has the id in this casing, and the expected values",
            in: "StoredRow",
            "Asks for rows as they are stored, then with each value in turn as another one that is close to it, as null and as"
                + " absent, with one more column, another casing and an absent id: what differs is not as expected."
        ) { trial in
            let store = try await trial.makeStore()
            let full = TableDefinition.items.filled(
                Record(
                    id: "a",
                    [
                        "bool": true, "int": 1, "double": 1.5, "decimal": .decimal("1.10"), "text": "e\u{301}",
                        "date": .date(1_700_000_000_123), "bytes": .bytes([0, 1]), "json": .json("{\"a\":1}"),
                        "version": "v1",
                    ]
                )
            )
            let empty = TableDefinition.items.filled(Record(id: "b"))
            try await store.upsert([full, empty], table: "items")
            for row in [full, empty] {
                try await trial.expect(row, [.asExpected, .other(row)], ignoring: [], "items", store)
                for column in TableDefinition.items.allColumns {
                    for value in near(row[column.name] ?? .null, column.type) {
                        var other = row
                        other[column.name] = value
                        try await trial.expect(other, [.other(row)], ignoring: [], "items", store)
                        let ignored = TableDefinition.items.allColumns.map(\.name).filter { $0 != column.name }
                        try await trial.expect(other, [.other(row)], ignoring: ignored, "items", store)
                        try await trial.expect(
                            other,
                            [.asExpected, .other(row)],
                            ignoring: [column.name],
                            "items",
                            store
                        )
                    }
                }
                var more = row
                more["undeclared"] = 1
                try await trial.expect(more, [.other(row)], ignoring: [], "items", store)
            }
            try await trial.expect(Record(id: "c"), [.missing], ignoring: [], "items", store)
            try await trial.expect(Record(id: "A"), [.missing], ignoring: [], "items", store)
            let folded = TableDefinition.folding.filled(Record(id: "Ab", ["int": 1]))
            try await store.upsert([folded], table: "folding")
            var cased = folded
            cased.id = "aB"
            try await trial.expect(cased, [.other(folded)], ignoring: [], "folding", store)
        },
        rule(
            "read.expected-row-undeclared",
            "no undeclared one to be there beside those of the record.",
            in: "StoreReadBackend/stored(_:ignoring:in:)",
            "Asks for rows with undeclared values and with dates finer than milliseconds, with those, without, and with others.",
            needs: "unknownColumns"
        ) { trial in
            let store = try await trial.makeStore()
            let finer = FieldValue.date(text: "2024-02-29T12:34:56.7891234Z")
            let row = TableDefinition.items.filled(Record(id: "a", ["x": 1, "date": finer]))
            try await store.upsert([row], table: "items")
            try await trial.expect(row, [.asExpected, .other(row)], ignoring: [], "items", store)
            let others: [(String, FieldValue?)] = [
                ("x", nil), ("x", 2), ("x", 1.0), ("x", "1"), ("y", 1),
                ("date", .date(text: "2024-02-29T12:34:56.789Z")),
            ]
            for (name, value) in others {
                var other = row
                other[name] = value
                try await trial.expect(other, [.other(row)], ignoring: [], "items", store)
            }
        },
        rule(
            "read.expected-row-names",
            "The row has the id in this casing, and the expected values",
            in: "StoredRow",
            "Asks for a row with its names in several orders, and in each order with the values of two columns exchanged."
        ) { trial in
            let store = try await trial.makeStore()
            let row = TableDefinition.items.filled(
                Record(id: "a", ["text": "x", "version": "y", "date": .date(1), "createdAt": .date(2), "int": 1])
            )
            try await store.upsert([row], table: "items")
            let names = row.names.sorted()
            var random = trial.random()
            for order in [names, names.reversed(), names.shuffled(using: &random), names] {
                let same = Record(id: "a", names: order, values: order.map { row[$0] })
                try await trial.expect(same, [.asExpected, .other(row)], ignoring: [], "items", store)
                for (first, second) in [("text", "version"), ("date", "createdAt")] {
                    var other = same
                    (other[first], other[second]) = (row[second], row[first])
                    try await trial.expect(other, [.other(row)], ignoring: [], "items", store)
                }
            }
        },
        rule(
            "read.expected-row-no-longer-declared",
            "no undeclared one to be there beside those of the record.",
            in: "StoreReadBackend/stored(_:ignoring:in:)",
            "Opens the store again without a column that one of two rows has a value in, and asks for both with that value, with"
                + " another one, without, and whatever it is.",
            needs: "unknownColumns"
        ) { trial in
            func notes(_ further: ColumnDefinition...) -> TableDefinition {
                TableDefinition("notes", columns: [.init("text", .string)] + further, systemProperties: [])
            }
            let store = try await trial.makeStore([notes(.init("int", .int64))])
            try store.requireDurability()
            try await store.upsert(
                [Record(id: "a", ["text": "x", "int": 5]), Record(id: "b", ["text": "y"])],
                table: "notes"
            )
            try await trial.close(store)
            let again = try await trial.reopen([notes()])
            let expectations: [(Record, mayBeAsExpected: Bool, ignored: [String])] = [
                (Record(id: "a", ["text": "x"]), false, []),
                (Record(id: "a", ["text": "x", "int": 5]), true, []),
                (Record(id: "a", ["text": "x", "int": 6]), false, []),
                (Record(id: "a", ["text": "x"]), true, ["int"]),
                (Record(id: "a", ["text": "x", "int": 6]), true, ["int"]),
                (Record(id: "a", ["text": "y"]), false, ["int"]),
                (Record(id: "b", ["text": "y"]), true, []),
                (Record(id: "b", ["text": "y", "int": 5]), false, []),
            ]
            for (record, mayBeAsExpected, ignored) in expectations {
                let row: Record =
                    record.id == "a"
                    ? Record(id: "a", ["text": "x", "int": 5]) : Record(id: "b", ["text": "y"])
                let got = try await again.write { try $0.stored(record, ignoring: ignored, in: "notes") }
                let isRight =
                    switch got {
                    case .asExpected: mayBeAsExpected
                    case .other(let other): other.withoutNulls == row
                    case .missing: false
                    }
                trial.expect(
                    isRight,
                    "what is stored under the id of \(shown(record)), ignoring \(ignored), after opening without 'int'",
                    expected: (mayBeAsExpected ? "the row is as expected or " : "") + "the row \(shown(row))",
                    got: got.words
                )
            }
        },
    ]

    /// Values of a column that are not this one, and might be taken for it.
    private static func near(_ value: FieldValue, _ type: ColumnType) -> [FieldValue?] {
        let values: [FieldValue] =
            switch type {
            case .bool: [true, false]
            case .int64: [0, 1, 2]
            case .double: [0.0, 1.5, 1.5000000000000002]
            case .decimal: [.decimal("0"), .decimal("1.1"), .decimal("1.10"), .decimal("1.20")]
            case .string: ["", "\u{E9}", "e\u{301}", "E\u{301}", "v1", "v1\0", "v", "v2"]
            case .date: [.date(0), .date(1_700_000_000_123), .date(text: "2023-11-14T22:13:20.1230001Z")]
            case .bytes: [.bytes([]), .bytes([0]), .bytes([0, 1]), .bytes([1, 0]), .bytes([0, 1, 0])]
            case .json: [.json("{}"), .json("{\"a\":1}"), .json("{\"a\": 1}"), .json("{\"a\":2}")]
            }
        let absent: [FieldValue?] = value.isNull ? [] : [.some(.null), nil]
        return values.filter { $0 != value } + absent
    }
}

extension StoreTrial {
    /// Expects one of some answers about a row.
    fileprivate func expect(
        _ record: Record,
        _ expected: [StoredRow],
        ignoring columns: [String],
        _ table: String,
        _ store: any SyncContextDataSource
    ) async throws {
        let got = try await store.write { try $0.stored(record, ignoring: columns, in: table) }
        guard !expected.contains(got) else { return }
        expect(
            got.words,
            equals: expected.map(\.words).joined(separator: " or "),
            "what is stored under the id of \(shown(record)), ignoring \(columns)"
        )
    }
}

extension StoredRow {
    fileprivate var words: String {
        switch self {
        case .missing: "no row"
        case .asExpected: "the row is as expected"
        case .other(let row): "the row \(shown(row))"
        }
    }
}
