internal import ConformanceRunner

extension ServerRules {
    static let ordering: [Entry] = [
        rule(
            "order.ascending",
            .both,
            "$orderby puts rows into the order of a column, ascending unless it says desc.",
            in: "datasync-protocol 1.9, 6.5 #36",
            for: .column(.number),
            "Orders six rows by numbers, with and without asc."
        ) { server in
            let world = try await server.world()
            for order in ["{number}", "{number} asc"] {
                try await server.expectOrder(order, [2, 5, 0, 1, 4, 3], world, tied: [1, 4])
            }
        },
        rule(
            "order.descending",
            .both,
            "$orderby puts rows into the order of a column, ascending unless it says desc.",
            in: "datasync-protocol 1.9, 6.5 #36",
            for: .column(.number),
            "Orders six rows by numbers with desc."
        ) { server in
            try await server.expectOrder("{number} desc", [3, 1, 4, 0, 5, 2], try await server.world(), tied: [1, 4])
        },
        rule(
            "order.text",
            .both,
            "$orderby puts rows into the order of a column, ascending unless it says desc.",
            in: "datasync-protocol 1.9, 6.5 #36",
            for: .column(.text),
            "Orders six rows by texts in lower case, both ways."
        ) { server in
            var rows: [ServerRow] = []
            for text in ["delta", "alpha", "echo", "bravo", "charlie"] {
                rows.append(try await server.insert([.text: .string(text)]))
            }
            let world = FilterWorld(rows: rows)
            try await server.expectOrder("{text}", [1, 3, 4, 0, 2], world)
            try await server.expectOrder("{text} desc", [2, 0, 4, 3, 1], world)
        },
        rule(
            "order.several",
            .both,
            "With several columns the later ones decide between rows that are equal so far.",
            in: "datasync-protocol 1.9, 6.5 #36",
            for: .column(.boolean),
            "Orders six rows by truth value and number, and by number and text."
        ) { server in
            let world = try await server.world()
            try await server.expectOrder("{boolean},{number}", [5, 1, 3, 2, 0, 4], world)
            try await server.expectOrder("{boolean} desc,{number} desc", [4, 0, 2, 3, 1, 5], world)
            try await server.expectOrder("{number},{text} desc", [2, 5, 0, 4, 1, 3], world)
        },
        rule(
            "order.ties-by-id",
            .protocol3,
            "Every order is made stable by the id, ascending.",
            in: "datasync-protocol 1.5, 6.5 #36",
            "Orders six rows by deleted, which all have alike, both ways."
        ) { server in
            let world = try await server.world()
            let byID = world.rows.indices.sorted { world.rows[$0].id.precedes(world.rows[$1].id) }
            try await server.expectOrder("deleted", byID, world)
            try await server.expectOrder("deleted desc", byID, world)
        },
        rule(
            "order.default",
            .protocol3,
            "Without $orderby rows come by id.",
            in: "datasync-protocol 1.5, 6.5 #27",
            "Asks for six rows without an order."
        ) { server in
            let world = try await server.world()
            let byID = world.rows.indices.sorted { world.rows[$0].id.precedes(world.rows[$1].id) }
            try await server.expectOrder(nil, byID, world)
        },
        rule(
            "order.by-updated-at",
            .both,
            "Rows can be ordered by updatedAt, as pulls do.",
            in: "datasync-protocol 1.9",
            "Orders three rows with different stamps by updatedAt, both ways."
        ) { server in
            let rows = try await server.stampedRows(3)
            let world = FilterWorld(rows: rows)
            try await server.expectOrder("updatedAt", [0, 1, 2], world)
            try await server.expectOrder("updatedAt desc", [2, 1, 0], world)
        },
        rule(
            "order.broken",
            .protocol3,
            "A bad direction word is a 400.",
            in: "datasync-protocol 1.9, 6.5 #39",
            "Orders by 'updatedAt fizz'."
        ) { server in
            try await server.insert()
            server.expect(try await server.send("GET", query: [("$orderby", "updatedAt fizz")]), 400)
        },
        rule(
            "order.select",
            .both,
            "$select gives exactly the columns that are named; id is not forced in.",
            in: "datasync-protocol 1.9, 6.5 #37; node-server-protocol2, Query",
            for: .column(.text),
            "Asks for a row with one column, with two, and with a system column."
        ) { server in
            let text = try server.column(.text)
            let row = try await server.insert([.text: "selected"])
            for names in [[text], ["id", text], ["id", "version"]] {
                let query = [("$filter", server.among([row])), ("$select", names.joined(separator: ","))]
                let page = try await server.list(query)
                let wanted = JSON.object(Dictionary(names.map { ($0, row[$0] ?? .null) }) { $1 })
                server.expect(page.rows.map(\.json) == [wanted], page.response, "\(wanted)")
            }
        },
        rule(
            "order.select-broken",
            .protocol3,
            "A space for a comma in $select is a 400.",
            in: "datasync-protocol 1.9, 6.5 #39",
            "Selects 'id version'."
        ) { server in
            try await server.insert()
            server.expect(try await server.send("GET", query: [("$select", "id version")]), 400)
        },
        rule(
            "order.count",
            .both,
            "The count is the number of rows that match, whatever $top and $skip say.",
            in: "datasync-protocol 1.8, 6.5 #28; node-server-protocol2, Query",
            "Counts six rows, with $top, with $skip, and with a filter that finds fewer."
        ) { server in
            let world = try await server.world()
            let all = server.among(world.rows)
            for (filter, options, count) in [
                (all, [], 6), (all, [server.top(2)], 6), (all, [("$skip", "4")], 6),
                (server.among(world.rows, "id ne '\(world.rows[0].id)'"), [], 5),
                (server.among(world.rows, "id eq 'nothing'"), [], 0),
            ] as [(String, [(String, String)], Double)] {
                let page = try await server.list([("$filter", filter), server.speaks.countOption] + options)
                server.expect(page.count == count, page.response, "the count \(Int(count))")
            }
        },
        rule(
            "order.count-alone",
            .protocol3,
            "$top=0 with $count=true gives the count alone.",
            in: "datasync-protocol 1.8",
            "Counts six rows with $top=0."
        ) { server in
            let world = try await server.world()
            let query = [("$filter", server.among(world.rows)), ("$top", "0"), server.speaks.countOption]
            let page = try await server.firstPage(query)
            server.expect(page.count == 6, page.response, "the count 6")
            server.expect(page.rows.isEmpty && page.next == nil, page.response, "no row and no next page")
        },
        rule(
            "order.count-rows",
            .both,
            "A page with a count has its rows as well.",
            in: "datasync-protocol 1.8; node-server-protocol2, Query",
            "Counts six rows with no option and with $top=2."
        ) { server in
            let world = try await server.world()
            for (options, rows) in [([], 6), ([server.top(2)], server.profile.top(2))] as [([(String, String)], Int)] {
                let query = [("$filter", server.among(world.rows)), server.speaks.countOption] + options
                let page = try await server.list(query)
                server.expect(page.rows.count == rows, page.response, "\(rows) rows")
            }
        },
        rule(
            "order.no-count",
            .both,
            "Without the option there is no count.",
            in: "datasync-protocol 1.8; node-server-protocol2, Query",
            "Asks for a page without the option."
        ) { server in
            let page = try await server.list([("$filter", server.among([try await server.insert()]))])
            server.expect(page.count == nil, page.response, "no count")
        },
        rule(
            "order.count-false",
            .protocol3,
            "$count=false gives no count; genuine servers count all the same.",
            in: "datasync-protocol 1.8, 8",
            for: .nobody,
            "Asks for a page with $count=false."
        ) { server in
            let page = try await server.list([
                ("$filter", server.among([try await server.insert()])), ("$count", "false"),
            ])
            server.expect(page.count == nil, page.response, "no count")
        },
    ]
}

