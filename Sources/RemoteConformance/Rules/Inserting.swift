internal import RemoteContract
internal import SyncContract

extension RemoteRules {
    static let inserting: [RemoteRule] = [
        rule(
            "insert.returns-row",
            "Creates a row and returns it as the server keeps it, system properties included.",
            in: "SyncRemote.insert",
            "Inserts a row and holds the answer, its version among it, against the back end."
        ) { trial in
            let answer = try await trial.remote.insert(.local("a"), into: trial.table)
            try await trial.expect(answer, isAsInBackEnd: "a", "insert of a new row")
            trial.trial.expect(
                answer.version != nil,
                "insert of a new row",
                expected: "a version, without which no conflict is found",
                got: shown(answer)
            )
        },
        rule(
            "insert.every-kind-of-value",
            "Creates a row and returns it as the server keeps it, system properties included.",
            in: "SyncRemote.insert",
            "Inserts rows with texts of all scripts, line ends and quotes, large and small numbers, instants before 1970"
                + " and nulls: the answer and the back end have what was sent."
        ) { trial in
            let values: [[String: FieldValue]] = [
                ["text": "", "number": 0, "flag": true],
                ["text": .null, "number": .null, "flag": .null, "date": .null],
                ["text": "é e\u{301} ß 漢字 👩‍👩‍👧 \u{202E}", "number": -1e300, "date": .date(Timestamp(milliseconds: -1))],
                [
                    "text": "a\"b\\c\n\t'd' <e> &amp; %20 {}", "number": 1e-300,
                    "date": .date(Timestamp(milliseconds: 0)),
                ],
                ["text": " 2020-01-01T00:00:00Z ", "number": 9_007_199_254_740_991],
                ["text": .string(String(repeating: "long ", count: 4_000)), "number": 0.1],
            ]
            for (index, values) in values.enumerated() {
                var row = Record.local("v\(index)", values)
                // A whole number reads back as what the column holds.
                if let number = row["number"]?.int64Value { row["number"] = .double(Double(number)) }
                let answer = try await trial.remote.insert(row, into: trial.table)
                trial.expect(answer, hasContentOf: row, "insert of \(brief(values)); the answer")
                trial.expect(
                    try await trial.row("v\(index)"),
                    hasContentOf: row,
                    "insert of \(brief(values)); the back end"
                )
            }
        },
        rule(
            "insert.undeclared-columns",
            "Columns that the table does not declare come with rows and go back with them;",
            in: "SyncRemote",
            "Inserts a row with a value under an undeclared name: the back end has it, and the answer."
        ) { trial in
            let row = Record.local("a", ["extra": "of a newer server"])
            let answer = try await trial.remote.insert(row, into: trial.table)
            trial.expect(answer, hasContentOf: row, "insert with an undeclared column; the answer")
            trial.expect(try await trial.row("a"), hasContentOf: row, "insert with an undeclared column; the back end")
        },
        rule(
            "insert.no-system-properties",
            "columns that stay on this device, and system properties, are never sent.",
            in: "SyncRemote",
            "Inserts a row that says it is deleted and has a version and instants: in the back end it is live, and has others."
        ) { trial in
            let row = Record.local("a", .systemProperties)
            _ = try await trial.remote.insert(row, into: trial.table)
            try await trial.expectOwnSystemProperties("a", "insert of a row with system properties")
        },
        rule(
            "insert.no-local-columns",
            "columns that stay on this device, and system properties, are never sent.",
            in: "SyncRemote",
            "Inserts and updates a row with a value in a column of this device: the back end never sees it."
        ) { trial in
            let answer = try await trial.remote.insert(.local("a"), into: trial.table)
            try await trial.expectNoNote("insert of a row with a column of this device")
            _ = try await trial.remote.update(.local("a"), in: trial.table, version: answer.version, restoring: false)
            try await trial.expectNoNote("update of a row with a column of this device")
        },
        rule(
            "insert.stored-under-another-id",
            "and that row when the server chose another id.",
            in: "SyncRemote.insert",
            "Has the back end choose ids and inserts a row: an error of its own with the new row, which is there once."
        ) { trial in
            try await trial.world.chooseIDs()
            let input = "insert of a row that is stored under another id"
            let error = try await trial.expectError(.storedUnderAnotherID, from: input) {
                try await trial.remote.insert(.local("a"), into: trial.table)
            }
            let rows = try await trial.world.rows()
            trial.trial.expect(rows.count, equals: 1, input + "; rows in the back end")
            trial.expect(error?.serverRecord, isLike: rows.first, input + "; the error's serverRecord")
        },
        rule(
            "insert.unsendable",
            "The query or record cannot be expressed in the protocol. Nothing was sent.",
            in: "RemoteError.Code.invalidRequest",
            "Inserts a row with an infinite number: it is kept as it is, or refused without a request."
        ) { trial in
            let row = Record.local("a", ["number": .double(.infinity)])
            let before = try await trial.world.requestCount()
            do {
                let answer = try await trial.remote.insert(row, into: trial.table)
                trial.expect(answer, hasContentOf: row, "insert of an infinite number")
            } catch let error as RemoteError {
                let sent = try await trial.world.requestCount() - before
                trial.trial.expect(
                    error.code == .invalidRequest && sent == 0,
                    "insert of an infinite number",
                    expected: "the row as it is, or .invalidRequest without a request",
                    got: "\(brief(error)) after \(sent) requests"
                )
            }
        },
    ]

