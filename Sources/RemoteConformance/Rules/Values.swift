internal import ConformanceRunner
internal import RemoteContract
internal import SyncContract

// What becomes of values on every way that they take: with changes, with what is read, and with the row of a conflict.
extension RemoteRules {
    private static let kinds =
        "texts with escapes and long ones, whole numbers of 64 bits, binary and decimal numbers, bytes, JSON and instants"
        + " before 1970"

    static let values: [RemoteRule] = [
        rule(
            "value.written",
            "Writes a row and returns it as the server keeps it, system properties included.",
            in: "SyncRemote.update",
            "Inserts rows with " + kinds
                + ", and updates others to the same: the answer and the back end have what was sent, as far as the back end"
                + " can keep it."
        ) { trial in
            let trial = try await trial.anew(.values)
            for (number, values) in Record.samples.enumerated() {
                let values = trial.kept(values)
                let new = Record(id: .string("new-\(number)"), values)
                let inserted = try await trial.remote.insert(new, into: trial.table)
                try await trial.expectWritten(new, inserted, "insert of sample \(number + 1)")
                let id = "changed-\(number)"
                try await trial.world.write([.insert(.plain(id))])
                let version = try await trial.existing(id).version
                let row = Record(id: .string(id), values)
                let updated = try await trial.remote.update(row, in: trial.table, version: version, restoring: false)
                try await trial.expectWritten(row, updated, "update to sample \(number + 1)")
            }
        },
        rule(
            "value.read",
            "One row, tombstones included;",
            in: "SyncRemote.record",
            "Another client writes rows with " + kinds
                + ": reading by id and pulls of everything and of changes bring them as they are in the back end."
        ) { trial in
            let trial = try await trial.anew(.values)
            let ids = try await trial.makeSamples()
            for id in ids {
                let row = try await trial.remote.record(id, in: trial.table)
                try await trial.expect(row, isAsInBackEnd: id, "reading of \(id)")
            }
            for start in [PullPosition.everything, .changes(since: nil)] {
                var replica = Replica(trial.remote, trial.trial, pageSize: 3, of: .values)
                try await replica.pull(from: start)
                let what = start == .everything ? "everything" : "changes"
                replica.expectSame(
                    as: try await trial.world.rows(),
                    "a pull of \(what) from rows of all kinds of values"
                )
            }
        },
        rule(
            "value.in-conflict",
            "is the server's row, tombstones included, or nil when it cannot be had",
            in: "SyncRemote.insert",
            "Another client writes rows with " + kinds
                + " and changes them: the conflicts of an insert, an update and a deletion have them as they are in the back"
                + " end."
        ) { trial in
            let trial = try await trial.anew(.values)
            for id in try await trial.makeSamples() {
                let version = try await trial.existing(id).version
                try await trial.world.write([.change(id, ["real": 3.25])])
                try await trial.expectConflicts(over: id, version: version, .plain(id))
            }
        },
        rule(
            "value.undeclared-number",
            "Columns that the table does not declare come with rows and go back with them;",
            in: "SyncRemote",
            "Takes a row with a whole number above 2⁵³ under an undeclared name through an insert, where the back end can keep"
                + " it, reading by id, both kinds of pulls, an update with what was read and the row of a conflict: it is the"
                + " same number everywhere."
        ) { trial in
            let number: FieldValue = 9_007_199_254_740_993
            let remote = trial.remote
            if trial.trial.subject.harness.keeps(number) {
                let new = Record.local("new", ["count": number])
                let inserted = try await remote.insert(new, into: trial.table)
                try await trial.expectWritten(new, inserted, "insert with an undeclared number")
            }
            var theirs = Record.item("a")
            theirs["count"] = number
            try await trial.world.write([.insert(theirs)])
            let old = try await trial.existing("a").version
            var row = try await remote.record("a", in: trial.table) ?? .local("a")
            trial.trial.expect(row["count"] ?? .null, equals: number, "an undeclared number, read by id")
            for start in [PullPosition.everything, .changes(since: nil)] {
                var replica = Replica(remote, trial.trial)
                try await replica.pull(from: start)
                trial.trial.expect(replica.rows["a"]?["count"] ?? .null, equals: number, "an undeclared number, pulled")
            }
            row["text"] = "ours"
            _ = try await remote.update(row, in: trial.table, version: old, restoring: false)
            trial.trial.expect(
                try await trial.row("a")?["count"] ?? .null,
                equals: number,
                "an undeclared number in the back end after an update with what was read"
            )
            try await trial.expectConflicts(over: "a", version: old, .local("a"))
        },
        rule(
            "value.stamps",
            "Writes a row and returns it as the server keeps it, system properties included.",
            in: "SyncRemote.update",
            "Where the rows of the back end have stamps, holds those of the answers to an insert and an update, of reading by id,"
                + " of both kinds of pulls and of the row of a conflict against them: to the millisecond."
        ) { trial in
            let old = try await trial.make("a")[0]
            guard old.updatedAt != nil else { throw Unsupported("the rows of the back end have no stamps") }
            let remote = trial.remote
            try await trial.expectStamp(try await remote.insert(.local("new"), into: trial.table), "insert")
            let row = try await remote.update(.local("a"), in: trial.table, version: old.version, restoring: false)
            try await trial.expectStamp(row, "update")
            for id in ["a", "new"] {
                try await trial.expectStamp(try await remote.record(id, in: trial.table) ?? row, "reading by id")
            }
            for start in [PullPosition.everything, .changes(since: nil)] {
                var replica = Replica(remote, trial.trial)
                try await replica.pull(from: start)
                for row in replica.rows.values { try await trial.expectStamp(row, "pull") }
            }
            let error = try await trial.expectError(.conflict, from: "an update under an older version") {
                try await remote.update(.local("a"), in: trial.table, version: old.version, restoring: false)
            }
            try await trial.expectStamp(error?.serverRecord ?? row, "conflict")
        },
        rule(
            "value.created-at",
            "so that its values are handed over and go back with their rows:",
            in: "SyncRemote.keepsCreatedAt",
            needs: RemoteSubject.createdAt,
            "Another client writes a row with an instant under `createdAt`: reading by id and both kinds of pulls bring it, and"
                + " it is the same in the back end after an update with what was read."
        ) { trial in
            var theirs = Record.item("a")
            theirs["createdAt"] = .instant
            try await trial.world.write([.insert(theirs)])
            let version = try await trial.existing("a").version
            var row = try await trial.remote.record("a", in: trial.table) ?? .local("a")
            trial.trial.expect(row["createdAt"] ?? .null, equals: .instant, "createdAt, read by id")
            for start in [PullPosition.everything, .changes(since: nil)] {
                var replica = Replica(trial.remote, trial.trial)
                try await replica.pull(from: start)
                trial.trial.expect(replica.rows["a"]?["createdAt"] ?? .null, equals: .instant, "createdAt, pulled")
            }
            row["text"] = "ours"
            _ = try await trial.remote.update(row, in: trial.table, version: version, restoring: false)
            trial.trial.expect(
                try await trial.row("a")?["createdAt"] ?? .null,
                equals: .instant,
                "createdAt in the back end after an update with what was read"
            )
        },
    ]
}

