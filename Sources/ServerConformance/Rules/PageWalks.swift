internal import ConformanceRunner

// Next pages of queries that are more than a filter and an order.
extension ServerRules {
    static let pageWalks: [Entry] = [
        rule(
            "page.walk-skip",
            .both,
            "The next page of a query with $skip goes on behind the rows that were skipped and given, to the end or until $top"
                + " is used up.",
            in: "datasync-protocol 1.8, 6.5 #29, #30; node-server-protocol2, Query",
            "Follows the links over \(PageRows.count) rows after 5 with $top=112, or as many as the server allows, and after 10."
        ) { server in
            let rows = try await server.pageRows()
            let top = server.profile.top(112)
            try await server.expectWalked(rows, [("$skip", "5"), server.top(112)], Array(rows.ids[5..<5 + top]))
            try server.requireEndlessPages()
            try await server.expectWalked(rows, [("$skip", "10")], Array(rows.ids[10...]))
        },
        linkSigns("page.link-signs", .protocol3, for: .column(.text)),
        linkSigns("page.link-signs-informative", .protocol2, for: .nobody),
    ]

    private static func linkSigns(_ id: String, _ protocols: Set<ServerProtocol>, for need: Need) -> Entry {
        rule(
            id,
            protocols,
            "The next page has the filter to the last sign, those included that addresses encode.",
            in: "datasync-protocol 1.8; datasync-genuine I 1.8, II 8; ama-genuine 1.9; node-server-protocol2, Query",
            for: need,
            "Makes one row more with such signs in its text, asks for the \(PageRows.count) rows and that one, by their texts, and"
                + " follows the links; the one comes last."
        ) { server in
            let rows = try await server.pageRows()
            let column = try server.column(.text)
            let text = "zone a+b&c=d%20#e?'f'/ü of \(server.runName)"
            let last = try await server.insert([.text: .string(text)])
            let filter = "(\(rows.filter) or \(column) eq '\(text.replacing("'", with: "''"))')"
            let pages = try await server.pagesOfRows(rows, [("$orderby", "\(column),id")], filter: filter)
            server.expectEachOnce(
                pages,
                rows.ids + [last.id],
                "GET …?$filter=\(filter)&$orderby=\(column),id and all next pages"
            )
        }
    }
}

extension ServerTrial {
    /// Reports when the pages of some rows by id are not these, in order.
    fileprivate func expectWalked(_ rows: PageRows, _ options: [(String, String)], _ ids: [String]) async throws {
        let query = [("$filter", rows.filter), ("$orderby", "id")] + options
        let pages = try await pages(query)
        let words = options.map { "&\($0)=\($1)" }.joined()
        let input = "GET …?$filter=…&$orderby=id\(words) and all next pages"
        expectEachOnce(pages, ids, input)
        let got = pages.flatMap(\.ids)
        guard got != ids, Set(got) == Set(ids), got.count == ids.count else { return }
        trial.report(input, expected: "the rows by id over all pages", got: brief(got))
    }
}
