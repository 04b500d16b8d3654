internal import ConformanceRunner
internal import RemoteContract
internal import SyncContract

extension RemoteRules {
    private static let everyChange =
        "pulls which follow one cursor after the other bring every change of every row, whatever is written meanwhile;"

    static let changes: [RemoteRule] = [
        rule(
            "pull.brings-changes",
            everyChange,
            in: "SyncRemote.page",
            "Pulls one cursor after the other while another client inserts, changes, deletes and brings back rows between the"
                + " pulls, in pages of 1, 3, 7, 100 and any number: each pull ends with what the back end has."
        ) { trial in
            for size in pageSizes {
                let trial = try await trial.anew()
                let id = { (row: Int) in "row-\(row)" }
                var replica = Replica(trial.remote, trial.trial, pageSize: size)
                var steps: [[BackEndChange]] = [
                    (0..<9).map { .insert(.item(id($0))) }, [.change(id(4), ["text": "changed"])],
                    [.insert(.item(id(9))), .change(id(0), ["number": 7.5])],
                ]
                if trial.keepsDeletedRows { steps += [[.delete(id(4))], [.restore(id(4)), .delete(id(9))]] }
                for (step, changes) in steps.enumerated() {
                    try await trial.world.write(changes)
                    try await replica.pull()
                    replica.expectSame(as: try await trial.world.rows(), "pull \(step + 1) of changes, \(words(size))")
                }
            }
        },
        rule(
            "pull.own-writes",
            everyChange,
            in: "SyncRemote.page",
            "Writes through the remote between pulls, as pushes do: the next pull has what the back end has."
        ) { trial in
            var replica = Replica(trial.remote, trial.trial, pageSize: 3)
            try await trial.makeRows(4)
            try await replica.pull()
            let own = try await trial.remote.insert(.local("own"), into: trial.table)
            try await replica.pull()
            replica.expectSame(as: try await trial.world.rows(), "a pull after an own insert")
            _ = try await trial.remote.update(.local("own"), in: trial.table, version: own.version, restoring: false)
            try await replica.pull()
            replica.expectSame(as: try await trial.world.rows(), "a pull after an own update")
            guard trial.keepsDeletedRows else { return }
            try await trial.remote.delete("own", from: trial.table, version: nil)
            try await replica.pull()
            replica.expectSame(as: try await trial.world.rows(), "a pull after an own deletion")
        },
        rule(
            "pull.cursor-moves",
            "The first page of a pull of what changed since a cursor was given;",
            in: "PullPosition.changes",
            "Pulls 40 rows, lets everything settle, pulls, and changes one: the next pull brings that one, and not all again."
        ) { trial in
            try await trial.makeRows(40)
            var replica = Replica(trial.remote, trial.trial)
            try await replica.pull()
            try await trial.world.settle()
            try await replica.pull()
            try await trial.world.write([.change("row-7", ["text": "changed"])])
            replica.forget()
            try await replica.pull()
            let brought = Set(replica.rows.keys)
            trial.trial.expect(
                brought.contains("row-7") && brought.count < 20,
                "a pull after one of 40 rows changed, all of them settled",
                expected: "that row, and not all others again",
                got: shown(brought)
            )
        },
        rule(
            "pull.condition-and-cursor",
            "The first page of a pull of what changed since a cursor was given;",
            in: "PullPosition.changes",
            "Pulls 30 rows where one of two conditions holds, lets everything settle, pulls, and changes one of them and one of the"
                + " others: the next pull brings the one that satisfies a condition, and not all again; or the query is refused"
                + " before anything is sent."
        ) { trial in
            try await trial.makeConditioned(30)
            let number = Column("number")
            var replica = Replica(trial.remote, trial.trial, pageSize: 4)
            replica.query = Query(trial.table.name).filtered(by: number < 12 || number > 20)
            guard try await trial.isPulled(&replica) else { return }
            try await trial.world.settle()
            try await replica.pull()
            let changes = ["row-2", "row-15", "row-25"].map { BackEndChange.change($0, ["text": "changed"]) }
            try await trial.world.write(changes)
            replica.forget()
            try await replica.pull()
            let brought = Set(replica.rows.keys)
            trial.trial.expect(
                brought.isSuperset(of: ["row-2", "row-25"]) && !brought.contains("row-15") && brought.count < 12,
                "a pull where number < 12 or number > 20, after three of 30 rows changed, all of them settled",
                expected: "those two that satisfy the condition, and not all others again",
                got: shown(brought)
            )
        },
        rule(
            "pull.condition-and-deletion",
            everyChange,
            in: "SyncRemote.page",
            needs: RemoteSubject.tombstones,
            "Pulls rows that satisfy a condition, has one of them deleted, and pulls from the cursor with that condition, at once"
                + " and when all is settled: the deleted row comes, and says so; or the query is refused before anything is sent."
        ) { trial in
            try await trial.makeConditioned(12)
            var replica = Replica(trial.remote, trial.trial, pageSize: 4)
            replica.query = Query(trial.table.name).filtered(by: Column("number") > 5 && Column("flag") == true)
            guard try await trial.isPulled(&replica) else { return }
            for (id, when) in [("row-8", "at once"), ("row-10", "when all is settled")] {
                try await trial.world.write([.delete(id)])
                try await replica.pull()
                trial.trial.expect(
                    replica.deleted.contains(id),
                    "a pull from a cursor with a condition, after a row that satisfied it was deleted, \(when)",
                    expected: "the tombstone of '\(id)'",
                    got: "\(shown(replica.rows[id])); deleted \(shown(replica.deleted))"
                )
                try await trial.world.settle()
                try await replica.pull()
            }
        },
        rule(
            "pull.unknown-cursor",
            "of all rows without one, and with one that the remote cannot read.",
            in: "PullPosition.changes",
            "Pulls changes since no cursor and since texts that are none of the remote's: all rows come, and a cursor that"
                + " works."
        ) { trial in
            try await trial.makeRows(9)
            let cursors = [
                nil, "", "no cursor of yours", "{}", "-1", "99999999", "settled", "2999-13-45", "\u{0}", "é",
            ]
            for (number, cursor) in cursors.enumerated() {
                var replica = Replica(trial.remote, trial.trial, pageSize: 4)
                let input = "a pull of changes since \(cursor.map { "'\($0)'" } ?? "no cursor")"
                try await replica.pull(from: .changes(since: cursor))
                replica.expectSame(as: try await trial.world.rows(), input)
                try await trial.make("new-\(number)")
                try await replica.pull()
                replica.expectSame(as: try await trial.world.rows(), "the pull after " + input)
            }
        },
        rule(
            "pull.new-start",
            "Where the next pull of the same query starts when this page, and all before it, were stored:",
            in: "PullPage.cursor",
            "Stops a pull after each number of pages and pulls again from the last cursor that was stored, with a remote that"
                + " was made anew: nothing is missing."
        ) { trial in
            try await trial.makeRows(17)
            for size in [1, 3, 7] {
                for stop in 1...6 {
                    var replica = Replica(trial.remote, trial.trial, pageSize: size)
                    try await replica.pull(pages: stop)
                    try await trial.world.write([.change("row-\(stop)", ["number": .double(Double(size))])])
                    replica.remote = try await trial.world.makeRemote()
                    try await replica.pull()
                    replica.expectSame(
                        as: try await trial.world.rows(),
                        "a pull, \(words(size)), that went on from its cursor after \(stop) pages"
                    )
                }
            }
        },
        rule(
            "pull.positions-are-text",
            "The page after another one of the same pull, in the remote's own words.",
            in: "PullPosition.next",
            "Asks for every page with a remote that was made anew, and for each twice: nothing is missing."
        ) { trial in
            try await trial.makeRows(17)
            for start in [PullPosition.everything, .changes(since: nil)] {
                for size in [1, 3, 7] {
                    var replica = Replica(Forgetful(world: trial.world), trial.trial, pageSize: size)
                    try await replica.pull(from: start)
                    replica.expectSame(
                        as: try await trial.world.rows(),
                        "a pull with a new remote a page, \(words(size))"
                    )
                }
            }
        },
        rule(
            "pull.requests-are-counted",
            "to be called for every request, right before it is sent.",
            in: "RequestCounter",
            "Counts the requests of every call as the engine does, and holds the number against what reached the back end."
        ) { trial in
            try await trial.makeRows(5)
            let version = try await trial.existing("row-0").version
            let remote = trial.remote
            try await trial.expectCounted("insert") { _ = try await remote.insert(.local("n"), into: .items) }
            try await trial.expectCounted("update") {
                _ = try await remote.update(.local("row-0"), in: .items, version: version, restoring: false)
            }
            try await trial.expectCounted("delete") { try await remote.delete("row-1", from: .items, version: nil) }
            try await trial.expectCounted("record") { _ = try await remote.record("row-2", in: .items) }
            try await trial.expectCounted("confirm") { try await remote.confirm(.items) }
            for start in [PullPosition.everything, .changes(since: nil)] {
                try await trial.expectCounted("page") {
                    _ = try await remote.page(Query("items"), of: .items, at: start, pageSize: 2)
                }
            }
        },
    ]
}

