internal import ConformanceRunner

extension ServerRules {
    static let dates: [Entry] = [
        rule(
            "date.form",
            .both,
            "Stamps are UTC with exactly three digits and Z: 2026-01-02T03:04:05.678Z.",
            in: "datasync-protocol 1.3; node-server-protocol2, Dates",
            "Creates and updates a row and looks at updatedAt, and createdAt in protocol 2."
        ) { server in
            let row = try await server.insert()
            let changed = try server.row(of: try await server.update(row))
            for row in [row, changed] {
                server.expectStampForm(row, "updatedAt")
                // That it is there is another rule's.
                if row["createdAt"] ?? .null != .null { server.expectStampForm(row, "createdAt") }
            }
        },
        rule(
            "date.milliseconds",
            .both,
            "Stamps tell milliseconds apart; they are not whole seconds with zeros after them.",
            in: "datasync-protocol 1.3, 7.1; node-server-protocol2, Dates",
            "Creates rows and looks for an updatedAt that is not a whole hundredth of a second."
        ) { server in
            var rows: [ServerRow] = []
            func hasMilliseconds() -> Bool { rows.contains { $0.stamp.milliseconds % 10 != 0 } }
            for attempt in StampAttempts(20) {
                rows.append(try await server.insert())
                if attempt >= 20, hasMilliseconds() { break }
            }
            server.trial.expect(
                hasMilliseconds(),
                "\(rows.count) inserts, one after the other",
                expected: "an updatedAt that is not a whole hundredth of a second",
                got: brief(rows.map(\.updatedAt))
            )
        },
        rule(
            "date.created-with",
            .protocol2,
            "updatedAt equals createdAt after an insert.",
            in: "node-server-protocol2, Dates",
            for: .nobody,
            "Creates a row and holds the two against each other."
        ) { server in
            let row = try await server.insert()
            server.trial.expect(row["createdAt"] ?? .null, equals: .string(row.updatedAt), "'createdAt' of a new row")
        },
        rule(
            "date.near-now",
            .both,
            "updatedAt is the server's time.",
            in: "datasync-protocol 1.3, 6.1 #1",
            for: .nobody,
            "Creates a row and holds updatedAt against the Date of the answer."
        ) { server in
            let response = try await server.send("POST", nil, server.item(server.newID()))
            try server.require(response, 201)
            let row = try server.row(of: response)
            guard let date = response["Date"], let stamp = Instant(reading: row.updatedAt) else {
                throw Unsupported("the answer has no Date")
            }
            let near = (-300...300).map { Instant(milliseconds: stamp.milliseconds + $0 * 1_000).httpDate }
            server.expect(near.contains(date), response, "an updatedAt within 5 minutes of the Date \(date)")
        },
        rule(
            "date.filter",
            .both,
            "Conditions compare updatedAt as an instant: ge and lt part the rows at any millisecond; gt, le and eq do as far as"
                + " other milliseconds go, and may take a row's own stamp for finer than it is shown.",
            in: "datasync-protocol 1.9, 7.1; datasync-genuine II 9; node-server-protocol2, Dates",
            "Makes three rows with different stamps, and asks for rows by each stamp with ge, lt, gt, le and eq."
        ) { server in
            let rows = try await server.stampedRows(3)
            for row in rows {
                let literal = server.speaks.instant(row.updatedAt)
                try await server.expectParted(rows, literal, row.stamp)
                try await server.expectNearlyParted(rows, literal, row.stamp)
            }
        },
        rule(
            "date.filter-exact",
            .both,
            "Stamps are kept in milliseconds, so that gt leaves out and eq finds a row by its own.",
            in: "datasync-protocol 7.1; node-server-protocol2, Dates",
            for: .nobody,
            "Makes four rows with different stamps, and asks with gt and eq for that of each but the last."
        ) { server in
            // Of several: the finer stamp of one may happen to lie on a millisecond.
            let rows = try await server.stampedRows(4)
            for (index, row) in rows.dropLast().enumerated() {
                let literal = server.speaks.instant(row.updatedAt)
                let later = rows[(index + 1)...].map(\.id)
                for (condition, found) in [("gt", Set(later)), ("eq", [row.id])] {
                    let filter = server.among(rows, "updatedAt \(condition) \(literal)")
                    let page = try await server.list([("$filter", filter)])
                    let rows = found.count == 1 ? "a row" : "\(found.count) rows"
                    server.expect(Set(page.ids) == found, page.response, "\(rows) alone")
                }
            }
        },
        rule(
            "date.cast",
            .protocol3,
            "cast(…,Edm.DateTimeOffset) takes Z, an offset of zero and other offsets, and no digits of seconds to seven.",
            in: "datasync-protocol 1.9, 6.5 #33",
            "Asks for rows from an instant on, in every form; an offset that is refused is noted."
        ) { server in try await server.expectForms { "cast(\($0),Edm.DateTimeOffset)" } },
        rule(
            "date.bare",
            .protocol3,
            "A bare instant is a literal as well.",
            in: "datasync-protocol 1.9",
            "Asks for rows from an instant on, in every form; an offset that is refused is noted."
        ) { server in try await server.expectForms { $0 } },
        rule(
            "date.datetimeoffset",
            .protocol2,
            "datetimeoffset'…' takes Z, an offset of zero and other offsets, no fraction, and 3, 6 or 7 digits.",
            in: "node-server-protocol2, Dates, exchanges 188 to 195",
            "Asks for rows from an instant on, in every form; an offset that is refused is noted."
        ) { server in try await server.expectForms { "datetimeoffset'\($0)'" } },
        rule(
            "date.datetime",
            .protocol2,
            "datetime'…Z' works as well.",
            in: "node-server-protocol2, exchange 194",
            "Asks for rows from an instant on."
        ) { server in
            let rows = try await server.stampedRows(2)
            try await server.expectParted(rows, "datetime'\(rows[1].stamp.text)'", rows[1].stamp)
        },
        rule(
            "date.bad-literal",
            .both,
            "An instant that is none is refused.",
            in: "datasync-protocol 1.9; node-server-protocol2, exchange 199",
            "Asks for rows from 'xyz' on, in Datasync also from the thirteenth month on."
        ) { server in
            try await server.insert()
            for text in server.speaks == .datasync ? ["xyz", "2026-13-45T25:61:61.000Z"] : ["xyz"] {
                let filter = "updatedAt ge \(server.speaks.instant(text))"
                let response = try await server.send("GET", query: [("$filter", filter)])
                server.expect(response.isRefusal, response, "a refusal")
            }
        },
        rule(
            "date.kept",
            .both,
            "Instants come back in the same form, to the millisecond.",
            in: "datasync-protocol 1.4, 6.1 #6; node-server-protocol2, Dates",
            for: .column(.date),
            "Creates rows with instants of 1900 to 2100, at ends of milliseconds, days and leap years."
        ) { server in
            for text in [
                "1900-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z", "2000-02-29T12:00:00.001Z",
                "2024-12-31T23:59:59.999Z", "2026-07-08T09:10:11.123Z", "2100-03-01T00:00:00.500Z",
            ] { try await server.expectDate(text, text) }
        },
        rule(
            "date.to-utc",
            .both,
            "Instants with an offset come back in UTC.",
            in: "datasync-protocol 1.4; node-server-protocol2, exchanges 216 to 219",
            for: .column(.date),
            "Creates rows with instants of several offsets; an offset that is refused is noted."
        ) { server in
            for (sent, kept) in [
                ("2016-11-21T01:02:03.004+02:00", "2016-11-20T23:02:03.004Z"),
                ("2016-11-21T01:02:03.004-05:30", "2016-11-21T06:32:03.004Z"),
                ("2016-11-21T01:02:03Z", "2016-11-21T01:02:03.000Z"),
            ] { try await server.expectDate(sent, kept) }
        },
        rule(
            "date.cut",
            .both,
            "Digits after the millisecond are cut, not rounded.",
            in: "datasync-protocol 1.3, 1.4; node-server-protocol2, exchanges 216 to 219",
            for: .column(.date),
            "Creates rows with instants of four to seven digits."
        ) { server in
            for (sent, kept) in [
                ("2016-11-21T01:02:03.0049Z", "2016-11-21T01:02:03.004Z"),
                ("2016-11-21T01:02:03.999999Z", "2016-11-21T01:02:03.999Z"),
                ("2016-12-31T23:59:59.9999999Z", "2016-12-31T23:59:59.999Z"),
                ("1969-12-31T23:59:59.9996Z", "1969-12-31T23:59:59.999Z"),
            ] { try await server.expectDate(sent, kept) }
        },
        rule(
            "date.column-filter",
            .both,
            "Columns of instants are compared to the millisecond.",
            in: "datasync-protocol 1.9, 6.5 #33",
            for: .column(.date),
            "Makes three rows a millisecond apart and asks with eq, ne, gt, ge, lt and le for the second."
        ) { server in
            let column = try server.column(.date)
            var rows: [ServerRow] = []
            for text in ["2021-06-30T23:59:59.998Z", "2021-06-30T23:59:59.999Z", "2021-07-01T00:00:00.000Z"] {
                rows.append(try await server.insert([.date: .string(text)]))
            }
            let literal = server.speaks.instant("2021-06-30T23:59:59.999Z")
            for (condition, found) in [
                ("eq", [1]), ("ne", [0, 2]), ("gt", [2]), ("ge", [1, 2]), ("lt", [0]), ("le", [0, 1]),
            ] {
                let filter = server.among(rows, "\(column) \(condition) \(literal)")
                let page = try await server.list([("$filter", filter)])
                let wanted = Set(found.map { rows[$0].id })
                server.expect(
                    Set(page.ids) == wanted,
                    page.response,
                    "the rows \(found) of \(rows.map { brief($0.json) })"
                )
            }
        },
        rule(
            "date.column-order",
            .both,
            "Columns of instants are ordered by time.",
            in: "datasync-protocol 1.9",
            for: .column(.date),
            "Makes three rows and orders them."
        ) { server in
            let column = try server.column(.date)
            var rows: [ServerRow] = []
            for text in ["2021-07-01T00:00:00.000Z", "1999-12-31T23:59:59.999Z", "2021-06-30T23:59:59.999Z"] {
                rows.append(try await server.insert([.date: .string(text)]))
            }
            let page = try await server.list([("$filter", server.among(rows)), ("$orderby", column)])
            server.expect(page.ids == [1, 2, 0].map { rows[$0].id }, page.response, "the rows by time")
        },
        rule(
            "date.unparsable",
            .both,
            "A text that is not an instant is a 4xx; the Node server stores null, Datasync servers may say 500.",
            in: "datasync-protocol 1.5; node-server-protocol2, exchange 220",
            for: .nobody,
            "Creates a row with such a text as instant."
        ) { server in
            _ = try server.column(.date)
            let response = try await server.send("POST", nil, server.item(server.newID(), [.date: "soon"]))
            server.expect((400...499).contains(response.status), response, "a 4xx")
        },
    ]
}

