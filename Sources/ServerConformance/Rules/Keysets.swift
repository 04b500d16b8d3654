internal import ConformanceRunner

// What clients ask that go on from the last row they have.
extension ServerRules {
    static let keysets: [Entry] = [
        rule(
            "query.id-order",
            .both,
            "gt, ge, lt and le compare ids in their order, so that clients can go on behind an id; updatedAt is never null.",
            in: "datasync-protocol 1.9, 7.2; datasync-genuine III 2, II 6; node-server-protocol2, Query",
            "Makes four rows whose ids differ in the last digit, asks with each by every id, in pieces of two behind the last"
                + " id, within each millisecond behind the id before, and for those whose updatedAt is null."
        ) { server in
            let rows = try await server.rowsOfOneStem()
            for (index, row) in rows.enumerated() {
                for (condition, found) in [
                    ("gt", rows[(index + 1)...]), ("ge", rows[index...]), ("lt", rows[..<index]),
                    ("le", rows[...index]),
                ] { try await server.expectOnly(found, of: rows, "id \(condition) '\(row.id)'") }
                guard index > 0, let instant = Instant(reading: row.updatedAt) else { continue }
                let window = server.millisecond(from: instant)
                let found = rows[index...].filter { $0.stamp == instant }
                try await server.expectOnly(found[...], of: rows, "\(window) and id gt '\(rows[index - 1].id)'")
            }
            try await server.expectOnly([], of: rows, "updatedAt eq null")
            try await server.expectPiecesByID(rows)
        },
        rule(
            "query.id-order-case",
            .both,
            "Conditions on ids and their order agree on upper and lower case: who goes on behind an id misses no row.",
            in: "datasync-protocol 1.9, 7.2; node-server-protocol2, Query",
            "Makes rows whose ids end in a, B, c and D, and asks for pieces of two behind the last id in the server's own order."
        ) { server in
            let rows = try await server.rowsOfOneStem(["-a", "-B", "-c", "-D"])
            let listed = try await server.list([("$filter", server.among(rows)), ("$orderby", "id")])
            server.expect(Set(listed.ids) == Set(rows.map(\.id)), listed.response, "these four rows")
            try await server.expectPiecesByID(listed.rows)
        },
    ]
}

extension ServerTrial {
    /// Four rows in the order of their ids, in which every collation agrees.
    fileprivate func rowsOfOneStem(_ ends: [String] = ["-1", "-2", "-3", "-4"]) async throws -> [ServerRow] {
        let stem = newID()
        var rows: [ServerRow] = []
        for end in ends {
            note(stem + end)
            rows.append(try await insert(id: stem + end))
        }
        return rows
    }

    /// The condition that `updatedAt` is within the millisecond that an instant begins.
    fileprivate func millisecond(from start: Instant) -> String {
        let end = Instant(milliseconds: start.milliseconds + 1)
        return "updatedAt ge \(speaks.instant(start.text)) and updatedAt lt \(speaks.instant(end.text))"
    }

    /// Reports a condition that does not find some of these rows and no other.
    fileprivate func expectOnly(_ found: ArraySlice<ServerRow>, of rows: [ServerRow], _ condition: String) async throws
    {
        let page = try await list([("$filter", among(rows, condition))])
        let wanted = Set(found.map(\.id))
        expect(Set(page.ids) == wanted, page.response, wanted.isEmpty ? "no row" : "\(brief(wanted.sorted())) alone")
    }

    /// Reports when pieces of two rows, each behind the last id of the one before, are not all rows in order.
    fileprivate func expectPiecesByID(_ rows: [ServerRow]) async throws {
        var got: [String] = []
        for _ in 0...rows.count {
            let filter = among(rows, got.last.map { "id gt '\($0)'" })
            let piece = try await list([("$filter", filter), ("$orderby", "id"), top(2)])
            if piece.rows.isEmpty { break }
            got += piece.ids
        }
        trial.expect(got, equals: rows.map(\.id), "GET …?$filter=… and id gt …&$orderby=id&$top=2 until none is left")
    }
}
