internal import ConformanceRunner
internal import Synchronization
internal import SyncContract

extension StoreRules {
    static let versions: [StoreRule] = migrations + migratedTables + migrationPaths

    private static let migrations: [StoreRule] = [
        rule(
            "migration.steps",
            "brought there by the schema's steps, in one transaction in which the version is recorded",
            in: "SyncContextDataSource",
            "Opens a store of version 1 with version 3, which renames a table and a column, converts, fills and drops: every"
                + " row is as the steps say, one without values too, and another table as it was.",
            needs: "migrations"
        ) { trial in
            try await trial.writeFirstVersion()
            let store = try await trial.reopen(.third())
            trial.expectRows(
                try await store.read(Query("invoices").ordered(by: "id")).records,
                [.invoice("a", amount: 4, paid: true), .invoice("b", amount: nil, paid: false)]
                    .map(TableDefinition.invoices.filled),
                "the rows of the migrated table"
            )
            let other = try await store.read(table: "other", itemID: "o")
            trial.expectRow(
                other,
                TableDefinition.other.filled(Record(id: "o", ["int": 7])),
                "the row of another table"
            )
            let query = Query("invoices").filtered(by: Column("amount") == 4)
            trial.expectIDs(try await store.read(query).records, ["a"], "query \(shown(query))")
            try await trial.expectStored([.invoice("c", amount: 1, paid: false)], in: .invoices, store)
        },
        rule(
            "migration.drops-tables",
            "Drops a table with its rows, and what is known of it.",
            in: "Migration",
            "Drops a table, and declares it again in a later version: it is empty.",
            needs: "migrations"
        ) { trial in
            try await trial.writeFirstVersion()
            let drop = Migration(to: 2, .dropTable("bills"))
            try await trial.end(try await trial.reopen(StoreSchema(version: 2, [.other], migrations: [drop])))
            let again = try StoreSchema(version: 3, [.bills, .other], migrations: [drop, Migration(to: 3)])
            let store = try await trial.reopen(again)
            trial.expectIDs(try await store.read(Query("bills")).records, [], "rows of a table that was dropped")
            let other = try await store.read(table: "other", itemID: "o")
            trial.expect(other?["int"] == 7, "the row of another table", expected: "7", got: shown(other?["int"]))
        },
        rule(
            "migration.once",
            "done in one transaction, once, and recorded with the version",
            in: "Migration",
            "Opens a store of version 1 with version 3 twice: the second time no step is run. A new store runs none.",
            needs: "migrations"
        ) { trial in
            let steps = StepCounter()
            try await trial.writeFirstVersion()
            try await trial.end(try await trial.reopen(.third { steps.count() }))
            trial.expect(steps.value > 0, "the steps of the first opening", expected: "run", got: "not run")
            let first = steps.value
            let store = try await trial.reopen(.third { steps.count() })
            trial.expect(steps.value == first, "the steps of the second opening", expected: "not run", got: "run")
            trial.expectIDs(
                try await store.read(Query("invoices").ordered(by: "id")).records,
                ["a", "b"],
                "rows after the second opening"
            )
            let place = try trial.place("new")
            let new = try await trial.makeStore(.third { steps.count() }, at: place)
            try await new.upsert([.invoice("n", amount: 2, paid: true)], table: "invoices")
            try await trial.end(new)
            let reopened = try await trial.reopen(.third { steps.count() }, at: place)
            trial.expect(steps.value == first, "the steps for a new store", expected: "not run", got: "run")
            trial.expectIDs(try await reopened.read(Query("invoices")).records, ["n"], "rows of the new store")
        },
        rule(
            "migration.newer",
            "One that has a higher version than the schema is",
            in: "SyncContextDataSource",
            "Opens a store of version 3 with version 1: it refuses, and has everything when it is opened with version 3.",
            needs: "migrations"
        ) { trial in
            try await trial.writeFirstVersion()
            try await trial.end(try await trial.reopen(.third()))
            try await trial.expectError(.newerSchema, from: "opening version 3 with a schema of version 1") {
                _ = try await trial.reopen([.bills, .other])
            }
            let store = try await trial.reopen(.third())
            trial.expectIDs(
                try await store.read(Query("invoices").ordered(by: "id")).records,
                ["a", "b"],
                "rows after the refusal"
            )
        },
        rule(
            "migration.failed",
            "or stays as it was",
            in: "SyncContextDataSource",
            "Lets a step fail for the last row: the opening throws, and the store has version 1 with all its rows.",
            needs: "migrations"
        ) { trial in
            try await trial.writeFirstVersion()
            let steps = StepCounter()
            try await trial.expectError(.schemaMismatch, from: "opening with a step that fails for one row") {
                _ = try await trial.reopen(
                    .third {
                        steps.count()
                        if steps.value == 2 { throw StepFailure() }
                    }
                )
            }
            let store = try await trial.reopen([.bills, .other])
            trial.expectRows(
                try await store.read(Query("bills").ordered(by: "id")).records,
                Record.bills.map(TableDefinition.bills.filled),
                "the rows after the failure"
            )
        },
        rule(
            "migration.translation",
            "in the transaction that migrates a store",
            in: "QueueTranslation",
            "Gives a translation: it is asked before anything is changed and called when the rows are in their tables; what"
                + " it writes is kept, and when it throws nothing is.",
            needs: "migrations"
        ) { trial in
            try await trial.writeFirstVersion()
            for failing in [true, false] {
                let translation = ProbingTranslation(isFailing: failing)
                if failing {
                    do {
                        _ = try await trial.reopen(.third(), translating: translation)
                        trial.report("a translation that throws", expected: "its error", got: "no error")
                    } catch is StepFailure {
                        // As it must.
                    }
                    let store = try await trial.reopen([.bills, .other])
                    trial.expectIDs(
                        try await store.read(Query("bills").ordered(by: "id")).records,
                        ["a", "b"],
                        "rows after a translation that throws"
                    )
                    try await trial.end(store)
                } else {
                    let store = try await trial.reopen(.third(), translating: translation)
                    let config = SystemTables.configuration.name
                    let row = try await store.read(table: config, itemID: "translated")
                    trial.expect(row != nil, "what a translation has written", expected: "kept", got: "lost")
                }
                let seen = translation.seen.withLock { $0 }
                trial.expect(
                    seen == ["check bills 2", "translate invoices 2"],
                    "what a translation sees",
                    expected: "the old table in its check, the new one when it translates",
                    got: "\(seen)"
                )
            }
        },
        rule(
            "migration.untranslated",
            "without a translation",
            in: "SchemaMigration",
            "Opens a store in which a change of a migrated table waits, and says nothing about translation: it refuses, and"
                + " everything is there.",
            needs: "migrations"
        ) { trial in
            let operation = Record(
                id: 1,
                ["table": "bills", "itemId": "a", "itemKey": "a", "state": 0, "properties": .bytes([])]
            )
            try await trial.writeFirstVersion([operation])
            let input =
                "opening with version 3, which renames 'bills' to 'invoices' and its columns, while operation 1 of 'bills' waits"
            var isRefused = false
            try await trial.expectError(.migrationRefused, from: input) {
                do { try await trial.end(try await trial.reopen(.third())) } catch {
                    isRefused = true
                    throw error
                }
            }
            // What was migrated all the same is not opened any more with the first version.
            guard isRefused else { return }
            let store = try await trial.reopen([.bills, .other])
            trial.expectIDs(
                try await store.read(Query("bills").ordered(by: "id")).records,
                ["a", "b"],
                "rows after the refusal"
            )
            let waiting = try await store.read(Query(SystemTables.operations.name)).records
            trial.expectIDs(waiting, [1], "changes after the refusal")
        },
    ]
}