extension ServerTrial {
    /// Reports when `ge` and `lt` with a literal do not part rows at the instant that it means.
    ///
    /// That is exact even where a server keeps finer stamps than it shows: what it shows is cut.
    fileprivate func expectParted(
        _ rows: [ServerRow],
        _ literal: String,
        _ instant: Instant,
        mayBeRefused: Bool = false
    ) async throws {
        let after = Set(rows.filter { $0.stamp >= instant }.map(\.id))
        for (condition, wanted) in [("ge", after), ("lt", Set(rows.map(\.id)).subtracting(after))] {
            let filter = among(rows, "updatedAt \(condition) \(literal)")
            guard let got = try await foundIDs(filter, mayBeRefused: mayBeRefused) else { continue }
            trial.expect(
                got == wanted,
                "GET \(client.table)?$filter=\(filter)",
                expected: "\(wanted.count) of the rows with the stamps \(rows.map(\.updatedAt))",
                got: "\(got.count) rows"
            )
        }
    }

    /// Reports when `gt`, `le` and `eq` find rows of other milliseconds otherwise than they must.
    ///
    /// Of the rows that show the instant itself nothing is certain: their stamps may be later than what is shown.
    fileprivate func expectNearlyParted(_ rows: [ServerRow], _ literal: String, _ instant: Instant) async throws {
        let others = rows.filter { $0.stamp != instant }
        for (condition, wanted) in [
            ("gt", others.filter { $0.stamp > instant }), ("le", others.filter { $0.stamp < instant }), ("eq", []),
        ] {
            let filter = among(rows, "updatedAt \(condition) \(literal)")
            guard let got = try await foundIDs(filter, mayBeRefused: false) else { continue }
            trial.expect(
                got.intersection(others.map(\.id)) == Set(wanted.map(\.id)),
                "GET \(client.table)?$filter=\(filter)",
                expected: "of other milliseconds the rows with the stamps \(wanted.map(\.updatedAt))",
                got: "those with \(others.filter { got.contains($0.id) }.map(\.updatedAt))"
            )
        }
    }

