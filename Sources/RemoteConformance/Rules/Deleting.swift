internal import RemoteContract
internal import SyncContract

extension RemoteRules {
    static let deleting: [RemoteRule] = [
        rule(
            "delete.confirmed",
            "The row is deleted; nothing but a table answers like this.",
            in: "RemoteDeletion.confirmed",
            "Deletes a row under its version: confirmed, and the back end has no live row any more."
        ) { trial in
            let version = try await trial.make("a", "b")[0].version
            let answer = try await trial.remote.delete("a", from: trial.table, version: version)
            trial.trial.expect(answer, equals: .confirmed, "deletion under the current version")
            try await trial.expectDeleted("a", "deletion under the current version")
            let other = try await trial.row("b")
            let isLive = other?.isDeleted == false
            trial.trial.expect(isLive, "deletion of a row", expected: "the other row live", got: shown(other))
        },
        rule(
            "delete.without-version",
            "Deletes a row.",
            in: "SyncRemote.delete",
            "Deletes a row without a version that another client has changed: it is deleted."
        ) { trial in
            _ = try await trial.makeChanged("a")
            try await trial.remote.delete("a", from: trial.table, version: nil)
            try await trial.expectDeleted("a", "deletion without a version")
        },
        rule(
            "delete.again",
            "A row that is deleted already, or does not exist, is no error.",
            in: "SyncRemote.delete",
            "Deletes a row that another client has deleted, under the version that it had before, under the tombstone's and"
                + " under none: no error, and it stays deleted."
        ) { trial in
            for (id, which) in [("a", 0), ("b", 1), ("c", 2)] {
                let before = try await trial.make(id)[0]
                try await trial.world.write([.delete(id)])
                let version = [before.version, try await trial.row(id)?.version, nil][which]
                do {
                    try await trial.remote.delete(id, from: trial.table, version: version)
                } catch let error as RemoteError {
                    trial.trial.report("deletion of a deleted row", expected: "no error", got: brief(error))
                }
                try await trial.expectDeleted(id, "deletion of a deleted row")
            }
        },
        rule(
            "delete.unknown-row",
            "A row that is deleted already, or does not exist, is no error.",
            in: "SyncRemote.delete",
            "Deletes a row that the back end has never had, with and without a version: no error."
        ) { trial in
            for version in ["v1", nil] {
                do {
                    try await trial.remote.delete("a", from: trial.table, version: version)
                } catch let error as RemoteError {
                    trial.trial.report("deletion of an unknown row", expected: "no error", got: brief(error))
                }
            }
        },
        rule(
            "delete.absent-table",
            "The row is deleted; nothing but a table answers like this.",
            in: "RemoteDeletion.confirmed",
            "Deletes a row of a table that the back end does not have: not confirmed, or an error."
        ) { trial in
            do {
                let answer = try await trial.remote.delete("a", from: .absent, version: nil)
                trial.trial.expect(
                    answer != .confirmed,
                    "deletion in a table that is not there",
                    expected: "unconfirmed, or an error",
                    got: "\(answer)"
                )
            } catch is RemoteError {
                // As right.
            }
        },
        rule(
            "delete.hidden-row",
            "The server has no such row (404, 410), or said nothing at all.",
            in: "RemoteDeletion.unconfirmed",
            "Deletes a row that is hidden from the user: not confirmed, and no error."
        ) { trial in
            let version = try await trial.make("a")[0].version
            try await trial.world.hide("a")
            let answer = try await trial.remote.delete("a", from: trial.table, version: version)
            trial.trial.expect(
                answer != .confirmed,
                "deletion of a hidden row",
                expected: "unconfirmed",
                got: "\(answer)"
            )
        },
    ]

    static let reading: [RemoteRule] = [
        rule(
            "record.live",
            "One row, tombstones included;",
            in: "SyncRemote.record",
            "Reads a row by its id: all its columns, the undeclared one among them, and its version."
        ) { trial in
            try await trial.make("a", "b")
            let row = try await trial.remote.record("a", in: trial.table)
            try await trial.expect(row, isAsInBackEnd: "a", "reading a row")
        },
        rule(
            "record.tombstone",
            "One row, tombstones included;",
            in: "SyncRemote.record",
            needs: RemoteSubject.tombstones,
            "Reads a row that was deleted: it comes, says that it is deleted, and has its version."
        ) { trial in
            let tombstone = try await trial.makeTombstone("a")
            trial.expect(
                try await trial.remote.record("a", in: trial.table),
                isLike: tombstone,
                "reading a deleted row"
            )
        },
        rule(
            "record.unknown",
            "nil when the server answers that it has none.",
            in: "SyncRemote.record",
            "Reads a row that the back end has never had: nil, and no error."
        ) { trial in
            try await trial.make("a")
            trial.expect(try await trial.remote.record("b", in: trial.table), isLike: nil, "reading an unknown row")
        },
        rule(
            "record.hidden",
            "nil when the server answers that it has none.",
            in: "SyncRemote.record",
            "Reads a row that is hidden from the user: nil, and no error."
        ) { trial in
            try await trial.make("a")
            try await trial.world.hide("a")
            trial.expect(try await trial.remote.record("a", in: trial.table), isLike: nil, "reading a hidden row")
        },
    ]

    static let confirming: [RemoteRule] = [
        rule(
            "confirm.present",
            "Makes sure that the address has the table:",
            in: "SyncRemote.confirm",
            "Asks for the table while it is empty and while it has rows: no error."
        ) { trial in
            try await trial.remote.confirm(trial.table)
            try await trial.make("a", "b")
            try await trial.remote.confirm(trial.table)
        },
        rule(
            "confirm.absent",
            "when it answers with anything else than a page.",
            in: "SyncRemote.confirm",
            "Asks for a table that the back end does not have: not found."
        ) { trial in
            try await trial.expectError(.notFound, from: "confirmation of a table that is not there") {
                try await trial.remote.confirm(.absent)
            }
        },
    ]
}

extension RemoteTrial {
    fileprivate func expectDeleted(_ id: String, _ input: String) async throws {
        let row = try await row(id)
        let isRight = row.map(\.isDeleted) ?? true
        trial.expect(isRight, input, expected: "no live row in the back end", got: shown(row))
        guard trial.subject.harness.keepsDeletedRows else { return }
        trial.expect(row != nil, input, expected: "a tombstone in the back end", got: "no row")
    }
}
