internal import ConformanceRunner

extension ServerRules {
    static let paging: [Entry] = [
        rule(
            "page.shape",
            .protocol3,
            "A page is an object with items, count and nextLink; the latter two are written when they are null.",
            in: "datasync-protocol 1.4, 1.8",
            "Asks for a page with one row."
        ) { server in
            let response = try await server.send("GET", query: [("$filter", server.among([try await server.insert()]))])
            try server.require(response, 200)
            server.expect(response.json?["items"]?.array?.count == 1, response, "'items' with one row")
            for name in ["count", "nextLink"] {
                server.expect(response.json?[name] == .null, response, "'\(name)': null")
            }
        },
        rule(
            "page.array",
            .protocol2,
            "A page is a bare array; with $inlinecount=allpages it is an object with results and count.",
            in: "datasync-protocol 2.1; node-server-protocol2, Query",
            "Asks for a page with one row, with and without the count."
        ) { server in
            let filter = ("$filter", server.among([try await server.insert()]))
            let bare = try await server.send("GET", query: [filter])
            try server.require(bare, 200)
            server.expect(bare.json?.array?.count == 1, bare, "an array of one row")
            let counted = try await server.send("GET", query: [filter, server.speaks.countOption])
            try server.require(counted, 200)
            server.expect(counted.json?["results"]?.array?.count == 1, counted, "'results' with one row")
            server.expect(counted.json?["count"] == 1.0, counted, "'count': 1")
        },
        rule(
            "page.rows",
            .both,
            "The rows of a page are whole rows, as they are by id.",
            in: "datasync-protocol 1.5",
            "Asks for a row in a list and by id."
        ) { server in
            let row = try await server.insert([.text: "whole", .boolean: true, .number: 7.0])
            let page = try await server.list([("$filter", server.among([row]))])
            server.expect(page.rows == [row], page.response, "\(row.json)")
        },
        rule(
            "page.top",
            .both,
            "$top gives so many rows, the first ones of the order, and none with 0.",
            in: "datasync-protocol 1.8, 6.5 #29",
            "Asks for the first 7, 1 and 0 of \(PageRows.count) rows, or for as many as the server allows."
        ) { server in
            let rows = try await server.pageRows()
            for count in [server.profile.top(7), 1, 0] {
                let page = try await server.list([("$filter", rows.filter), ("$orderby", "id"), ("$top", "\(count)")])
                server.expect(page.ids == Array(rows.ids.prefix(count)), page.response, "the first \(count) rows by id")
            }
        },
        rule(
            "page.skip",
            .both,
            "$skip leaves out so many rows of the order.",
            in: "datasync-protocol 1.8, 6.5 #29",
            "Asks for 5 of \(PageRows.count) rows after 0, 1 and 60."
        ) { server in
            let rows = try await server.pageRows()
            let count = server.profile.top(5)
            for skip in [0, 1, 60] {
                let query = [("$filter", rows.filter), ("$orderby", "id"), ("$skip", "\(skip)"), server.top(5)]
                let page = try await server.list(query)
                let wanted = Array(rows.ids[skip..<skip + count])
                server.expect(page.ids == wanted, page.response, "\(count) rows by id after \(skip)")
            }
        },
        rule(
            "page.skip-beyond",
            .both,
            "$skip beyond the end gives no rows and no next page.",
            in: "datasync-protocol 1.8",
            "Skips 1000 of \(PageRows.count) rows."
        ) { server in
            let rows = try await server.pageRows()
            let page = try await server.firstPage([("$filter", rows.filter), ("$skip", "1000")])
            server.expect(page.rows.isEmpty && page.next == nil, page.response, "no row and no next page")
        },
        rule(
            "page.grid",
            .both,
            "$skip and $top cut any piece out of the order.",
            in: "datasync-protocol 6.5 #29",
            "Asks for 20 random pieces of up to 20 of \(PageRows.count) rows, in both directions."
        ) { server in
            let rows = try await server.pageRows()
            var random = server.trial.random()
            for _ in 0..<20 {
                let skip = Int.random(in: 0...130, using: &random)
                let top = server.profile.top(Int.random(in: 1...20, using: &random))
                let isDescending = random.chance(50)
                let ordered = isDescending ? rows.ids.reversed() : rows.ids
                let page = try await server.list([
                    ("$filter", rows.filter), ("$orderby", isDescending ? "id desc" : "id"), ("$skip", "\(skip)"),
                    ("$top", "\(top)"),
                ])
                let wanted = Array(ordered.dropFirst(skip).prefix(top))
                server.expect(page.ids == wanted, page.response, "the rows \(brief(wanted))")
            }
        },
        rule(
            "page.walk",
            .both,
            "Following the links to the next page gives every row once, and ends.",
            in: "datasync-protocol 1.8, 6.5 #30; node-server-protocol2, Query",
            "Follows the links over \(PageRows.count) rows."
        ) { server in
            let rows = try await server.pageRows()
            let pages = try await server.pagesOfRows(rows, [("$orderby", "id")])
            server.expectEachOnce(pages, rows.ids, "GET …?$filter=…&$orderby=id and all next pages")
        },
        rule(
            "page.walk-order",
            .both,
            "The next page goes on in the same order.",
            in: "datasync-protocol 1.8",
            "Follows the links over \(PageRows.count) rows by id, descending."
        ) { server in
            let rows = try await server.pageRows()
            let pages = try await server.pagesOfRows(rows, [("$orderby", "id desc")])
            let got = pages.flatMap(\.ids)
            server.expect(got == rows.ids.reversed(), pages[1].response, "the rows by id, descending, over all pages")
        },
        rule(
            "page.walk-count",
            .both,
            "The next page has the count as well, and it is the number of all rows.",
            in: "datasync-protocol 1.8",
            "Follows the links over \(PageRows.count) rows with the count."
        ) { server in
            let rows = try await server.pageRows()
            for page in try await server.pagesOfRows(rows, [server.speaks.countOption]) {
                server.expect(page.count == Double(PageRows.count), page.response, "the count \(PageRows.count)")
            }
        },
        rule(
            "page.walk-select",
            .protocol3,
            "The next page has the columns of the first one, and no others.",
            in: "datasync-protocol 1.8; datasync-genuine I 1.8, II 8",
            "Follows the links over \(PageRows.count) rows by id with $select=id,version, and looks at the members of the rows."
        ) { server in
            let rows = try await server.pageRows()
            let pages = try await server.pagesOfRows(rows, [("$orderby", "id"), ("$select", "id,version")])
            server.expectEachOnce(pages, rows.ids, "GET …?$filter=…&$orderby=id&$select=id,version and all next pages")
            for page in pages {
                let names = Set(page.rows.flatMap { $0.json.object.map { Array($0.keys) } ?? [] })
                server.expect(
                    names.isSubset(of: ["id", "version"]),
                    page.response,
                    "rows with the members id and version"
                )
            }
        },
        rule(
            "page.walk-top",
            .both,
            "With $top beyond a page's size, the pages together have so many rows.",
            in: "datasync-protocol 1.8, 6.5 #30; node-server-protocol2, Query",
            "Follows the links over 115, or as many as the server allows, of \(PageRows.count) rows."
        ) { server in
            let rows = try await server.pageRows()
            let top = server.profile.top(115)
            let pages = try await server.pages([("$filter", rows.filter), ("$orderby", "id"), server.top(115)])
            server.expectEachOnce(
                pages,
                Array(rows.ids.prefix(top)),
                "GET …?$filter=…&$orderby=id&$top=\(top) and all next pages"
            )
        },
        rule(
            "page.walk-deleted",
            .both,
            "The next page shows deleted rows when the first one was asked to, each in its place.",
            in: "datasync-protocol 1.8, 6.5 #38",
            for: .softDelete,
            "Makes and deletes three more rows, and follows the links over all by id with the parameter for deleted ones."
        ) { server in
            let rows = try await server.pageRows()
            var deleted: [String] = []
            for _ in 0..<3 {
                let row = try await server.insert([.text: .string(server.pageText)])
                try await server.delete(row)
                deleted.append(row.id)
            }
            let pages = try await server.pagesOfRows(rows, [("$orderby", "id"), server.speaks.includeDeleted])
            server.expectEachOnce(
                pages,
                rows.ids + deleted,
                "GET …?$filter=…&\(server.speaks.includeDeleted.0)=true and all next pages"
            )
            let got = pages.flatMap(\.ids)
            let isOrdered = got == got.sorted { $0.precedes($1) }
            server.expect(isOrdered, pages[1].response, "the rows by id, deleted ones among the others, over all pages")
        },
        rule(
            "page.no-link",
            .both,
            "There is no link when $top is used up.",
            in: "datasync-protocol 1.8; node-server-protocol2, Query",
            "Asks for 5 of \(PageRows.count) rows with $top=5, following the links if pages are smaller, and for no row."
        ) { server in
            let rows = try await server.pageRows()
            for top in [server.profile.top(5), 0] {
                var pages = [try await server.firstPage([("$filter", rows.filter), ("$top", "\(top)")])]
                while pages.reduce(0, { $0 + $1.rows.count }) < top, let next = try await server.page(after: pages.last)
                {
                    pages.append(next)
                }
                let last = pages[pages.count - 1]
                server.expect(last.next == nil, last.response, "no next page after \(top) rows")
            }
        },
        rule(
            "page.no-link-at-end",
            .protocol3,
            "There is no link when no row is left.",
            in: "datasync-protocol 1.8",
            "Asks for three rows, following the links if pages are smaller, and for a page that \(PageRows.count) rows fill to the last."
        ) { server in
            let rows = [try await server.insert(), try await server.insert(), try await server.insert()]
            let pages = try await server.pages([("$filter", server.among(rows))])
            let isRight = pages.allSatisfy { !$0.rows.isEmpty } && pages.reduce(0) { $0 + $1.rows.count } == 3
            server.expect(isRight, pages[pages.count - 1].response, "three rows and no next page after the third")
            let many = try await server.pageRows()
            let query = [("$filter", many.filter), ("$orderby", "id")]
            let size = try await server.firstPage(query).rows.count
            guard size < PageRows.count else { return }
            let last = try await server.firstPage(query + [("$skip", "\(PageRows.count - size)")])
            server.expect(last.rows.count == size && last.next == nil, last.response, "\(size) rows and no next page")
        },
        rule(
            "page.link-encoded",
            .protocol3,
            "The next link is percent-encoded; the predecessor leaves spaces and letters beyond ASCII as they are.",
            in: "datasync-protocol 1.8; ama-genuine 1.9",
            for: .nobody,
            "Looks at the link of a query with spaces, \(PageRows.count) rows long."
        ) { server in
            let rows = try await server.pageRows()
            let pages = try await server.pagesOfRows(rows, [("$orderby", "id desc")])
            guard let next = pages[0].next, !next.isEncodedLink else { return }
            server.trial.note(
                pages[0].response.request,
                expected: "a next link of the signs that addresses have",
                got: brief(next),
                remark: "it is no valid address: clients must encode what is not, and leave the rest as it is"
            )
        },
        rule(
            "page.link-works",
            .protocol2,
            "The address in the Link field gives the next page; the Node server's does not.",
            in: "node-server-protocol2, Query, exchange 125",
            for: .nobody,
            "Follows the link to the letter."
        ) { server in
            let rows = try await server.pageRows()
            let first = try await server.pagesOfRows(rows)[0].response
            let link = (first["Link"] ?? "").split(separator: ";").first.map(String.init) ?? ""
            let address = link.filter { !"<> ".contains($0) }
            guard let path = server.client.path(following: address) else {
                return server.expect(false, first, "a link to the same server")
            }
            server.expect(try await server.send(ServerRequest(method: "GET"), path: path), 200)
        },
        rule(
            "page.by-skip",
            .both,
            "Clients that count for themselves, with $skip and $top, get every row once.",
            in: "datasync-protocol 2.2",
            "Asks for \(PageRows.count) rows by updatedAt in pieces of at most 50, until one is empty."
        ) { server in
            let rows = try await server.pageRows()
            var pages: [ServerPage] = []
            repeat {
                let got = pages.reduce(0) { $0 + $1.rows.count }
                pages.append(
                    try await server.firstPage([
                        ("$filter", rows.filter), ("$orderby", "updatedAt"), ("$skip", "\(got)"), server.top(50),
                    ])
                )
            } while pages.last?.rows.isEmpty == false && pages.count < 2 * PageRows.count
            server.expectEachOnce(pages, rows.ids, "GET …?$orderby=updatedAt&$skip=…&$top=50 until a page is empty")
        },
        rule(
            "page.by-stamp",
            .both,
            "Pulls that go on from stamps, whole milliseconds at a time, get every row.",
            in: "datasync-genuine III 2; datasync-protocol 1.9, 7.2",
            "Asks for \(PageRows.count) rows from the last page's stamp on, at most 40 at a time; when a page lies within one"
                + " millisecond, for the rest of that by id, and then for what is later."
        ) { server in
            let rows = try await server.pageRows()
            let missing = Set(rows.ids).subtracting(try await server.pulledByStamp(rows)).sorted()
            server.trial.expect(
                missing.isEmpty,
                "GET …?$filter=updatedAt ge …&$orderby=updatedAt,id&$top=40, page by page",
                expected: "all \(PageRows.count) rows",
                got: "\(missing.count) missing: \(brief(missing))"
            )
        },
        rule(
            "page.bad-numbers",
            .protocol3,
            "$skip and $top that are negative or no numbers are a 400.",
            in: "datasync-protocol 1.9, 6.5 #39",
            "Asks with -1 and NaN."
        ) { server in
            for query in [("$skip", "-1"), ("$skip", "NaN"), ("$top", "-1"), ("$top", "NaN")] {
                server.expect(try await server.send("GET", query: [query]), 400)
            }
        },
        rule(
            "page.huge-top",
            .protocol3,
            "$top above the server's largest is a 400; no server allows a million, but for the predecessor when told to.",
            in: "datasync-protocol 1.8, 1.9, 6.5 #39; ama-genuine 2",
            "Asks with $top=1000000."
        ) { server in
            guard server.profile.server != .predecessor || server.profile.largestTop != nil else {
                throw Unsupported("this server may be set up to allow any $top, and is")
            }
            server.expect(try await server.send("GET", query: [("$top", "1000000")]), 400)
        },
        rule(
            "page.large-top",
            .protocol2,
            "$top above 1000 is a 400, unless the server was set up otherwise.",
            in: "node-server-protocol2, Query",
            for: .nobody,
            "Asks with $top=1001."
        ) { server in server.expect(try await server.send("GET", query: [("$top", "1001")]), 400) },
    ]
}