    /// Asks for rows by an instant in every form that a literal may have.
    fileprivate func expectForms(_ literal: (String) -> String) async throws {
        let rows = try await stampedRows(3)
        let instant = rows[1].stamp
        let text = instant.text
        let fraction = String(text.dropLast().suffix(4))
        let second = Instant(milliseconds: instant.seconds * 1_000)
        for (form, meant) in [
            (instant.text(fraction: fraction, zone: "Z"), instant),
            (instant.text(fraction: fraction, zone: "+00:00"), instant),
            (instant.text(fraction: fraction, zone: "+02:00", minutes: 120), instant),
            (instant.text(fraction: fraction, zone: "-05:30", minutes: -330), instant),
            (instant.text(fraction: fraction + "000", zone: "Z"), instant),
            (instant.text(fraction: fraction + "0000", zone: "+00:00"), instant),
            (second.text(fraction: "", zone: "Z"), second),
            (second.text(fraction: "", zone: "+00:00"), second),
        ] {
            let hasOffset = form.hasSuffix("+02:00") || form.hasSuffix("-05:30")
            try await expectParted(rows, literal(form), meant, mayBeRefused: hasOffset)
        }
    }

    fileprivate func expectDate(_ sent: String, _ kept: String) async throws {
        let column = try column(.date)
        let response = try await send("POST", nil, item(newID(), [.date: .string(sent)]))
        if !sent.hasSuffix("Z"), noteUntranslated(response) { return }
        try require(response, 201)
        let row = try row(of: response)
        for (shown, steps) in [(row[column], "POST"), (try await read(row.id)?[column], "POST; GET")] {
            let input = "\(steps) with '\(column)': \(sent)"
            let text = shown?.string ?? "\(shown ?? .null)"
            guard Instant(reading: text) == Instant(reading: kept) else {
                trial.report(input, expected: kept, got: text)
                continue
            }
            expectForm(text, kept, input)
        }
    }

    fileprivate func expectStampForm(_ row: ServerRow, _ name: String) {
        let text = row[name]?.string ?? "none"
        expectForm(text, "YYYY-MM-DDThh:mm:ss.mmmZ", "'\(name)' of a row")
    }

    /// Reports an instant in another form; notes one with an offset of zero for the Z, or without a zone.
    private func expectForm(_ text: String, _ expected: String, _ input: String) {
        if Instant(text) != nil { return }
        let hasOffset = text.hasSuffix("+00:00") && Instant(text.dropLast(6) + "Z") != nil
        let hasNoZone = !text.hasSuffix("Z") && Instant(reading: text + "Z") != nil
        guard hasOffset || hasNoZone else { return trial.report(input, expected: expected, got: text) }
        let remark =
            hasOffset
            ? "an offset of zero for the Z means the same; clients must read both"
            : "an instant without a zone is UTC; clients must not read it as local time"
        trial.note(input, expected: expected, got: text, remark: remark)
    }
}
