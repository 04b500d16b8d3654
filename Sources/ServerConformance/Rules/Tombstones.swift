internal import ConformanceRunner

extension ServerRules {
    static let tombstones: [Entry] = [
        rule(
            "tombstone.hidden",
            .both,
            "Lists leave deleted rows out.",
            in: "datasync-protocol 1.5, 6.5 #38",
            for: .softDelete,
            "Deletes one of two rows and asks for both, with the condition in parentheses and without, and for both where deleted"
                + " is true."
        ) { server in
            let (live, _) = try await server.liveAndDeleted()
            let rows = [live.0, live.1]
            // A condition of the server's own is to hold for the whole of a bare `or`.
            for (filter, found) in [
                (server.among(rows), [live.0.id]), (server.either(rows), [live.0.id]),
                (server.among(rows, "deleted eq true"), []),
            ] {
                let page = try await server.list([("$filter", filter)])
                server.expect(page.ids == found, page.response, found.isEmpty ? "no row" : "the row \(live.0.id) alone")
            }
        },
        rule(
            "tombstone.shown",
            .both,
            "With the parameter, lists have deleted rows among the others: __includedeleted=true, in protocol 2 __includeDeleted.",
            in: "datasync-protocol 1.10, 2.1, 6.5 #38; node-server-protocol2, Delete",
            for: .softDelete,
            "Deletes one of two rows and asks for both with the parameter."
        ) { server in
            let (rows, _) = try await server.liveAndDeleted()
            let page = try await server.list([
                ("$filter", server.among([rows.0, rows.1])), server.speaks.includeDeleted,
            ])
            server.expect(Set(page.ids) == [rows.0.id, rows.1.id], page.response, "both rows")
            let marks = Dictionary(page.rows.map { ($0.id, $0.isDeleted) }) { $1 }
            server.expect(
                marks == [rows.0.id: false, rows.1.id: true],
                page.response,
                "'deleted' true for \(rows.1.id) alone"
            )
        },
        rule(
            "tombstone.parameter",
            .protocol3,
            "The parameter's name counts in any case, and its value must be 'true' in any case.",
            in: "datasync-protocol 1.10",
            for: .softDelete,
            "Asks for a deleted row with the parameter in several spellings, and with other values."
        ) { server in
            let (rows, _) = try await server.liveAndDeleted()
            for (name, value, count) in [
                ("__includeDeleted", "true", 1), ("__INCLUDEDELETED", "TRUE", 1), ("__includedeleted", "True", 1),
                ("__includedeleted", "false", 0), ("__includedeleted", "1", 0),
            ] {
                let page = try await server.list([("$filter", server.among([rows.1])), (name, value)])
                server.expect(page.rows.count == count, page.response, count == 0 ? "no row" : "the deleted row")
            }
        },
        rule(
            "tombstone.parameter-values",
            .protocol2,
            "Any value of __includeDeleted turns it on, 'false' too.",
            in: "node-server-protocol2, Delete",
            for: .nobody,
            "Asks for a deleted row with the value 'false'."
        ) { server in
            let (rows, _) = try await server.liveAndDeleted()
            let page = try await server.list([("$filter", server.among([rows.1])), ("__includeDeleted", "false")])
            server.expect(page.rows.count == 1, page.response, "the deleted row")
        },
        rule(
            "tombstone.count",
            .both,
            "Deleted rows are counted only with the parameter.",
            in: "datasync-protocol 1.8; node-server-protocol2, Query",
            for: .softDelete,
            "Counts two rows, one of them deleted, without and with the parameter, with the condition in parentheses and without."
        ) { server in
            let (live, _) = try await server.liveAndDeleted()
            let rows = [live.0, live.1]
            for filter in [server.among(rows), server.either(rows)] {
                let query = [("$filter", filter), server.speaks.countOption]
                for (more, count) in [([], 1), ([server.speaks.includeDeleted], 2)] as [([(String, String)], Double)] {
                    let page = try await server.list(query + more)
                    server.expect(page.count == count, page.response, "the count \(Int(count))")
                }
            }
        },
        rule(
            "tombstone.order",
            .both,
            "With the parameter, deleted rows stand in every order where they belong, and $skip and $top cut pieces out of that.",
            in: "datasync-protocol 1.8, 1.10, 6.5 #29, #38; node-server-protocol2, Query",
            for: .softDelete,
            "Makes four rows with different stamps, deletes the second and changes the first, and asks for every piece by"
                + " updatedAt, upward and downward, by updatedAt and id, and by id."
        ) { server in
            let rows = try await server.rowsWithTombstone()
            let byStamp = rows.map(\.id)
            let orders = [
                ("updatedAt", byStamp), ("updatedAt desc", byStamp.reversed()), ("updatedAt,id", byStamp),
                ("id", byStamp.sorted { $0.precedes($1) }),
            ]
            for (order, ids) in orders {
                let query = [("$filter", server.among(rows)), ("$orderby", order), server.speaks.includeDeleted]
                for skip in ids.indices {
                    for top in 1...(ids.count - skip) where server.profile.top(top) == top {
                        let page = try await server.list(query + [("$skip", "\(skip)"), ("$top", "\(top)")])
                        let wanted = Array(ids[skip..<skip + top])
                        server.expect(page.ids == wanted, page.response, "the rows \(brief(wanted))")
                    }
                }
            }
        },
        rule(
            "tombstone.filter",
            .both,
            "A condition may name deleted, with the parameter.",
            in: "datasync-protocol 6.5 #38",
            for: .softDelete,
            "Asks for deleted eq true and false among two rows, one of them deleted."
        ) { server in
            let (rows, _) = try await server.liveAndDeleted()
            for (value, row) in [("true", rows.1), ("false", rows.0)] {
                let filter = server.among([rows.0, rows.1], "deleted eq \(value)")
                let page = try await server.list([("$filter", filter), server.speaks.includeDeleted])
                server.expect(page.ids == [row.id], page.response, "the row \(row.id) alone")
            }
        },
        rule(
            "tombstone.paged",
            .both,
            "Deleted rows take no place in what $skip and $top cut out.",
            in: "datasync-protocol 1.8, 6.5 #29, #38",
            for: .softDelete,
            "Deletes the first and the third of four rows by id, and asks for the first row, and for what follows it."
        ) { server in
            var rows: [ServerRow] = []
            for _ in 0..<4 { rows.append(try await server.insert()) }
            rows.sort { $0.id.precedes($1.id) }
            for row in [rows[0], rows[2]] { try await server.delete(row) }
            let query = [("$filter", server.among(rows)), ("$orderby", "id")]
            let first = try await server.list(query + [("$top", "1")])
            server.expect(first.ids == [rows[1].id], first.response, "the row \(rows[1].id) alone")
            let rest = try await server.list(query + [("$skip", "1")])
            server.expect(rest.ids == [rows[3].id], rest.response, "the row \(rows[3].id) alone")
        },
        rule(
            "tombstone.pulled",
            .both,
            "A pull from an instant before the deletion finds the deleted row, with its new updatedAt.",
            in: "datasync-protocol 1.9, 7.7, 8",
            for: .softDelete,
            "Makes rows until updatedAt has risen, deletes the first, and asks for what changed since the last."
        ) { server in
            let rows = try await server.stampedRows(2)
            try await server.delete(rows[0])
            let filter = server.among(rows, "updatedAt ge \(server.speaks.instant(rows[1].updatedAt))")
            let query = [("$filter", filter), ("$orderby", "updatedAt")]
            let pulled = try await server.list(query + [server.speaks.includeDeleted])
            let found = pulled.rows.first { $0.id == rows[0].id }
            server.expect(found?.isDeleted == true, pulled.response, "the row \(rows[0].id), deleted")
            let without = try await server.list(query)
            server.expect(!without.ids.contains(rows[0].id), without.response, "no deleted row without the parameter")
        },
        rule(
            "tombstone.restored",
            .both,
            "A pull finds a row that was brought back.",
            in: "datasync-protocol 1.5, 7.7",
            for: .softDelete,
            "Deletes a row, makes another one, brings the first back, and asks for what changed since the other."
        ) { server in
            let row = try await server.insert()
            try await server.delete(row)
            let other = try await server.stampedRows(2)[1]
            try server.require(try await server.restore(row), 200, 201)
            let filter = server.among([row, other], "updatedAt ge \(server.speaks.instant(other.updatedAt))")
            let page = try await server.list([("$filter", filter), server.speaks.includeDeleted])
            let found = page.rows.first { $0.id == row.id }
            server.expect(found?.isDeleted == false, page.response, "the row \(row.id), not deleted")
        },
    ]
}

