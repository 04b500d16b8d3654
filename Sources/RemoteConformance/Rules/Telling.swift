internal import ConformanceRunner
internal import RemoteContract
internal import SyncContract

// What a remote tells of its pages beside the rows.
extension RemoteRules {
    static let telling: [RemoteRule] = [
        rule(
            "page.order-keys",
            "Where the rows stand in the order in which the remote asks for them, as numbers that do not fall, such as seconds"
                + " or sequence numbers;",
            in: "PullPage.orderKeys",
            "Pulls everything and changes in pages of 1, 3, 7, 100 and any number, while another client changes rows between"
                + " the pages: where the remote gives numbers, those of a page do not fall, and no page lies before the one"
                + " before it."
        ) { trial in
            for start in [PullPosition.everything, .changes(since: nil)] {
                for size in pageSizes {
                    let trial = try await trial.anew()
                    try await trial.makeRows(24)
                    var replica = Replica(trial.remote, trial.trial, pageSize: size)
                    let world = trial.world
                    try await replica.pull(from: start) { page in
                        guard page < 5 else { return }
                        try await world.write([.change("row-\(page * 4)", ["text": "changed"])])
                    }
                    trial.expectOrder(replica.pages.map(\.orderKeys), "a pull, \(words(size)), while rows change")
                }
            }
        },
        rule(
            "page.total-count",
            "How many rows the server says there are still for this pull, those of this page included; nil when it does not"
                + " say.",
            in: "PullPage.totalCount",
            "Pulls everything from 23 rows that nobody changes, with and without a limit and a condition, in pages of 1, 3, 7,"
                + " 100 and any number: where a page has a count, it is that of its rows and of those behind it. In a pull of"
                + " changes, where rows may come again, it is no smaller than what the page has."
        ) { trial in
            try await trial.makeRows(23)
            let queries = [
                Query("items"), Query("items").filtered(by: Column("number") >= 11.0), Query("items").limited(to: 9),
            ]
            for (number, query) in queries.enumerated() {
                for size in pageSizes {
                    var replica = Replica(trial.remote, trial.trial, pageSize: size)
                    replica.query = query
                    do {
                        try await replica.pull(from: .everything)
                    } catch let error as RemoteError where error.code == .invalidRequest && number == 1 {
                        // It cannot say this condition.
                        continue
                    }
                    let input = "a pull of everything with query \(number + 1), \(words(size))"
                    trial.expectCounts(replica.pages, input, isExact: true)
                }
            }
            for size in pageSizes {
                var replica = Replica(trial.remote, trial.trial, pageSize: size)
                try await replica.pull()
                trial.expectCounts(replica.pages, "a pull of changes, \(words(size))", isExact: false)
            }
        },
        rule(
            "page.parameters",
            "The same with further parameters for the service, by name; the same ones for all pages of a pull.",
            in: "SyncRemote.page",
            "Pulls everything and changes with the parameters `trial` and `mark of one`, in pages of 3: every page is asked for"
                + " with them and no row is missing; or they are refused before anything is sent."
        ) { trial in
            try await trial.makeRows(12)
            let parameters = ["trial": "a&b=c d", "mark of one": "é"]
            for start in [PullPosition.everything, .changes(since: nil)] {
                var replica = Replica(trial.remote, trial.trial, pageSize: 3)
                replica.parameters = parameters
                let before = try await trial.world.requestCount()
                do {
                    try await replica.pull(from: start)
                } catch let error as RemoteError where error.code == .invalidRequest {
                    let sent = try await trial.world.requestCount() - before
                    trial.trial.expect(sent, equals: 0, "requests of a pull whose parameters are refused")
                    continue
                }
                let input = "a pull with parameters"
                replica.expectSame(as: try await trial.world.rows(), input)
                let came = try await trial.world.parameters()
                let sent = try await trial.world.requestCount() - before
                for (number, names) in came.suffix(sent).enumerated() {
                    trial.trial.expect(
                        parameters.allSatisfy { names[$0.key] == $0.value },
                        "request \(number + 1) of \(input)",
                        expected: brief(parameters.sorted { $0.key < $1.key }),
                        got: brief(names.sorted { $0.key < $1.key })
                    )
                }
            }
        },
        rule(
            "pull.may-repeat",
            "False when only a change can bring the row again.",
            in: "SyncRemote.mayRepeat",
            "Asks, for every row and every cursor of pulls in pages of 1, 3, 7 and 100, at once and when all is settled, whether"
                + " the row may come again, and pulls from that cursor, with a remote that knows nothing of before: no row"
                + " comes of which that was said to be impossible."
        ) { trial in
            for size in [1, 3, 7, 100] {
                let trial = try await trial.anew()
                try await trial.makeRows(12)
                var cursors: [String] = []
                for _ in 0..<2 {
                    var replica = Replica(trial.remote, trial.trial, pageSize: size)
                    try await replica.pull()
                    cursors += replica.pages.compactMap(\.cursor)
                    try await trial.world.settle()
                    try await trial.world.write([.insert(.item("later-\(cursors.count)"))])
                }
                let rows = try await trial.world.rows()
                for cursor in Set(cursors) {
                    let remote = try await trial.world.makeRemote()
                    let kept = Set(
                        rows.filter { !trial.remote.mayRepeat($0.mark, of: trial.table, after: cursor) }
                            .compactMap(\.id.stringValue)
                    )
                    var replica = Replica(remote, trial.trial, pageSize: size)
                    try await replica.pull(from: .changes(since: cursor))
                    let came = kept.intersection(replica.rows.keys)
                    trial.trial.expect(
                        came.isEmpty,
                        "a pull from a cursor, \(words(size)), of rows that nobody has changed",
                        expected: "no row of which mayRepeat said false",
                        got: shown(came)
                    )
                }
            }
        },
    ]
}

extension RemoteTrial {
    /// Reports numbers that fall within a page, and pages that lie before the one before them, as the engine does.
    fileprivate func expectOrder(_ pages: [[Int64]], _ input: String) {
        var first: Int64?
        for keys in pages {
            guard let start = keys.first, let last = keys.last else { continue }
            let falls = zip(keys, keys.dropFirst()).contains { $0 > $1 }
            trial.expect(
                !falls && last >= first ?? last,
                input,
                expected: "numbers that do not fall"
                    + (first.map { ", and a page that does not end before \($0)" } ?? ""),
                got: brief(keys)
            )
            first = start
        }
    }

    /// Reports counts that are not those of the rows of a page and of the pages behind it.
    fileprivate func expectCounts(_ pages: [PullPage], _ input: String, isExact: Bool) {
        var left = pages.map { $0.records.count + $0.setAside.count }.reduce(0, +)
        for (number, page) in pages.enumerated() {
            let rows = page.records.count + page.setAside.count
            defer { left -= rows }
            guard let count = page.totalCount else { continue }
            trial.expect(
                isExact ? count == left : count >= rows,
                "page \(number + 1) of \(input)",
                expected: isExact ? "a count of \(left)" : "a count of \(rows) or more",
                got: "\(count)"
            )
        }
    }
}

extension Record {
    /// What the engine keeps of a row that was removed: its id, version and stamp.
    fileprivate var mark: Record {
        var mark = Record(id: id)
        mark["version"] = self["version"]
        mark["updatedAt"] = self["updatedAt"]
        return mark
    }
}
