internal import ConformanceRunner
internal import QueryEvaluation
internal import SyncContract

// Ids in other casings than the stored ones, in more than one way at a time.
extension StoreRules {
    private static let newCasing =
        "A record with an id that differs from the stored one only in a case that the table ignores updates"
        + " that row and gives it the new casing."

    static let casings: [StoreRule] = [
        rule(
            "upsert.random-casings",
            newCasing,
            in: "StoreWriteBackend/upsert(_:into:)",
            "Merges 200 random records, full ones, partial ones and some with undeclared keys, into 8 rows of a table that ignores"
                + " case, ten in one call and under ids in random casings, and holds the rows against a model after each."
        ) { trial in
            let store = try await trial.makeStore()
            let keepsUndeclared = store.capabilities.contains(.unknownColumns)
            var random = RandomRows(trial.random(), .folding)
            var model: [RecordID: Record] = [:]
            for batch in 0..<20 {
                var records: [Record] = []
                for _ in 0..<10 {
                    let id = randomCasing(&random.random)
                    var record = random.record(id, columnsIn: random.random.pick([0, 30, 100]))
                    if random.random.chance(20) { record["extra"] = .int64(Int64(batch)) }
                    records.append(record)
                }
                for record in records {
                    var row = model[folded(record.id)] ?? TableDefinition.folding.filled(Record(id: record.id))
                    row.id = record.id
                    row.merge(record)
                    if !keepsUndeclared { row["extra"] = nil }
                    model[folded(record.id)] = row
                }
                try await store.upsert(records, table: "folding")
                let expected = try QueryEvaluator(.folding).evaluate(Query("folding"), over: model.values)
                let got = try await store.read(Query("folding")).records
                trial.expectRows(got, expected, "all rows after batch \(batch), with ids in other casings")
            }
        },
        rule(
            "search.casings",
            newCasing,
            in: "StoreWriteBackend/upsert(_:into:)",
            "Merges, deletes and inserts texts in a searchable column of a table that ignores case, under ids in random casings,"
                + " and searches them after each round."
        ) { trial in
            let table = TableDefinition(
                "notes",
                columns: [.init("text", .string, isSearchable: true), .init("int", .int64)],
                idComparison: .asciiCaseInsensitive
            )
            let store = try await trial.makeStore([table])
            let words = ["milk", "MILK", "Straße", "bread", "fin"]
            var random = trial.random()
            var model: [RecordID: Record] = [:]
            for round in 0..<12 {
                for _ in 0..<8 {
                    let id = randomCasing(&random)
                    guard !random.chance(25) else {
                        model[folded(id)] = nil
                        try await store.deleteItems(withIDs: [id], table: "notes")
                        continue
                    }
                    // A merge without the text gives the row its casing all the same.
                    let record =
                        random.chance(30)
                        ? Record(id: id, ["int": .int64(Int64(round))])
                        : Record(id: id, ["text": .string(random.pick(words) + " " + random.pick(words))])
                    let isInsert = random.chance(30)
                    try await store.write { transaction in
                        if isInsert {
                            _ = try transaction.insert(record, into: "notes")
                        } else {
                            try transaction.upsert([record], into: "notes")
                        }
                    }
                    if isInsert, model[folded(id)] != nil { continue }
                    var row = model[folded(id)] ?? table.filled(Record(id: id))
                    row.id = id
                    row.merge(record)
                    model[folded(id)] = row
                }
                for word in words {
                    let query = Query("notes")
                    for query in [
                        query.filtered(by: Column("text").matches(words: word)),
                        query.filtered(by: Column("text").folded.starts(with: word)).ordered(by: "text", folded: true),
                    ] {
                        let expected = try QueryEvaluator(table).evaluate(query, over: model.values)
                        let got = try await store.read(query).records
                        trial.expectRows(got, expected, "round \(round): query \(shown(query)), ids in other casings")
                    }
                }
            }
        },
    ]

    private static func folded(_ id: RecordID) -> RecordID { id.folded(for: .asciiCaseInsensitive) }

    private static func randomCasing(_ random: inout SeededRandom) -> RecordID {
        var id = ""
        for letter in random.pick(["ab", "abc", "b", "zz", "item-1", "éa", "q\0r", "x"]) {
            id += random.chance(50) ? String(letter).uppercased() : String(letter)
        }
        return .string(id)
    }
}