extension ServerTrial {
    /// The ids of the rows for paging, pulled by stamps.
    ///
    /// A server may keep finer stamps than it shows, so that `eq` finds no row by its own and `gt` finds it again: only
    /// half-open windows of whole milliseconds part rows exactly.
    fileprivate func pulledByStamp(_ rows: PageRows) async throws -> Set<String> {
        var found: Set<String> = []
        var start = Instant(milliseconds: 0)
        // Each step moves the start on by a millisecond at least, over rows of that many milliseconds at most.
        for _ in 0...PageRows.count {
            let filter = rows.filter + " and updatedAt ge \(speaks.instant(start.text))"
            let page = try await firstPage([("$filter", filter), ("$orderby", "updatedAt,id"), top(40)])
            guard let first = page.rows.first?.stamp, let last = page.rows.last?.stamp else { break }
            found.formUnion(page.ids)
            start = first < last ? last : try await pulled(rows, in: first, into: &found)
        }
        return found
    }

    /// Finds the rows of one millisecond by their ids; returns the next millisecond.
    private func pulled(_ rows: PageRows, in start: Instant, into found: inout Set<String>) async throws -> Instant {
        let end = Instant(milliseconds: start.milliseconds + 1)
        let window = "updatedAt ge \(speaks.instant(start.text)) and updatedAt lt \(speaks.instant(end.text))"
        var last = ""
        for _ in 0...PageRows.count {
            let filter = rows.filter + " and \(window) and id gt '\(last)'"
            let page = try await firstPage([("$filter", filter), ("$orderby", "id"), top(40)])
            guard let id = page.ids.last else { break }
            found.formUnion(page.ids)
            last = id
        }
        return end
    }
}