extension ServerTrial {
    /// Two rows, the second of them deleted, and what the deletion answered.
    fileprivate func liveAndDeleted() async throws -> (rows: (ServerRow, ServerRow), response: ServerResponse) {
        let rows = (try await insert(), try await insert())
        let response = try await send("DELETE", rows.1.id)
        try require(response, 200, 204)
        return (rows, response)
    }

    /// Four rows with different stamps, earliest first, as they are at last: the third of them deleted, the last changed
    /// after that.
    fileprivate func rowsWithTombstone() async throws -> [ServerRow] {
        // The fifth is later than the fourth, and what is done to the others is no earlier than that.
        let rows = try await stampedRows(5)
        let tombstone = try await tombstone(of: rows[1])
        var changed = rows[0]
        for _ in StampAttempts(40) {
            let response = try await update(rows[0])
            try require(response, 200)
            changed = try row(of: response)
            if changed.stamp > tombstone.stamp { break }
        }
        guard rows[3].stamp < tombstone.stamp, tombstone.stamp < changed.stamp else {
            trial.report(
                "changes of rows, one after the other",
                expected: "different updatedAt, rising",
                got: "\([rows[3], tombstone, changed].map(\.updatedAt))"
            )
            throw Stopped()
        }
        return [rows[2], rows[3], tombstone, changed]
    }

    /// A filter that lets through some rows, without parentheses.
    fileprivate func either(_ rows: [ServerRow]) -> String {
        rows.map { "id eq '\($0.id)'" }.joined(separator: " or ")
    }
}
