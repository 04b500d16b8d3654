internal import ConformanceRunner
internal import RemoteContract
internal import SyncContract

extension RemoteRules {
    /// The sizes that are tried; nil leaves it to the server.
    static let pageSizes: [Int?] = [nil, 1, 3, 7, 100]

    private typealias Condition = (text: String, predicate: QueryPredicate, isRight: @Sendable (Int) -> Bool)

    /// Conditions on the rows of `makeConditioned`, and the numbers of those that satisfy them.
    private static var conditions: [Condition] {
        let (number, text, flag) = (Column("number"), Column("text"), Column("flag") == true)
        let date = Column("date")
        let instant = { (number: Int64) in
            FieldValue.date(Timestamp(milliseconds: Record.firstInstant + number))
        }
        return [
            ("number > 5", number > 5, { $0 > 5 }), ("text == 'row-3'", text == "row-3", { $0 == 3 }),
            ("flag == true", flag, { $0 % 2 == 0 }), ("number < 0", number < 0, { _ in false }),
            ("number <= 8 and flag", number <= 8 && flag, { $0 % 2 == 0 && $0 <= 8 }),
            ("number < 3 or number > 11", number < 3 || number > 11, { $0 < 3 || $0 > 11 }),
            (
                "(flag or number > 11) and number < 9", (flag || number > 11) && number < 9,
                { $0 % 2 == 0 && $0 < 9 }
            ),
            (
                "number > 9 or number < 7 and flag", number > 9 || number < 7 && flag,
                { $0 > 9 || $0 < 7 && $0 % 2 == 0 }
            ),
            ("not (number > 5)", !(number > 5), { $0 <= 5 }),
            ("not (flag and number > 5)", !(flag && number > 5), { $0 % 2 != 0 || $0 <= 5 }),
            ("text == null", text == FieldValue.null, { $0 % 5 == 0 }),
            ("text != null", text != FieldValue.null, { $0 % 5 != 0 }),
            ("text != 'row-3'", text != "row-3", { $0 != 3 }),
            ("text == \"it's 'quoted'\"", text == "it's 'quoted'", { $0 == 7 }),
            ("date == an instant with milliseconds", date == instant(4), { $0 == 4 }),
            ("date > an instant with milliseconds", date > instant(9), { $0 > 9 }),
        ]
    }