    static let ids: [RemoteRule] = [
        rule(
            "id.new-ids-are-taken",
            "Which ids of new rows the server takes",
            in: "SyncRemote.idRule",
            "Asks the rule for a UUID in capital letters, as the engine makes them."
        ) { trial in
            let id = "5C1B5A8E-53B2-4E2D-9E0B-0C8A3A7F2D10"
            trial.trial.expect(trial.remote.idRule.problem(of: id), equals: nil, "a UUID in capital letters")
        },
        rule(
            "id.kept-as-sent",
            "Whatever a rule allows, the server keeps as it was sent:",
            in: "RowIDRule",
            "Inserts rows with ids that have spaces, quotes, signs of addresses, other scripts and the greatest length, those"
                + " that the rule allows: each is read, changed, pulled and deleted under that id."
        ) { trial in
            let rule = trial.remote.idRule
            let candidates = [
                "5C1B5A8E-53B2-4E2D-9E0B-0C8A3A7F2D10", "a b", "a%20b", "a&b=c", "a#b", "a?b", "a+b", "a'b", "it''s",
                "(a)",
                "a,b;c:d@e", "~a", "-1", "0", "a.b", "$count", "__a", "a\"b", "a\\b", "[a]", "{a}", "a|b", "a^b",
                "a<b>", "a*b",
                "null", "true", "é", "漢字", "👩‍👩‍👧", String(repeating: "x", count: min(rule.maximumLength, 2_000)),
            ]
            for id in candidates where rule.problem(of: id) == nil { try await trial.walk(id) }
        },
    ]
}

extension RemoteTrial {
    /// Takes a row through everything that names it by its id.
    fileprivate func walk(_ id: String) async throws {
        let input = "a row with the id \(brief(id))"
        do {
            let inserted = try await remote.insert(.local(id), into: table)
            expect(inserted, isLike: try await row(id), input + ", inserted")
            let row = Record.local(id, ["text": "again"])
            let updated = try await remote.update(row, in: table, version: inserted.version, restoring: false)
            expect(updated, isLike: try await self.row(id), input + ", updated")
            expect(try await remote.record(id, in: table), isLike: updated, input + ", read")
            var replica = Replica(remote, trial)
            try await replica.pull()
            expect(replica.rows[id], isLike: updated, input + ", pulled")
            try await remote.delete(id, from: table, version: updated.version)
            let left = try await self.row(id)
            trial.expect(left?.isDeleted ?? true, input + ", deleted", expected: "no live row", got: shown(left))
        } catch let error as RemoteError {
            trial.report(input, expected: "no error for an id that the rule allows", got: brief(error))
        }
    }

    /// Reports when the back end has a row that is deleted, or has what a client said of its version and instants.
    func expectOwnSystemProperties(_ id: String, _ input: String) async throws {
        let row = try await row(id)
        trial.expect(
            row?.isDeleted == false && row?.version != "of-the-client" && row?.updatedAt?.milliseconds != 0,
            input,
            expected: "a live row with a version and instants of the back end's",
            got: row.map { "\(shown($0)), updatedAt \($0.updatedAt.map(\.text) ?? "none")" } ?? "no row"
        )
    }

    fileprivate func expectNoNote(_ input: String) async throws {
        let row = try await row("a")
        trial.expect(
            row?["note"].map(\.isNull) ?? (row != nil),
            input,
            expected: "a row without the column 'note'",
            got: shown(row)
        )
    }
}

extension [String: FieldValue] {
    /// What no client has to say.
    static let systemProperties: [String: FieldValue] = [
        "deleted": true, "version": "of-the-client", "updatedAt": .date(Timestamp(milliseconds: 0)),
        "createdAt": .date(Timestamp(milliseconds: 0)),
    ]
}
