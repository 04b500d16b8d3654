internal import ConformanceRunner
internal import RemoteContract
internal import SyncContract

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
            "The answer is not what the protocol prescribes: no JSON, or not the expected kind.",
            in: "RemoteError.Code.invalidResponse",
            "Reads a row by its id that does not fit the table: an error, not a row and not nil."
        ) { trial in
            try await trial.make("a")
            try await trial.world.spoil("a")
            try await trial.expectError(.invalidResponse, from: "reading a row that does not fit") {
                try await trial.remote.record("a", in: trial.table)
            }
        },
    ]
}
