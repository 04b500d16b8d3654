internal import ConformanceRunner
internal import QueryEvaluation
internal import SyncContract

extension StoreRules {
    static let upserts: [StoreRule] = merging + batches + undeclaredKeys + undeclaredValues + inserts

    private static let merging: [StoreRule] = [
        rule(
            "upsert.inserts",
            "Inserts records, or merges them into the rows with their ids.",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Writes new ids beside existing rows, which stay as they are."
        ) { trial in
            let store = try await trial.makeStore()
            let first = Record(id: "a", ["int": 1, "text": "x"])
            try await trial.expectStored([first], in: .items, store)
            try await trial.expectStored([Record(id: "b", ["int": 2])], in: .items, store)
            let row = try await store.read(table: "items", itemID: "a")
            trial.expectRow(row, TableDefinition.items.filled(first), "read 'a' after writing 'b'")
        },
        rule(
            "upsert.keeps-absent-columns",
            "Absent keys keep their columns, an explicit null clears.",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Merges records that lack columns into a full row, one column at a time: all others stay."
        ) { trial in
            let store = try await trial.makeStore()
            var row = fullRow("a")
            try await store.upsert([row], table: "items")
            for (name, value) in changedValues.sorted(by: { $0.key < $1.key }) {
                row[name] = value
                try await store.upsert([Record(id: "a", [name: value])], table: "items")
                let got = try await store.read(table: "items", itemID: "a")
                trial.expectRow(
                    got,
                    TableDefinition.items.filled(row),
                    "upsert {\(name): \(shown(value))} over a full row"
                )
            }
        },
        rule(
            "upsert.null-clears",
            "Absent keys keep their columns, an explicit null clears.",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Merges a null for one column at a time into a full row: it is cleared, the others stay."
        ) { trial in
            let store = try await trial.makeStore()
            var row = fullRow("a")
            try await store.upsert([row], table: "items")
            for column in TableDefinition.items.allColumns {
                row[column.name] = .null
                try await store.upsert([Record(id: "a", [column.name: .null])], table: "items")
                let got = try await store.read(table: "items", itemID: "a")
                trial.expectRow(got, TableDefinition.items.filled(row), "upsert {\(column.name): null} over a full row")
            }
        },
        rule(
            "upsert.id-only",
            "Absent keys keep their columns, an explicit null clears.",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Merges a record that has nothing but its id, into a full row and into no row."
        ) { trial in
            let store = try await trial.makeStore()
            let row = fullRow("a")
            try await store.upsert([row], table: "items")
            try await store.upsert([Record(id: "a")], table: "items")
            let got = try await store.read(table: "items", itemID: "a")
            trial.expectRow(got, TableDefinition.items.filled(row), "upsert {} over a full row")
            try await trial.expectStored([Record(id: "b")], in: .items, store)
        },
        rule(
            "upsert.later-wins",
            "Of two records with one id the later is merged over the earlier.",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Writes three records with one id in one call, each with other columns."
        ) { trial in
            let store = try await trial.makeStore()
            let records = [
                Record(id: "a", ["int": 1, "text": "x", "bool": true]), Record(id: "b"),
                Record(id: "a", ["int": 2, "double": 0.5]), Record(id: "a", ["text": .null]),
            ]
            try await store.upsert(records, table: "items")
            let expected = Record(id: "a", ["int": 2, "text": .null, "bool": true, "double": 0.5])
            let got = try await store.read(table: "items", itemID: "a")
            trial.expectRow(got, TableDefinition.items.filled(expected), "upsert 'a' three times in one call")
            trial.expect(try await store.read { try $0.count(Query("items")) }, equals: 2, "count of two ids")
        },
        rule(
            "upsert.new-casing",
            "A record with an id that differs from the stored one only in a case that the table ignores updates"
                + " that row and gives it the new casing.",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Merges 'AB' into 'ab' where ids ignore case: one row, merged, with the id 'AB'."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "ab", ["int": 1, "text": "x"])], table: "folding")
            try await store.upsert([Record(id: "AB", ["int": 2])], table: "folding")
            let rows = try await store.read(Query("folding")).records
            let expected = TableDefinition.folding.filled(Record(id: "AB", ["int": 2, "text": "x"]))
            trial.expectRows(rows, [expected], "upsert 'AB' over 'ab' in a table that ignores case")
            try await store.upsert([Record(id: "Ab"), Record(id: "aB")], table: "folding")
            trial.expectIDs(try await store.read(Query("folding")).records, ["aB"], "upsert 'Ab' and 'aB' in one call")
        },
        rule(
            "upsert.twice-is-once",
            "Inserts records, or merges them into the rows with their ids.",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Writes the same record twice: one row, the same values."
        ) { trial in
            let store = try await trial.makeStore()
            for _ in 0..<2 { try await trial.expectStored([fullRow("a")], in: .items, store) }
            trial.expect(
                try await store.read { try $0.count(Query("items")) },
                equals: 1,
                "count after writing one id twice"
            )
        },
        rule(
            "upsert.sets-nothing-itself",
            "it sets none by itself, and a row marked as deleted is a row.",
            in: "SystemProperties",
            "Inserts, merges, and deletes and inserts again: createdAt, updatedAt, version and deleted are what was written."
        ) { trial in
            let store = try await trial.makeStore()
            try await trial.expectStored([Record(id: "a", ["int": 1])], in: .items, store)
            let row = Record(
                id: "b",
                ["createdAt": .date(1), "updatedAt": .date(2), "version": "v1", "deleted": true, "int": 1]
            )
            try await store.upsert([row], table: "items")
            try await store.upsert([Record(id: "b", ["int": 2])], table: "items")
            var expected = TableDefinition.items.filled(row)
            expected["int"] = 2
            trial.expectRow(
                try await store.read(table: "items", itemID: "b"),
                expected,
                "merge a number into a row with system properties"
            )
            try await store.deleteItems(withIDs: ["b"], table: "items")
            try await trial.expectStored([Record(id: "b", ["int": 3])], in: .items, store)
        },
        rule(
            "upsert.random-merges",
            "Inserts records, or merges them into the rows with their ids.",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Merges 300 random records into 12 rows, in batches, and holds the rows against a model after each."
        ) { trial in
            let store = try await trial.makeStore()
            var random = RandomRows(trial.random())
            var model: [RecordID: Record] = [:]
            for batch in 0..<30 {
                let records = (0..<10)
                    .map { _ in
                        let id = RecordID.string("\(Int.random(in: 0..<12, using: &random.random))")
                        return random.record(id, columnsIn: 30)
                    }
                for record in records { model[record.id, default: Record(id: record.id)].merge(record) }
                try await store.upsert(records, table: "items")
                let expected = try QueryEvaluator(.items)
                    .evaluate(Query("items"), over: model.values.map { TableDefinition.items.filled($0) })
                trial.expectRows(
                    try await store.read(Query("items")).records,
                    expected,
                    "all rows after batch \(batch)"
                )
            }
        },
    ]