    static let paging: [RemoteRule] = [
        rule(
            "page.everything",
            "The first page of a pull of all rows, whether or not they changed.",
            in: "PullPosition.everything",
            "Pulls everything twice from 23 rows, in pages of 1, 3, 7, 100 and any number: all rows as they are in the back"
                + " end."
        ) { trial in
            try await trial.makeRows(23)
            for size in pageSizes {
                var replica = Replica(trial.remote, trial.trial, pageSize: size)
                for time in ["first", "second"] {
                    replica.forget()
                    try await replica.pull(from: .everything)
                    replica.expectSame(as: try await trial.world.rows(), "\(time) pull of everything, \(words(size))")
                }
            }
        },
        rule(
            "page.empty-table",
            "where the pull goes on",
            in: "SyncRemote.page",
            "Pulls everything and changes from an empty table: no rows, and an end."
        ) { trial in
            for start in [PullPosition.everything, .changes(since: nil)] {
                for size in pageSizes {
                    var replica = Replica(trial.remote, trial.trial, pageSize: size)
                    try await replica.pull(from: start)
                    trial.trial.expect(replica.rows.count, equals: 0, "rows of an empty table, \(words(size))")
                }
            }
        },
        rule(
            "page.size",
            "How many rows to ask for at a time, 1 or more;",
            in: "SyncRemote.page",
            "Pulls everything and changes in pages of 1, 3 and 7: no page has more rows."
        ) { trial in
            try await trial.makeRows(12)
            for start in [PullPosition.everything, .changes(since: nil)] {
                for size in [1, 3, 7] {
                    var replica = Replica(trial.remote, trial.trial, pageSize: size)
                    try await replica.pull(from: start)
                    let largest = replica.pages.map(\.records.count).max() ?? 0
                    trial.trial.expect(
                        largest <= size,
                        "a pull, \(words(size))",
                        expected: "at most \(size) rows a page",
                        got: "a page of \(largest)"
                    )
                }
            }
        },
        rule(
            "page.limit",
            "A limit bounds the number of rows of a pull of everything;",
            in: "SyncRemote.page",
            "Pulls everything with limits of 0, 5 and 100 from 12 rows, in pages of 1, 3, 7, 100 and any number: as many rows"
                + " as the limit allows, and an end."
        ) { trial in
            try await trial.makeRows(12)
            for limit in [0, 5, 100] {
                for size in pageSizes {
                    var replica = Replica(trial.remote, trial.trial, pageSize: size)
                    replica.query.limit = limit
                    try await replica.pull(from: .everything)
                    let count = replica.pages.map(\.records.count).reduce(0, +)
                    trial.trial.expect(
                        count,
                        equals: min(limit, 12),
                        "rows of a pull with limit \(limit), \(words(size))"
                    )
                }
            }
        },
        rule(
            "page.predicate",
            "The table and a predicate, the same for all pages of a pull.",
            in: "SyncRemote.page",
            "Pulls everything and changes with conditions on numbers, texts with quotes, nulls, truth values and instants with"
                + " milliseconds, and with several of them joined by and, or and not: the rows that satisfy them and no others;"
                + " or the query is refused before anything is sent."
        ) { trial in
            try await trial.makeConditioned(15)
            for (text, predicate, isRight) in conditions {
                for start in [PullPosition.everything, .changes(since: nil)] {
                    try await trial.expectRows(predicate, from: start, "a pull where \(text)", isRight)
                }
            }
        },
        rule(
            "page.tombstones",
            "One page of a pull, tombstones included.",
            in: "SyncRemote.page",
            needs: RemoteSubject.tombstones,
            "Deletes 5 of 12 rows and pulls everything and changes from the start, in pages of 1, 3, 7, 100 and any number: the"
                + " deleted rows come and say so."
        ) { trial in
            try await trial.makeRows(12)
            let gone = (0..<5).map { "row-\($0)" }
            try await trial.world.write(gone.map(BackEndChange.delete))
            for start in [PullPosition.everything, .changes(since: nil)] {
                for size in pageSizes {
                    var replica = Replica(trial.remote, trial.trial, pageSize: size)
                    try await replica.pull(from: start)
                    trial.trial.expect(replica.deleted, equals: Set(gone), "deleted rows of a pull, \(words(size))")
                    replica.expectSame(as: try await trial.world.rows(), "a pull over deleted rows, \(words(size))")
                }
            }
        },
        rule(
            "page.absent-table",
            "Where in a pull a page lies.",
            in: "PullPosition",
            "Pulls from a table that the back end does not have: an error, not an empty page."
        ) { trial in
            for start in [PullPosition.everything, .changes(since: nil)] {
                try await trial.expectError(.notFound, .notTheService, from: "a pull of an absent table") {
                    try await trial.remote.page(
                        Query(TableDefinition.absent.name),
                        of: .absent,
                        at: start,
                        pageSize: nil
                    )
                }
            }
        },
        rule(
            "page.deletions-between",
            "a pull of all rows, whether or not they changed.",
            in: "PullPosition.everything",
            "Deletes a row that has come after each page of a pull of everything, in pages of 1, 3 and 7: no other row is"
                + " passed over."
        ) { trial in
            for size in [1, 3, 7] {
                let prefix = "size\(size)-"
                try await trial.makeRows(14, prefix)
                var replica = Replica(trial.remote, trial.trial, pageSize: size)
                let world = trial.world
                try await replica.pull(from: .everything) { page in
                    if page < 6 { try await world.write([.delete("\(prefix)\(page - 1)")]) }
                }
                let missing = try await world.rows().filter { !$0.isDeleted }.compactMap(\.id.stringValue)
                    .filter { replica.rows[$0] == nil }
                trial.trial.expect(
                    missing.isEmpty,
                    "a pull of everything, \(words(size)), while rows are deleted",
                    expected: "every row that is still there",
                    got: "missing \(shown(missing))"
                )
            }
        },
    ]
}

/// A page's size in a sentence.
func words(_ size: Int?) -> String { size.map { "pages of \($0)" } ?? "pages of the server's size" }

extension RemoteTrial {
    /// Another client makes rows with the numbers from 0, some at a time.
    func makeRows(_ count: Int, _ prefix: String = "row-") async throws {
        for start in stride(from: 0, to: count, by: 4) {
            try await world.write(
                (start..<min(start + 4, count))
                    .map { number in
                        var row = Record.item("\(prefix)\(number)", Double(number))
                        row["text"] = .string("row-\(number)")
                        row["flag"] = .bool(number % 2 == 0)
                        return .insert(row)
                    }
            )
        }
    }

    /// Another client makes rows with the numbers from 0: every fifth without a text, one with quotes in it, and each with an
    /// instant a millisecond after the one before it.
    func makeConditioned(_ count: Int) async throws {
        try await world.write(
            (0..<count)
                .map { number in
                    var row = Record.item("row-\(number)", Double(number))
                    row["text"] = number == 7 ? "it's 'quoted'" : .string("row-\(number)")
                    if number % 5 == 0 { row["text"] = .null }
                    row["flag"] = .bool(number % 2 == 0)
                    row["date"] = .date(Timestamp(milliseconds: Record.firstInstant + Int64(number)))
                    return .insert(row)
                }
        )
    }

    fileprivate func expectRows(
        _ predicate: QueryPredicate,
        from start: PullPosition,
        _ input: String,
        _ isRight: (Int) -> Bool
    ) async throws {
        var replica = Replica(remote, trial, pageSize: 4)
        replica.query = Query(table.name).filtered(by: predicate)
        let before = try await world.requestCount()
        do {
            try await replica.pull(from: start)
        } catch let error as RemoteError where error.code == .invalidRequest {
            let sent = try await world.requestCount() - before
            trial.expect(sent, equals: 0, "requests of a query that is refused")
            return
        }
        let expected = try await world.rows()
            .filter { row in
                guard case .double(let number)? = row["number"] else { return false }
                return isRight(Int(number))
            }
        replica.expectSame(as: expected, input)
    }
}
