internal import RemoteContract
internal import SyncContract

extension RemoteRules {
    static let conflicting: [RemoteRule] = [
        rule(
            "conflict.insert-of-taken-id",
            "is the server's row, tombstones included, or nil when it cannot be had",
            in: "SyncRemote.insert",
            "Inserts a row whose id the back end has: a conflict with the row as it is there, which stays."
        ) { trial in
            _ = try await trial.makeChanged("a")
            try await trial.expectConflict(over: "a", from: "insert of an id that is taken") {
                try await trial.remote.insert(.local("a"), into: trial.table)
            }
        },
        rule(
            "conflict.insert-over-tombstone",
            "is the server's row, tombstones included, or nil when it cannot be had",
            in: "SyncRemote.insert",
            needs: RemoteSubject.tombstones,
            "Inserts a row whose id is that of a deleted one: a conflict with the tombstone and its version."
        ) { trial in
            _ = try await trial.makeTombstone("a")
            try await trial.expectConflict(over: "a", from: "insert of a deleted row's id") {
                try await trial.remote.insert(.local("a"), into: trial.table)
            }
        },
        rule(
            "conflict.insert-over-hidden-row",
            "is the server's row, tombstones included, or nil when it cannot be had",
            in: "SyncRemote.insert",
            "Inserts a row whose id is that of a row hidden from the user: a conflict without a row, or a refusal where the"
                + " server says no more (400 of genuine Datasync servers)."
        ) { trial in
            try await trial.make("a")
            try await trial.world.hide("a")
            let error = try await trial.expectError(.conflict, .refused, from: "insert of a hidden row's id") {
                try await trial.remote.insert(.local("a"), into: trial.table)
            }
            trial.expect(error?.serverRecord, isLike: nil, "insert of a hidden row's id; the error's serverRecord")
        },
        rule(
            "conflict.update-of-other-version",
            "when the server's version is another one,",
            in: "SyncRemote.update",
            "Updates a row under the version before another client's change: a conflict with the row as it is now."
        ) { trial in
            let (before, _) = try await trial.makeChanged("a")
            try await trial.expectConflict(over: "a", from: "update under an older version") {
                try await trial.remote.update(.local("a"), in: trial.table, version: before.version, restoring: false)
            }
        },
        rule(
            "conflict.update-of-tombstone",
            "or when the row is deleted there and `restoring` is false;",
            in: "SyncRemote.update",
            needs: RemoteSubject.tombstones,
            "Updates a row that another client has deleted, under the version before, under the tombstone's and under none: a"
                + " conflict with the tombstone, and the row stays deleted."
        ) { trial in
            for (id, version) in [("a", "before"), ("b", "tombstone"), ("c", "none")] {
                let before = try await trial.make(id)[0]
                try await trial.world.write([.delete(id)])
                let tombstone = try await trial.existing(id)
                let based = ["before": before.version, "tombstone": tombstone.version][version] ?? nil
                let input = "update of a deleted row, version: \(version)"
                // A server may write into a deleted row: then it is deleted still, under another version.
                try await trial.expectConflict(withRow: id, from: input) {
                    try await trial.remote.update(.local(id), in: trial.table, version: based, restoring: false)
                }
                let row = try await trial.row(id)
                trial.trial.expect(row?.isDeleted == true, input, expected: "a tombstone still", got: shown(row))
            }
        },
        rule(
            "conflict.delete-of-other-version",
            "is given and the server's is another one.",
            in: "SyncRemote.delete",
            "Deletes a row under the version before another client's change: a conflict with the row as it is now."
        ) { trial in
            let (before, _) = try await trial.makeChanged("a")
            try await trial.expectConflict(over: "a", from: "deletion under an older version") {
                try await trial.remote.delete("a", from: trial.table, version: before.version)
            }
        },
    ]

    static let restoring: [RemoteRule] = [
        rule(
            "restore.under-tombstone-version",
            "Whether a row that was deleted on the server is to be brought back.",
            in: "SyncRemote.update",
            needs: RemoteSubject.tombstones,
            "Updates a deleted row under the tombstone's version, restoring: it is live with what was sent, and the version of"
                + " the answer is the row's."
        ) { trial in
            let tombstone = try await trial.makeTombstone("a")
            try await trial.expectRestored("a", version: tombstone.version)
        },
        rule(
            "restore.without-version",
            "The server version the change is based on; nil overwrites whatever the server has.",
            in: "SyncRemote.update",
            needs: RemoteSubject.tombstones,
            "Updates a deleted row without a version, restoring: it is live with what was sent."
        ) { trial in
            _ = try await trial.makeTombstone("a")
            try await trial.expectRestored("a", version: nil)
        },
        rule(
            "restore.other-tombstone",
            "when the server's version is another one,",
            in: "SyncRemote.update",
            needs: RemoteSubject.tombstones,
            "Restores a row under the version that it had before it was deleted: a conflict with the tombstone, and the row"
                + " stays deleted."
        ) { trial in
            let before = try await trial.make("a")[0]
            try await trial.world.write([.delete("a")])
            try await trial.expectConflict(over: "a", from: "restoring under the version before the deletion") {
                try await trial.remote.update(.local("a"), in: trial.table, version: before.version, restoring: true)
            }
        },
        rule(
            "restore.row-that-came-back",
            "when the server's version is another one,",
            in: "SyncRemote.update",
            needs: RemoteSubject.tombstones,
            "Restores a row under the tombstone's version that another client has brought back meanwhile: a conflict with the"
                + " live row, which stays as it is."
        ) { trial in
            let tombstone = try await trial.makeTombstone("a")
            try await trial.world.write([.restore("a")])
            try await trial.expectConflict(over: "a", from: "restoring a row that came back") {
                try await trial.remote.update(.local("a"), in: trial.table, version: tombstone.version, restoring: true)
            }
        },
    ]
}

extension RemoteTrial {
    fileprivate func expectRestored(_ id: String, version: String?) async throws {
        let input = "restoring under \(version == nil ? "no version" : "the tombstone's version")"
        let answer = try await remote.update(.local(id), in: table, version: version, restoring: true)
        try await expect(answer, isAsInBackEnd: id, input)
        var expected = Record.local(id)
        // A server that does not replace whole rows keeps what was deleted with the row.
        expected["extra"] = answer["extra"]
        trial.expect(!answer.isDeleted, input, expected: "a live row", got: shown(answer))
        expect(answer, hasContentOf: expected, input)
    }
}