extension ServerTrial {
    /// Reports when an order gives the rows otherwise than by the given numbers.
    ///
    /// Which of some tied rows comes first is left open.
    fileprivate func expectOrder(
        _ order: String?,
        _ expected: [Int],
        _ world: FilterWorld,
        tied: Set<Int> = []
    ) async throws {
        var query = [("$filter", among(world.rows))]
        if let order { query.append(("$orderby", try named(order))) }
        let page = try await list(query)
        let got = page.rows.map { row in world.rows.firstIndex(of: row) ?? -1 }
        let isRight =
            got.count == expected.count && Set(got) == Set(expected)
            && zip(got, expected).allSatisfy { $0 == $1 || tied.isSuperset(of: [$0, $1]) }
        expect(isRight, page.response, "the rows in the order \(brief(expected.map { world.rows[$0].json }))")
    }

    /// Makes rows whose `updatedAt` are all different, earliest first.
    func stampedRows(_ count: Int) async throws -> [ServerRow] {
        var rows: [ServerRow] = []
        var made = 0
        for attempt in StampAttempts(20 * count) {
            made = attempt
            let row = try await insert()
            if rows.last.map({ row.stamp > $0.stamp }) ?? true { rows.append(row) }
            if rows.count == count { break }
        }
        guard rows.count == count else {
            trial.report(
                "\(made) inserts, one after the other",
                expected: "at least \(count) different updatedAt, rising",
                got: "\(rows.map(\.updatedAt))"
            )
            throw Stopped()
        }
        return rows
    }
}

extension String {
    /// Whether this text comes before another by its bytes, as ids are ordered.
    func precedes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