/// What a step or a translation throws.
struct StepFailure: Error {}

final class StepCounter: Sendable {
    private let number = Atomic(0)

    var value: Int { number.load(ordering: .sequentiallyConsistent) }

    func count() { number.add(1, ordering: .sequentiallyConsistent) }
}

/// A translation that looks which tables there are, and writes a row.
private final class ProbingTranslation: QueueTranslation {
    let seen = Mutex<[String]>([])
    private let isFailing: Bool

    init(isFailing: Bool) { self.isFailing = isFailing }

    func check(_ migration: SchemaMigration, _ reader: inout StoreReader) throws {
        let count = try reader.count(Query("bills"))
        seen.withLock { $0.append("check bills \(count)") }
    }

    func translate(_ migration: SchemaMigration, _ transaction: inout StoreTransaction) throws {
        let count = try transaction.count(Query("invoices"))
        seen.withLock { $0.append("translate invoices \(count)") }
        try transaction.upsert([Record(id: "translated", ["value": "x"])], into: SystemTables.configuration.name)
        if isFailing { throw StepFailure() }
    }
}

extension TableDefinition {
    fileprivate static let bills = TableDefinition(
        "bills",
        columns: [.init("text", .string), .init("price", .double), .init("paid", .bool)]
    )
    fileprivate static let invoices = TableDefinition(
        "invoices",
        columns: [.init("text", .string), .init("amount", .int64), .init("status", .string)]
    )
}

extension Record {
    fileprivate static let bills = [
        Record(id: "a", ["text": "x", "price": 3.5, "paid": true, "version": "v1"]),
        Record(id: "b", ["text": "y"]),
    ]

    fileprivate static func invoice(_ id: RecordID, amount: Int64?, paid: Bool) -> Record {
        var row = Record(id: id, ["status": paid ? "paid" : "open"])
        if let amount { row["amount"] = .int64(amount) }
        if id == "a" { row.merge(Record(id: id, ["text": "x", "version": "v1"])) }
        if id == "b" { row["text"] = "y" }
        return row
    }
}

extension StoreSchema {
    /// The third version; the closure is called for each row that is filled.
    fileprivate static func third(_ body: @escaping @Sendable () throws -> Void = {}) throws -> StoreSchema {
        try StoreSchema(
            version: 3,
            [.invoices, .other],
            migrations: [
                Migration(
                    to: 2,
                    .renameTable("bills", to: "invoices"),
                    .renameColumn("price", to: "amount", in: "invoices")
                ),
                Migration(
                    to: 3,
                    .convertColumn("amount", in: "invoices") { .int64(Int64(($0.doubleValue ?? 0).rounded(.up))) },
                    .fillColumn("status", in: "invoices") { row in
                        try body()
                        return row["paid"] == true ? "paid" : "open"
                    },
                    .dropColumn("paid", in: "invoices")
                ),
            ]
        )
    }
}

extension Trial where Subject == StoreSubject {
    /// A closed store of version 1, with two rows to migrate and one of another table.
    fileprivate func writeFirstVersion(_ operations: [Record] = []) async throws {
        let store = try await makeStore([.bills, .other], at: place())
        try await store.upsert(Record.bills, table: "bills")
        try await store.upsert([Record(id: "o", ["int": 7])], table: "other")
        if !operations.isEmpty { try await store.upsert(operations, table: SystemTables.operations.name) }
        try await end(store)
    }

    /// Closes a store that is to be opened again; one that cannot be closed ends with its last reference.
    func end(_ store: any SyncContextDataSource) async throws {
        do {
            try await subject.close(store)
        } catch is Unsupported {
            // What such a harness opens again takes over what the store has.
        }
    }
}
