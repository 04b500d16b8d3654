internal import RemoteContract
internal import SyncContract

extension RemoteRules {
    static let updating: [RemoteRule] = [
        rule(
            "update.returns-row",
            "Writes a row and returns it as the server keeps it, system properties included.",
            in: "SyncRemote.update",
            "Updates a row under its version: the answer is as in the back end, with another version than before, under"
                + " which the next update is taken."
        ) { trial in
            var version = try await trial.make("a")[0].version
            for text in ["first", "second"] {
                let row = Record.local("a", ["text": .string(text)])
                let answer = try await trial.remote.update(row, in: trial.table, version: version, restoring: false)
                try await trial.expect(answer, isAsInBackEnd: "a", "update under the current version")
                trial.trial.expect(answer["text"], equals: .string(text), "text after an update to it")
                trial.trial.expect(
                    answer.version != nil && answer.version != version,
                    "update under the current version",
                    expected: "a new version",
                    got: answer.version ?? "none"
                )
                version = answer.version
            }
        },
        rule(
            "update.without-version",
            "The server version the change is based on; nil overwrites whatever the server has.",
            in: "SyncRemote.update",
            "Updates a row without a version that another client has changed: it is written."
        ) { trial in
            _ = try await trial.makeChanged("a")
            let answer = try await trial.remote.update(.local("a"), in: trial.table, version: nil, restoring: false)
            try await trial.expect(answer, isAsInBackEnd: "a", "update without a version")
            trial.trial.expect(
                answer["text"],
                equals: Record.local("a")["text"],
                "text after an update without a version"
            )
        },
        rule(
            "update.version-of-the-call",
            "The server version the change is based on; nil overwrites whatever the server has.",
            in: "SyncRemote.update",
            "Updates a row whose record has another version in it than the one that the call names: the call's counts."
        ) { trial in
            let (before, now) = try await trial.makeChanged("a")
            var row = Record.local("a")
            row["version"] = before["version"]
            let answer = try await trial.remote.update(row, in: trial.table, version: now.version, restoring: false)
            try await trial.expect(answer, isAsInBackEnd: "a", "update under the call's version")
        },
        rule(
            "update.no-system-properties",
            "System properties in it are not sent.",
            in: "SyncRemote.update",
            "Updates a row with a record that says it is deleted and has a version and instants: in the back end it is live,"
                + " and has others."
        ) { trial in
            let version = try await trial.make("a")[0].version
            let row = Record.local("a", .systemProperties)
            _ = try await trial.remote.update(row, in: trial.table, version: version, restoring: false)
            try await trial.expectOwnSystemProperties("a", "update with system properties in the record")
        },
        rule(
            "update.null-clears",
            "Writes a row and returns it as the server keeps it, system properties included.",
            in: "SyncRemote.update",
            "Updates a row with nulls in its columns: the back end has no values there any more."
        ) { trial in
            let version = try await trial.make("a")[0].version
            let row = Record.local("a", ["text": .null, "number": .null, "date": .null])
            let answer = try await trial.remote.update(row, in: trial.table, version: version, restoring: false)
            for (name, row) in [("the answer", answer), ("the back end", try await trial.row("a") ?? answer)] {
                let values = ["text", "number", "date"].map { row[$0] ?? .null }
                trial.trial.expect(
                    values.allSatisfy(\.isNull),
                    "update to nulls; \(name)",
                    expected: "nulls",
                    got: shown(row)
                )
            }
        },
        rule(
            "update.replaces-as-declared",
            "replaces the whole row, so that a column left out is blanked.",
            in: "SyncRemote.replacesWholeRows",
            "Updates a row without one of its columns: it is blank afterwards where the remote says that rows are replaced,"
                + " and has its value still where it does not."
        ) { trial in
            let before = try await trial.make("a")[0]
            var row = Record.local("a")
            row["number"] = nil
            _ = try await trial.remote.update(row, in: trial.table, version: before.version, restoring: false)
            let number = try await trial.row("a")?["number"] ?? .null
            let expected: FieldValue = trial.remote.replacesWholeRows ? .null : before["number"] ?? .null
            trial.trial.expect(number, equals: expected, "number after an update without the column")
        },
        rule(
            "update.keeps-undeclared-columns",
            "Columns that the table does not declare come with rows and go back with them;",
            in: "SyncRemote",
            "Reads a row with an undeclared column and updates it with what was read: the column keeps its value."
        ) { trial in
            let version = try await trial.make("a")[0].version
            var row = try await trial.remote.record("a", in: trial.table) ?? .local("a")
            row["text"] = "ours"
            _ = try await trial.remote.update(row, in: trial.table, version: version, restoring: false)
            trial.trial.expect(
                try await trial.row("a")?["extra"] ?? .null,
                equals: "kept",
                "the undeclared column after an update with what was read"
            )
        },
        rule(
            "update.unknown-row",
            "when there is no such row.",
            in: "SyncRemote.update",
            "Updates a row that the back end has never had, with and without a version, and restoring it: not found, and none"
                + " is made."
        ) { trial in
            for version in ["v1", nil] {
                for restoring in [false, true] {
                    let input = "update of an unknown row, version \(version ?? "nil"), restoring \(restoring)"
                    try await trial.expectError(.notFound, from: input) {
                        try await trial.remote.update(
                            .local("a"),
                            in: trial.table,
                            version: version,
                            restoring: restoring
                        )
                    }
                    trial.expect(try await trial.row("a"), isLike: nil, input + "; the back end")
                }
            }
        },
        rule(
            "update.hidden-row",
            "when there is no such row.",
            in: "SyncRemote.update",
            "Updates a row that is hidden from the user: not found, or a conflict with a row that cannot be had."
        ) { trial in
            let version = try await trial.make("a")[0].version
            try await trial.world.hide("a")
            let error = try await trial.expectError(.notFound, .conflict, from: "update of a hidden row") {
                try await trial.remote.update(.local("a"), in: trial.table, version: version, restoring: false)
            }
            trial.expect(error?.serverRecord, isLike: nil, "update of a hidden row; the error's serverRecord")
        },
    ]
}