extension TableDefinition {
    /// A table with a column of every type.
    fileprivate static let values = TableDefinition(
        "values",
        columns: [
            .init("text", .string), .init("whole", .int64), .init("real", .double), .init("exact", .decimal),
            .init("flag", .bool), .init("date", .date), .init("bytes", .bytes), .init("json", .json),
        ],
        systemProperties: [.updatedAt, .version, .deleted]
    )
}

extension Record {
    /// Values of all types, at the ends of what they hold.
    fileprivate static let samples: [[String: FieldValue]] = [
        [
            "text": "", "whole": 0, "real": 0.0, "exact": decimal("0.10"), "flag": false, "bytes": .bytes([]),
            "date": .date(Timestamp(milliseconds: -1)), "json": json("{}"),
        ],
        [
            "text": "a\"b\\c\n\t\r'd' <e> &amp; %20 {} /\u{1}\u{7F}", "whole": .int64(.max), "real": -1e300,
            "exact": decimal("1234567890123456789.012345678"), "flag": true,
            "bytes": .bytes([0, 255, 62, 63, 250, 13, 10]), "date": .date(Timestamp(milliseconds: -2_208_988_799_999)),
            "json": json(#"{"a":[1,true,null,"x",{"b":[]}]}"#),
        ],
        [
            "text": "é e\u{301} ß 漢字 👩‍👩‍👧 \u{202E}", "whole": .int64(.min), "real": 1e-300, "exact": decimal("-0.001"),
            "bytes": .bytes([UInt8](0...255)), "date": .instant, "json": json("[]"),
        ],
        [
            "text": .string(String(repeating: "long \"text\" ", count: 4_000)), "whole": 9_007_199_254_740_993,
            "real": 0.1, "exact": decimal("7"), "date": .date(Timestamp(milliseconds: 0)), "json": json(#""text""#),
        ],
        [
            "text": " 2020-01-01T00:00:00Z ", "whole": -1, "real": 9_007_199_254_740_991.0, "flag": true,
            "exact": decimal("-99999999999999.99"), "date": .date(Timestamp(milliseconds: 4_102_444_800_001)),
        ],
    ]

    /// A row of the table with a column of every type, with values that every sample has as well: a server that merges keeps
    /// those that an update leaves out.
    fileprivate static func plain(_ id: String) -> Record {
        Record(id: .string(id), ["text": .string(secrets[0]), "real": 2.5])
    }

    private static func decimal(_ text: String) -> FieldValue { DecimalText(text).map(FieldValue.decimal) ?? .null }

    private static func json(_ text: String) -> FieldValue { JSONText(text).map(FieldValue.json) ?? .null }
}

extension RemoteTrial {
    /// The values that the back end can keep when they are sent to it.
    fileprivate func kept(_ values: [String: FieldValue]) -> [String: FieldValue] {
        values.filter { trial.subject.harness.keeps($0.value) }
    }

    /// Another client makes a row for each sample; their ids.
    fileprivate func makeSamples() async throws -> [String] {
        let ids = Record.samples.indices.map { "sample-\($0 + 1)" }
        let rows = zip(ids, Record.samples).map { BackEndChange.insert(Record(id: .string($0), kept($1))) }
        try await world.write(rows)
        return ids
    }

    /// Reports an answer, and a row of the back end, that has other values than were sent.
    fileprivate func expectWritten(_ sent: Record, _ answer: Record, _ input: String) async throws {
        expect(answer, hasContentOf: sent, input + "; the answer")
        expect(try await row(sent.id.stringValue ?? ""), hasContentOf: sent, input + "; the back end")
    }

    /// Reports conflicts of an update and a deletion under a version, and of an insert, without the row as it is.
    fileprivate func expectConflicts(over id: String, version: String?, _ row: Record) async throws {
        try await expectConflict(over: id, from: "update of \(id) under an older version") {
            try await remote.update(row, in: table, version: version, restoring: false)
        }
        try await expectConflict(over: id, from: "deletion of \(id) under an older version") {
            try await remote.delete(id, from: table, version: version)
        }
        try await expectConflict(over: id, from: "insert of \(id), which is taken") {
            try await remote.insert(row, into: table)
        }
    }

    fileprivate func expectStamp(_ row: Record, _ input: String) async throws {
        let expected = try await self.row(row.id.stringValue ?? "")?.updatedAt
        trial.expect(
            row.updatedAt == expected,
            "updatedAt of row '\(row.id.stringValue ?? "")', \(input)",
            expected: expected?.text ?? "none",
            got: row.updatedAt?.text ?? "none"
        )
    }
}
