internal import ConformanceRunner

extension ServerRules {
    /// A rule that asks filters of the rows in ``FilterWorld``.
    static func filterRule(
        _ id: String,
        _ protocols: Set<ServerProtocol>,
        _ sentence: String,
        in source: String,
        for need: Need = .everyone,
        mayBeRefused: Bool = false,
        _ cases: [(filter: String, found: [Int])]
    ) -> Entry {
        let names = cases.map { "`\($0.filter)`" }.joined(separator: ", ")
        let rest = mayBeRefused ? "; what the server refuses, as its database cannot do it, is noted" : ""
        return rule(id, protocols, sentence, in: source, for: need, "Asks six rows: \(names)\(rest).") { server in
            try await server.expectFound(cases, in: try await server.world(), mayBeRefused: mayBeRefused)
        }
    }

    static let queries: [Entry] = [
        filterRule(
            "query.equal-text",
            .both,
            "eq and ne compare texts.",
            in: "datasync-protocol 1.9, 6.5 #31",
            for: .column(.text),
            [("{text} eq 'elder'", [4]), ("{text} ne 'elder'", [0, 1, 2, 3, 5]), ("{text} eq 'nothing'", [])]
        ),
        filterRule(
            "query.compare-text",
            .both,
            "gt, ge, lt and le compare texts in their order.",
            in: "datasync-protocol 1.9, 6.5 #31; node-server-protocol2, Query",
            for: .column(.text),
            [
                ("{text} gt 'cherry pie'", [3, 4, 5]), ("{text} ge 'cherry pie'", [2, 3, 4, 5]),
                ("{text} lt 'cherry pie'", [0, 1]), ("{text} le 'cherry pie'", [0, 1, 2]),
            ]
        ),
        filterRule(
            "query.compare-number",
            .both,
            "eq, ne, gt, ge, lt and le compare numbers.",
            in: "datasync-protocol 1.9, 6.5 #31",
            for: .column(.number),
            [
                ("{number} eq 4", [1, 4]), ("{number} ne 4", [0, 2, 3, 5]), ("{number} gt 4", [3]),
                ("{number} ge 4", [1, 3, 4]), ("{number} lt 1", [2, 5]), ("{number} le 1", [0, 2, 5]),
            ]
        ),
        filterRule(
            "query.negative-number",
            .protocol3,
            "Numbers in filters may be negative.",
            in: "datasync-protocol 1.9",
            for: .column(.number),
            [("{number} eq -3", [2]), ("{number} gt -3", [0, 1, 3, 4, 5]), ("{number} lt -2", [2])]
        ),
        filterRule(
            "query.negative-number-informative",
            .protocol2,
            "Numbers in filters may be negative; that was not observed on a genuine server.",
            in: "node-server-protocol2, Query",
            for: .nobody,
            [("{number} eq -3", [2])]
        ),
        filterRule(
            "query.boolean",
            .both,
            "Truth values are compared with true and false.",
            in: "datasync-protocol 1.9",
            for: .column(.boolean),
            [
                ("{boolean} eq true", [0, 2, 4]), ("{boolean} eq false", [1, 3, 5]), ("{boolean} ne true", [1, 3, 5]),
            ]
        ),
        filterRule(
            "query.and-or-not",
            .both,
            "and, or and not combine conditions; and binds closer than or.",
            in: "datasync-protocol 1.9, 6.5 #31",
            for: .column(.number),
            [
                ("({number} gt 0) and ({text} ne 'fig')", [0, 1, 3, 4]),
                ("({number} eq 0) or ({text} eq 'apple')", [0, 5]),
                ("not({number} gt 0)", [2, 5]), ("{text} eq 'fig' or {text} eq 'elder' and {number} gt 5", [5]),
                ("({text} eq 'fig' or {text} eq 'elder') and {number} gt 5", []),
                ("{number} gt 5 and {text} eq 'fig' or {text} eq 'elder'", [4]),
                ("not({text} eq 'fig' or {text} eq 'elder')", [0, 1, 2, 3]),
            ]
        ),
        filterRule(
            "query.arithmetic",
            .both,
            "add, sub, mul and div compute.",
            in: "datasync-protocol 1.9, 6.5 #31; node-server-protocol2, Query",
            for: .column(.number),
            [
                ("{number} add 1 eq 5", [1, 4]), ("{number} sub 1 eq 0", [0]), ("{number} mul 2 eq 20", [3]),
                ("{number} div 2 eq 5", [3]), ("({number} add 1) mul 2 eq 4", [0]),
            ]
        ),
        filterRule(
            "query.modulo",
            .protocol3,
            "mod gives the remainder.",
            in: "datasync-protocol 1.9",
            for: .column(.number),
            mayBeRefused: true,
            [("{number} mod 3 eq 1", [0, 1, 3, 4])]
        ),
        rule(
            "query.fraction",
            .both,
            "Numbers are compared with their fractions.",
            in: "datasync-protocol 1.9, 6.5 #31",
            for: .fractions,
            "Asks for 2.5, 0.25 and 3 by comparisons with fractions."
        ) { server in
            try await server.expectFractionsFound([
                ("{number} eq 2.5", [0]), ("{number} gt 0.25", [0, 2]), ("{number} lt 2.75", [0, 1]),
                ("{number} add 0.25 eq 2.75", [0]),
            ])
        },
        filterRule(
            "query.modulo-informative",
            .protocol2,
            "mod gives the remainder; not on the Node server's sqlite.",
            in: "node-server-protocol2, Where sqlite is not a fair judge",
            for: .nobody,
            [("{number} mod 3 eq 1", [0, 1, 3, 4])]
        ),
        filterRule(
            "query.in",
            .protocol3,
            "in takes a list, of texts or numbers.",
            in: "datasync-protocol 1.9, 6.5 #34",
            for: .column(.text),
            [
                ("{text} in ('apple','fig','nothing')", [0, 5]), ("{text} in ('date''s')", [3]),
                ("not({text} in ('apple','fig'))", [1, 2, 3, 4]),
            ]
        ),
        rule(
            "query.in-many",
            .protocol3,
            "A list may have many members: they do not count among the conditions that a filter may have.",
            in: "datasync-genuine I 1.9, II 6",
            "Makes two rows and asks for their ids in lists of 50 and of 120 members, as the first and the last."
        ) { server in
            let rows = [try await server.insert(), try await server.insert()]
            for count in [50, 120] {
                let ids = [rows[0].id] + (3...count).map { "none\($0)" } + [rows[1].id]
                let list = ids.map { "'\($0)'" }.joined(separator: ",")
                let page = try await server.list([("$filter", "id in (\(list))")])
                server.expect(
                    Set(page.ids) == Set(rows.map(\.id)) && page.ids.count == 2,
                    page.response,
                    "the two rows with the first and the last id of \(count)"
                )
            }
        },
        filterRule(
            "query.quotes",
            .both,
            "A quote within a literal is doubled.",
            in: "datasync-protocol 1.9; node-server-protocol2, Query",
            for: .column(.text),
            [("{text} eq 'date''s'", [3]), ("{text} ne 'date''s'", [0, 1, 2, 4, 5])]
        ),
        rule(
            "query.scripts",
            .both,
            "Literals may hold text in any script, and signs that addresses encode.",
            in: "node-server-protocol2, Query",
            for: .column(.text),
            "Makes rows with such texts and finds each by its own."
        ) { server in
            let column = try server.column(.text)
            for text in ["Ελλάδα", "日本語", "🏳️‍🌈", "a+b&c=d%20#e?", "e\u{301}", "x/y;z,(w)"] {
                let row = try await server.insert([.text: .string(text)])
                let page = try await server.list([("$filter", server.among([row], "\(column) eq '\(text)'"))])
                server.expect(page.ids == [row.id], page.response, "the row with the text '\(text)'")
            }
        },
        rule(
            "query.null",
            .both,
            "Null is compared with eq null and ne null, where a column may be null.",
            in: "datasync-protocol 1.9; node-server-protocol2, Query",
            for: .column(.text),
            "Makes a row with a text and one with null, and asks for both kinds."
        ) { server in
            let column = try server.column(.text)
            let full = try await server.insert()
            let made = try await server.send("POST", nil, server.item(server.newID(), [.text: .null]))
            guard made.status == 201, made.json?[column] == .null else {
                throw Unsupported("'\(column)' cannot be null on this server")
            }
            let empty = try server.row(of: made)
            for (condition, row) in [("eq null", empty), ("ne null", full)] {
                let page = try await server.list([("$filter", server.among([full, empty], "\(column) \(condition)"))])
                server.expect(page.ids == [row.id], page.response, "the row \(row.id) alone")
            }
        },
        rule(
            "query.null-unequal",
            .both,
            "A null is unequal to every text, so that ne finds it; SQL databases do otherwise.",
            in: "datasync-protocol 1.9",
            for: .nobody,
            "Makes a row with null and asks for rows whose text is not 'x'."
        ) { server in
            let column = try server.column(.text)
            let row = try await server.insert([.text: .null])
            let page = try await server.list([("$filter", server.among([row], "\(column) ne 'x'"))])
            server.expect(page.ids == [row.id], page.response, "the row")
        },
        filterRule(
            "query.text-case",
            .both,
            "Texts are compared with regard to case; many databases do otherwise.",
            in: "datasync-protocol 1.9",
            for: .nobody,
            [("{text} eq 'banana'", []), ("{text} eq 'Banana'", [1])]
        ),
        rule(
            "query.system-columns",
            .both,
            "Conditions may name id, version and deleted.",
            in: "datasync-protocol 1.9",
            "Asks for rows by each."
        ) { server in
            let rows = [try await server.insert(), try await server.insert()]
            for condition in ["id eq '\(rows[0].id)'", "id ne '\(rows[1].id)'"] {
                let page = try await server.list([("$filter", server.among(rows, condition))])
                server.expect(page.ids == [rows[0].id], page.response, "the row \(rows[0].id) alone")
            }
            let page = try await server.list([("$filter", server.among(rows, "deleted eq false"))])
            server.expect(Set(page.ids) == Set(rows.map(\.id)), page.response, "both rows")
        },
        rule(
            "query.names-in-any-case",
            .protocol3,
            "Names of options and properties count in any case.",
            in: "datasync-protocol 1.9",
            "Asks for a row with $FILTER and Id, $Top and $ORDERBY."
        ) { server in
            let row = try await server.insert()
            let query = [("$FILTER", "Id eq '\(row.id)'"), ("$Top", server.top(5).1), ("$ORDERBY", "UPDATEDAT")]
            let page = try await server.list(query)
            server.expect(page.ids == [row.id], page.response, "the row")
        },
        rule(
            "query.unknown-column",
            .protocol3,
            "An unknown property in $filter, $orderby or $select is a 400.",
            in: "datasync-protocol 1.9, 6.5 #39",
            "Asks with a random name in each."
        ) { server in
            try await server.insert()
            let name = "conform\(UInt32.random(in: 100_000_000 ... .max))"
            for query in [("$filter", "\(name) eq 1"), ("$orderby", name), ("$select", name)] {
                server.expect(try await server.send("GET", query: [query]), 400)
            }
        },
        rule(
            "query.broken-filter",
            .protocol3,
            "A filter that is none is a 400.",
            in: "datasync-protocol 1.9, 6.5 #39",
            "Asks with filters that break off or use signs as operators."
        ) { server in
            try await server.insert()
            for filter in Self.brokenFilters + ["(updatedAt - 1) ge 100", "deleted fizz true"] {
                server.expect(try await server.send("GET", query: [("$filter", filter)]), 400)
            }
        },
        rule(
            "query.broken-filter-refused",
            .protocol2,
            "A filter that is none is refused.",
            in: "node-server-protocol2, Query",
            "Asks with filters that break off."
        ) { server in
            for filter in Self.brokenFilters {
                let response = try await server.send("GET", query: [("$filter", filter)])
                server.expect(response.isRefusal, response, "a refusal")
            }
        },
        rule(
            "query.broken-filter-status",
            .protocol2,
            "A filter that is none is a 400; the Node server says 500.",
            in: "node-server-protocol2, Query",
            for: .nobody,
            "Asks with filters that break off."
        ) { server in
            for filter in Self.brokenFilters {
                server.expect(try await server.send("GET", query: [("$filter", filter)]), 400)
            }
        },
        rule(
            "query.random",
            .both,
            "and, or and not combine conditions; and binds closer than or.",
            in: "datasync-protocol 1.9, 6.5 #31",
            for: .column(.number),
            "Asks six rows 40 random filters of comparisons, and, or and not, with and without parentheses, and evaluates them itself."
        ) { server in
            _ = try server.column(.text)
            _ = try server.column(.boolean)
            let world = try await server.world()
            var random = server.trial.random()
            for _ in 0..<40 {
                let filter = RandomFilter(using: &random)
                let found = world.rows.indices.filter { filter.matches($0) }
                try await server.expectFound([(filter.text, found)], in: world)
            }
        },
        rule(
            "query.changed-row",
            .both,
            "Lists know a changed row at once as its answer has shown it: by its new updatedAt, its new text and its new place.",
            in: "datasync-protocol 1.5, 1.9, 7.2",
            for: .column(.text),
            "Makes rows until updatedAt has risen, changes the first, and asks for what changed since the last, and for both texts."
        ) { server in
            let text = try server.column(.text)
            let rows = try await server.stampedRows(2)
            let response = try await server.update(rows[0], [.text: "changed and listed"])
            try server.require(response, 200)
            let changed = try server.row(of: response)
            let since = server.among(rows, "updatedAt ge \(server.speaks.instant(rows[1].updatedAt))")
            let pulled = try await server.list([("$filter", since), ("$orderby", "updatedAt")])
            let found = pulled.rows.first { $0.id == changed.id }
            server.expect(
                found == changed,
                pulled.response,
                "the row as it was answered: \(changed.json)",
                after: response.request
            )
            if changed.stamp > rows[1].stamp {
                server.expect(pulled.ids.last == changed.id, pulled.response, "the row \(changed.id) last")
            }
            for (value, isFound) in [("changed and listed", true), (rows[0][text]?.string ?? "", false)] {
                let page = try await server.list([("$filter", server.among(rows, "\(text) eq '\(value)'"))])
                let words = isFound ? "the row \(changed.id)" : "no row \(changed.id), which has another text now"
                server.expect(page.ids.contains(changed.id) == isFound, page.response, words)
            }
        },
    ]

    private static let brokenFilters = ["id eq", "id eq 'x", "(id eq 'x'", "id eq 'x' and", "nofunction(id) eq 'x'"]
}
