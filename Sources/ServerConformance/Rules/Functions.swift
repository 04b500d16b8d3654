internal import ConformanceRunner

extension ServerRules {
    static let functions: [Entry] = [
        filterRule(
            "function.starts-ends",
            .protocol3,
            "startswith and endswith.",
            in: "datasync-protocol 1.9, 6.5 #32",
            for: .column(.text),
            mayBeRefused: true,
            [
                ("startswith({text},'cherry')", [2]), ("startswith({text},'pie')", []), ("endswith({text},'pie')", [2]),
                ("endswith({text},'e')", [0, 2]), ("not startswith({text},'apple')", [1, 2, 3, 4, 5]),
            ]
        ),
        filterRule(
            "function.contains",
            .protocol3,
            "contains looks for the second text in the first.",
            in: "datasync-protocol 1.9, 7.10",
            for: .column(.text),
            mayBeRefused: true,
            [("contains({text},'erry p')", [2]), ("contains({text},'x')", []), ("contains({text},'''')", [3])]
        ),
        rule(
            "function.wildcards",
            .protocol3,
            "What databases take for wildcards or escapes is a sign like any other in texts that are looked for.",
            in: "datasync-protocol 1.9; datasync-genuine II 6",
            for: .column(.text),
            "Asks for `50% _x`, `500 ax` and `a\\b` by eq and by functions, with `%`, `_` and `\\`; what the server refuses, as"
                + " its database cannot do it, is noted."
        ) { server in
            let column = try server.column(.text)
            var rows: [ServerRow] = []
            for text in ["50% _x", "500 ax", "a\\b"] { rows.append(try await server.insert([.text: .string(text)])) }
            for (filter, found) in [
                ("\(column) eq '50% _x'", [0]), ("\(column) eq 'a\\b'", [2]), ("contains(\(column),'_')", [0]),
                ("contains(\(column),'%')", [0]), ("contains(\(column),'\\')", [2]), ("contains(\(column),'0_')", []),
                ("startswith(\(column),'50%')", [0]), ("startswith(\(column),'a\\')", [2]),
                ("endswith(\(column),' _x')", [0]), ("endswith(\(column),'\\b')", [2]),
            ] {
                guard let ids = try await server.foundIDs(server.among(rows, filter), mayBeRefused: true) else {
                    continue
                }
                let got = rows.indices.filter { ids.contains(rows[$0].id) }
                server.trial.expect(
                    got == found,
                    "GET \(server.client.table)?$filter=\(filter)",
                    expected: brief(found.map { rows[$0].json }),
                    got: brief(got.map { rows[$0].json })
                )
            }
        },
        filterRule(
            "function.case",
            .both,
            "tolower and toupper.",
            in: "datasync-protocol 1.9, 6.5 #32; node-server-protocol2, Query",
            for: .column(.text),
            mayBeRefused: true,
            [
                ("tolower({text}) eq 'banana'", [1]), ("toupper({text}) eq 'CHERRY PIE'", [2]),
                ("tolower({text}) eq tolower('ELDER')", [4]),
            ]
        ),
        filterRule(
            "function.trim-concat",
            .both,
            "trim takes spaces off both ends, concat joins.",
            in: "datasync-protocol 1.9; node-server-protocol2, Query",
            for: .column(.text),
            mayBeRefused: true,
            [
                ("trim(concat(concat('  ',{text}),'  ')) eq 'fig'", [5]), ("concat({text},'!') eq 'apple!'", [0]),
            ]
        ),
        filterRule(
            "function.index",
            .both,
            "indexof gives the place of the second text in the first, counted from 0; less than 0 for none.",
            in: "datasync-protocol 1.9; node-server-protocol2, Query",
            for: .column(.text),
            mayBeRefused: true,
            [
                ("indexof({text},'pie') eq 7", [2]), ("indexof({text},'fi') eq 0", [5]),
                ("indexof({text},'zz') ge 0", []),
            ]
        ),
        filterRule(
            "function.substring",
            .both,
            "substring with a start, counted from 0, and a length.",
            in: "datasync-protocol 1.9; node-server-protocol2, Query",
            for: .column(.text),
            mayBeRefused: true,
            [("substring({text},0,3) eq 'app'", [0]), ("substring({text},7,2) eq 'pi'", [2])]
        ),
        filterRule(
            "function.length",
            .protocol3,
            "length counts the signs of a text; substring without a length takes the rest.",
            in: "datasync-protocol 1.9",
            for: .column(.text),
            mayBeRefused: true,
            [
                ("length({text}) eq 3", [5]), ("length({text}) gt 6", [2]), ("substring({text},1) eq 'pple'", [0]),
            ]
        ),
        filterRule(
            "function.replace",
            .protocol2,
            "replace puts the third text for the second.",
            in: "node-server-protocol2, Query",
            for: .column(.text),
            mayBeRefused: true,
            [("replace({text},'pp','bb') eq 'abble'", [0])]
        ),
        rule(
            "function.rounding",
            .both,
            "floor, ceiling and round.",
            in: "datasync-protocol 1.9, 6.5 #32; node-server-protocol2, Query",
            for: .fractions,
            "Asks for 2.5, 0.25 and 3 by each; what the server refuses, as its database cannot do it, is noted."
        ) { server in
            try await server.expectFractionsFound(
                [
                    ("floor({number}) eq 2", [0]), ("ceiling({number}) eq 3", [0, 2]),
                    ("round({number} add 0.25) eq 3", [0, 2]),
                ],
                mayBeRefused: true
            )
        },
        filterRule(
            "function.text-informative",
            .protocol2,
            "startswith, endswith and substringof; the Node server's sqlite finds nothing by them.",
            in: "node-server-protocol2, Where sqlite is not a fair judge",
            for: .nobody,
            [
                ("startswith({text},'cherry')", [2]), ("endswith({text},'pie')", [2]),
                ("substringof('erry',{text})", [2]),
            ]
        ),
        filterRule(
            "function.length-informative",
            .protocol2,
            "length and substring without a length; the Node server's sqlite does not know them.",
            in: "node-server-protocol2, Where sqlite is not a fair judge",
            for: .nobody,
            [("length({text}) eq 3", [5]), ("substring({text},1) eq 'pple'", [0])]
        ),
        filterRule(
            "function.nested",
            .both,
            "Functions may stand in functions and in arithmetic.",
            in: "datasync-protocol 1.9",
            for: .column(.text),
            mayBeRefused: true,
            [
                ("indexof(tolower({text}),'nana') add 1 eq 3", [1]),
                ("substring(toupper({text}),0,1) eq 'F'", [5]),
            ]
        ),
        rule(
            "function.date-parts",
            .protocol3,
            "year, month, day, hour, minute and second of an instant, in UTC.",
            in: "datasync-protocol 1.9, 6.5 #32",
            for: .column(.date),
            "Makes a row with an instant of other parts in most zones, and asks for it by each; what is refused is noted."
        ) { server in
            let column = try server.column(.date)
            let row = try await server.insert([.date: "2021-12-31T23:58:57.123Z"])
            for (name, value) in [
                ("year", 2021), ("month", 12), ("day", 31), ("hour", 23), ("minute", 58), ("second", 57),
            ] {
                for (wanted, found) in [(value, [row.id]), (value + 1, [])] {
                    let filter = "\(name)(\(column)) eq \(wanted)"
                    let response = try await server.send("GET", query: [("$filter", server.among([row], filter))])
                    if server.noteUntranslated(response) { continue }
                    let page = try server.page(of: response)
                    server.expect(page.ids == found, page.response, found.isEmpty ? "no row" : "the row")
                }
            }
        },
    ]
}