    static func fullRow(_ id: RecordID) -> Record {
        Record(
            id: id,
            [
                "bool": true, "int": 7, "double": 0.25, "decimal": .decimal("1.50"), "text": "text",
                "date": .date(1_234),
                "bytes": .bytes([1, 0, 255]), "json": .json("{\"a\": 1}"), "createdAt": .date(1),
                "updatedAt": .date(text: "2024-02-29T12:34:56.7891234Z"), "version": "v1", "deleted": false,
            ]
        )
    }

    private static let changedValues: [String: FieldValue] = [
        "bool": false, "int": 8, "double": 0.5, "decimal": .decimal("2"), "text": "other", "date": .date(9),
        "bytes": .bytes([2]), "json": .json("[]"), "createdAt": .date(2), "updatedAt": .date(3), "version": "v2",
        "deleted": true,
    ]

    private static let batches: [StoreRule] = [
        rule(
            "upsert.batch",
            "Inserts or merges records, all or nothing.",
            in: "SyncContextDataSource",
            "Writes 2,000 records with differing sets of columns in one call and reads all back."
        ) { trial in
            let store = try await trial.makeStore()
            var random = RandomRows(trial.random())
            let records = (0..<2_000).map { random.record(.string("\($0)"), columnsIn: $0 % 3 * 40) }
            try await store.upsert(records, table: "items")
            let expected = try QueryEvaluator(.items)
                .evaluate(Query("items"), over: records.map { TableDefinition.items.filled($0) })
            trial.expectRows(try await store.read(Query("items")).records, expected, "upsert 2,000 records in one call")
        },
        rule(
            "upsert.batch-all-or-nothing",
            "Inserts or merges records, all or nothing.",
            in: "SyncContextDataSource",
            "Writes 50 records of which the last, or one in the middle, has a value of the wrong type: none is kept."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "0", ["int": -1])], table: "items")
            for bad in [49, 25, 1] {
                let records = (0..<50).map { Record(id: .string("\($0)"), ["int": $0 == bad ? "text" : 5]) }
                let input = "upsert 50 records of which number \(bad) is refused"
                try await trial.expectError(.invalidRecord, from: input) {
                    try await store.upsert(records, table: "items")
                }
                let rows = try await store.read(Query("items")).records
                trial.expectRows(rows, [TableDefinition.items.filled(Record(id: "0", ["int": -1]))], input)
            }
        },
        rule(
            "upsert.id-kind",
            "`invalidRecord` for an id of the wrong kind, a value that `accepting(_:)` refuses",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Writes a number as id into a table with string ids, and a string into the table of operations."
        ) { trial in
            let store = try await trial.makeStore()
            try await trial.expectError(.invalidRecord, from: "upsert the id int64 1 into a table with string ids") {
                try await store.upsert([Record(id: 1)], table: "items")
            }
            try await trial.expectError(.invalidRecord, from: "upsert the id \"1\" into the table of operations") {
                try await store.upsert([Record(id: "1")], table: store.operationTableName)
            }
            trial.expect(try await store.read { try $0.count(Query("items")) }, equals: 0, "count after a refused id")
        },
        rule(
            "upsert.unknown-table",
            "`tableNotFound`, also for an empty list;",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Writes a record, and none, into a table that is not declared."
        ) { trial in
            let store = try await trial.makeStore()
            for records in [[Record(id: "a")], []] {
                let input = "upsert \(records.count) records into the table 'absent'"
                try await trial.expectError(.tableNotFound, from: input) {
                    try await store.upsert(records, table: "absent")
                }
            }
        },
        rule(
            "upsert.nothing",
            "Inserts or merges records, all or nothing.",
            in: "SyncContextDataSource",
            "Writes an empty list of records: no error, no change."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "a")], table: "items")
            try await store.upsert([], table: "items")
            trial.expectIDs(try await store.read(Query("items")).records, ["a"], "upsert of no records")
        },
    ]

    private static let undeclaredKeys: [StoreRule] = [
        rule(
            "upsert.undeclared-key",
            "An undeclared key is kept under `unknownColumns` and dropped without it.",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Writes values of every kind under undeclared keys, with names that SQL would take amiss, and reads them.",
            needs: "unknownColumns",
            otherwise: (
                "An undeclared key is dropped, and its record is written all the same.",
                { trial in
                    let store = try await trial.makeStore()
                    let record = Record(id: "a", ["int": 1, "extra": 2, "Int": 3])
                    let expected = TableDefinition.items.filled(Record(id: "a", ["int": 1]))
                    try await trial.expectStored([record], [expected], in: .items, store)
                }
            )
        ) { trial in
            let store = try await trial.makeStore()
            let record = Record(
                id: "a",
                [
                    "int": 1, "extraBool": true, "extraInt": .int64(.max), "extraDouble": 0.1,
                    "extraDecimal": .decimal("1.10"), "extraText": "a\0b",
                    "extraDate": .date(text: "2024-02-29T12:34:56.7891234Z"),
                    "extraBytes": .bytes([0, 255]), "extraJSON": .json("{ \"a\":[1.0] }"), "with space": 1,
                    "quote\"'": 2,
                    "Int": 3, "TEXT": "other case", "é": 4, "": 5, "u:x": 6, "order": 7,
                ]
            )
            try await trial.expectStored([record], in: .items, store)
        },
        rule(
            "upsert.undeclared-key-merges",
            "Absent keys keep their columns, an explicit null clears.",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Merges records with other undeclared keys, and with none, into a row that has some: the others stay.",
            needs: "unknownColumns",
            otherwise: (
                "An undeclared key is dropped, and the declared columns of its record are merged all the same.",
                { trial in
                    let store = try await trial.makeStore()
                    try await store.upsert([Record(id: "a", ["int": 1, "x": 1])], table: "items")
                    try await store.upsert([Record(id: "a", ["x": 2])], table: "items")
                    try await store.upsert([Record(id: "a", ["text": "t", "y": .null])], table: "items")
                    let expected = TableDefinition.items.filled(Record(id: "a", ["int": 1, "text": "t"]))
                    let got = try await store.read(table: "items", itemID: "a")
                    trial.expectRow(got, expected, "upsert records with undeclared keys three times")
                }
            )
        ) { trial in
            let store = try await trial.makeStore()
            var row = Record(id: "a", ["int": 1, "x": 1, "y": "2"])
            try await store.upsert([row], table: "items")
            let patches: [[String: FieldValue]] = [
                ["x": 5], ["int": 2], ["z": true], [:], ["y": .date(9), "text": "t"],
            ]
            for patch in patches {
                let record = Record(id: "a", patch)
                row.merge(record)
                try await store.upsert([record], table: "items")
                let got = try await store.read(table: "items", itemID: "a")
                trial.expectRow(got, TableDefinition.items.filled(row), "upsert \(shown(record)) over undeclared keys")
            }
        },
        rule(
            "upsert.undeclared-key-nan",
            "a NaN under an undeclared key.",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Writes a NaN under an undeclared key: refused, whether such keys are kept or not."
        ) { trial in
            let store = try await trial.makeStore()
            try await trial.expectError(.invalidRecord, from: "upsert a NaN under an undeclared key") {
                try await store.upsert([Record(id: "a", ["x": .double(.nan)])], table: "items")
            }
            trial.expectRow(try await store.read(table: "items", itemID: "a"), nil, "read the refused row")
        },
        rule(
            "upsert.undeclared-key-null",
            "A null under an undeclared key is kept like any other value.",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Writes a null over the value of an undeclared key, and under a new one.",
            needs: "unknownColumns"
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "a", ["x": 1])], table: "items")
            try await store.upsert([Record(id: "a", ["x": .null, "y": .null])], table: "items")
            let got = try await store.read(table: "items", itemID: "a")
            let expected = TableDefinition.items.filled(Record(id: "a", ["x": .null, "y": .null]))
            trial.expectRow(got, expected, "upsert nulls under undeclared keys")
        },
    ]
}
