internal import ConformanceRunner
internal import RemoteContract
internal import SyncContract

extension RemoteTrial {
    /// The version of a row that does not fit the table; nil when it is not told, which is reported.
    fileprivate func versionOfUnfitRow(_ id: String) async throws -> String? {
        let input = "reading a row that does not fit"
        let error = try await expectError(.unfitRow, from: input) { try await remote.record(id, in: table) }
        guard let error else { return nil }
        let row = error.serverRecord
        trial.expect(
            row?.id == .string(id) && row?.version != nil && row?.fields.count == 1,
            input,
            expected: "a serverRecord with the id and the version, and nothing else",
            got: "\(row?.fields.keys.sorted() ?? [])"
        )
        return row?.version
    }
}

extension RemoteRules {
    static let settingAside: [RemoteRule] = [
        rule(
            "aside.holds-up-no-other",
            "A row that cannot be had is set aside and holds up no other.",
            in: "SyncRemote.page",
            "Makes two of 12 rows such that they do not fit the table and pulls everything and changes, in pages of 1, 3, 7, 100"
                + " and any number: all others come, and those two are named."
        ) { trial in
            try await trial.makeRows(12)
            for id in ["row-3", "row-11"] { try await trial.world.spoil(id) }
            let others = Set((0..<12).map { "row-\($0)" }).subtracting(["row-3", "row-11"])
            for start in [PullPosition.everything, .changes(since: nil)] {
                for size in pageSizes {
                    var replica = Replica(trial.remote, trial.trial, pageSize: size)
                    try await replica.pull(from: start)
                    trial.trial.expect(
                        Set(replica.rows.keys),
                        equals: others,
                        "rows beside two that do not fit, \(words(size))"
                    )
                    trial.trial.expect(
                        Set(replica.setAside.keys),
                        equals: ["row-3", "row-11"],
                        "rows that were set aside, \(words(size))"
                    )
                }
            }
        },
        rule(
            "aside.reason",
            "Why it was left out and what to do: names of columns, never content.",
            in: "SetAsideRow.reason",
            "Pulls a row that does not fit the table: there is a reason, and no value of the row in it."
        ) { trial in
            try await trial.make("a")
            try await trial.world.spoil("a")
            var replica = Replica(trial.remote, trial.trial)
            try await replica.pull()
            let reason = replica.setAside["a"] ?? ""
            trial.trial.expect(
                !reason.isEmpty && !Record.secrets.contains(where: reason.contains) && !reason.contains("kept"),
                "the reason why a row was set aside",
                expected: "a sentence without content",
                got: "'\(reason)'"
            )
        },
        rule(
            "aside.comes-when-it-fits",
            "pulls which follow one cursor after the other bring every change of every row, whatever is written meanwhile;",
            in: "SyncRemote.page",
            "Pulls past a row that does not fit, which another client then puts right: the next pull brings it."
        ) { trial in
            try await trial.makeRows(5)
            try await trial.world.spoil("row-2")
            var replica = Replica(trial.remote, trial.trial, pageSize: 3)
            try await replica.pull()
            try await trial.world.write([.change("row-2", ["number": 3.5])])
            try await replica.pull()
            replica.expectSame(as: try await trial.world.rows(), "a pull after the row was put right")
        },
        rule(
            "aside.deleted-row-is-none",
            "Tombstones have `deleted` set to true.",
            in: "PullPage.records",
            needs: RemoteSubject.tombstones,
            "Deletes a row that does not fit the table: it comes as deleted, and is not set aside, because what it held is"
                + " nobody's concern."
        ) { trial in
            try await trial.makeRows(3)
            try await trial.world.spoil("row-1")
            try await trial.world.write([.delete("row-1")])
            for start in [PullPosition.everything, .changes(since: nil)] {
                var replica = Replica(trial.remote, trial.trial)
                try await replica.pull(from: start)
                trial.trial.expect(replica.deleted, equals: ["row-1"], "deleted rows of a pull")
                trial.trial.expect(Set(replica.setAside.keys), equals: [], "rows set aside")
            }
        },
        rule(
            "aside.read-by-id",
            "has its id, and its version where the answer shows one, and nothing else of it.",
            in: "RemoteError.Code.unfitRow",
            "Reads a row by its id that does not fit the table: an error with its id and its version, no row and not nil. An"
                + " update over that version is taken."
        ) { trial in
            try await trial.make("a")
            try await trial.world.spoil("a")
            guard let version = try await trial.versionOfUnfitRow("a") else { return }
            let row = try await trial.remote.update(.local("a"), in: trial.table, version: version, restoring: false)
            try await trial.expect(row, isAsInBackEnd: "a", "update over a row that did not fit")
        },
        rule(
            "aside.in-the-way",
            "what is decided can then go over its version.",
            in: "SyncRemote",
            "Updates and deletes a row by the version that it had before somebody made it such that it does not fit the table: a"
                + " conflict without a row, whose cause names the version that it has now."
        ) { trial in
            let before = try await trial.make("a")[0].version
            try await trial.world.spoil("a")
            guard let version = try await trial.versionOfUnfitRow("a") else { return }
            let calls: [(String, () async throws -> Any?)] = [
                (
                    "update over a row that does not fit",
                    {
                        try await trial.remote.update(.local("a"), in: trial.table, version: before, restoring: false)
                    }
                ), ("deletion of one", { try await trial.remote.delete("a", from: trial.table, version: before) }),
            ]
            for (input, call) in calls {
                let error = try await trial.expectError(.conflict, from: input, call)
                let cause = error?.cause as? RemoteError
                trial.trial.expect(
                    error?.serverRecord == nil && cause?.code == .unfitRow && cause?.serverRecord?.version == version,
                    input,
                    expected: "no serverRecord, and a cause with the code .unfitRow and the version",
                    got: error.map { "\($0)" } ?? "none"
                )
            }
        },
    ]
}