/// A remote that is made anew for every call, and asks for each page twice.
private struct Forgetful: SyncRemote {
    let world: any RemoteWorld
    let replacesWholeRows = true

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        _ = try await world.makeRemote().page(query, of: table, at: position, pageSize: pageSize)
        return try await world.makeRemote().page(query, of: table, at: position, pageSize: pageSize)
    }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try await world.makeRemote().insert(record, into: table)
    }
    func update(_ record: Record, in table: TableDefinition, version: String?, restoring: Bool) async throws -> Record {
        try await world.makeRemote().update(record, in: table, version: version, restoring: restoring)
    }
    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        try await world.makeRemote().delete(id, from: table, version: version)
    }
    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        try await world.makeRemote().record(id, in: table)
    }
    func confirm(_ table: TableDefinition) async throws { try await world.makeRemote().confirm(table) }
}

extension RemoteTrial {
    var keepsDeletedRows: Bool { trial.subject.harness.keepsDeletedRows }

    /// Whether a pull with a condition works; one that is refused has to be before anything is sent.
    fileprivate func isPulled(_ replica: inout Replica) async throws -> Bool {
        let before = try await world.requestCount()
        do {
            try await replica.pull()
            return true
        } catch let error as RemoteError where error.code == .invalidRequest {
            let sent = try await world.requestCount() - before
            trial.expect(sent, equals: 0, "requests of a query that is refused")
            return false
        }
    }

    fileprivate func expectCounted(_ call: String, _ body: () async throws -> Void) async throws {
        let before = try await world.requestCount()
        let counter = RequestCounter()
        try await counter.counting(body)
        let sent = try await world.requestCount() - before
        trial.expect(
            counter.count,
            equals: sent,
            "requests counted in '\(call)', of which \(sent) reached the back end"
        )
        trial.expect(sent > 0, "the call '\(call)'", expected: "a request", got: "none")
    }
}
