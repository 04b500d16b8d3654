internal import RemoteContract
internal import SyncContract

extension RemoteRules {
    static let tombstones: [RemoteRule] = [
        rule(
            "tombstone.stops-late-insert",
            "Without a version the row is created as deleted, so that an insert that may still arrive finds the id taken.",
            in: "SyncRemote.writeTombstone",
            needs: RemoteSubject.tombstones,
            "Writes a tombstone for an id that the back end does not know: it is there, deleted, and an insert that comes after"
                + " it is a conflict."
        ) { trial in
            let input = "a tombstone for an unknown id"
            let answer = try await trial.remote.writeTombstone(.local("a"), in: trial.table, version: nil)
            try await trial.expectTombstone("a", answer, input)
            try await trial.expectConflict(over: "a", from: "an insert after " + input) {
                try await trial.remote.insert(.local("a"), into: trial.table)
            }
        },
        rule(
            "tombstone.stops-late-restore",
            "it stays deleted under another version, so that a restore that was based on the old one cannot succeed any more.",
            in: "SyncRemote.writeTombstone",
            needs: RemoteSubject.tombstones,
            "Writes a tombstone over one, under its version: it has another version, and a restore under the old one is a"
                + " conflict."
        ) { trial in
            let input = "a tombstone over one"
            let old = try await trial.makeTombstone("a")
            let answer = try await trial.remote.writeTombstone(.local("a"), in: trial.table, version: old.version)
            try await trial.expectTombstone("a", answer, input)
            let version = try await trial.row("a")?.version
            trial.trial.expect(version != old.version, input, expected: "another version", got: version ?? "none")
            try await trial.expectConflict(over: "a", from: "a restore after " + input) {
                try await trial.remote.update(.local("a"), in: trial.table, version: old.version, restoring: true)
            }
        },
        rule(
            "tombstone.taken-id",
            "exists and no version is given, or when the server's version is another one;",
            in: "SyncRemote.writeTombstone",
            needs: RemoteSubject.tombstones,
            "Writes a tombstone without a version over a live row and over a deleted one: a conflict with what is there."
        ) { trial in
            try await trial.make("a")
            _ = try await trial.makeTombstone("b")
            for (id, what) in [("a", "live"), ("b", "deleted")] {
                try await trial.expectConflict(over: id, from: "a tombstone without a version over a \(what) row") {
                    try await trial.remote.writeTombstone(.local(id), in: trial.table, version: nil)
                }
            }
        },
        rule(
            "tombstone.other-version",
            "exists and no version is given, or when the server's version is another one;",
            in: "SyncRemote.writeTombstone",
            needs: RemoteSubject.tombstones,
            "Writes a tombstone under a version that the row has no more, deleted and live: a conflict with what is there."
        ) { trial in
            let tombstone = try await trial.makeTombstone("a")
            try await trial.world.write([.restore("a")])
            try await trial.expectConflict(over: "a", from: "a tombstone over a row that came back") {
                try await trial.remote.writeTombstone(.local("a"), in: trial.table, version: tombstone.version)
            }
            try await trial.world.write([.delete("a")])
            try await trial.expectConflict(over: "a", from: "a tombstone under an older version") {
                try await trial.remote.writeTombstone(.local("a"), in: trial.table, version: tombstone.version)
            }
        },
        rule(
            "tombstone.no-row",
            "is given and there is no such row, so that there is nothing to restore.",
            in: "SyncRemote.writeTombstone",
            needs: RemoteSubject.tombstones,
            "Writes a tombstone under a version for an id that the back end does not know: not found, and none is made."
        ) { trial in
            try await trial.expectError(.notFound, from: "a tombstone under a version for an unknown id") {
                try await trial.remote.writeTombstone(.local("a"), in: trial.table, version: "v1")
            }
            trial.expect(try await trial.row("a"), isLike: nil, "a tombstone under a version for an unknown id")
        },
        rule(
            "tombstone.has-the-content",
            "the tombstone gets the content, and the restoring update, with the version that came back, shows it.",
            in: "SyncRemote.writeTombstone",
            needs: RemoteSubject.steps,
            "Writes a tombstone over one, under its version and with other values, by a remote that brings rows back in steps: it"
                + " is deleted still, and has those values in the back end."
        ) { trial in
            let old = try await trial.makeTombstone("a")
            let record = Record.local("a", ["text": "brought back"])
            let answer = try await trial.remote.writeTombstone(record, in: trial.table, version: old.version)
            let input = "a tombstone with other values"
            try await trial.expectTombstone("a", answer, input)
            let row = try await trial.row("a")
            var expected = record
            // A server that does not replace whole rows keeps what was deleted with the row.
            expected["extra"] = row?["extra"]
            trial.expect(row, hasContentOf: expected, input + "; the back end")
        },
    ]
}

extension RemoteTrial {
    fileprivate func expectTombstone(_ id: String, _ answer: Record?, _ input: String) async throws {
        let row = try await row(id)
        trial.expect(row?.isDeleted == true, input, expected: "a tombstone in the back end", got: shown(row))
        guard let answer else { return }
        expect(answer, isLike: row, input + "; the answer")
    }
}
