internal import ConformanceRunner

/// More rows than a page of usual size has, which are found by their text.
struct PageRows: Sendable {
    /// The filter that finds these rows and no other.
    let filter: String
    /// All ids, by their bytes.
    let ids: [String]

    /// More than the page sizes that servers start with: 100, and 50 in protocol 2.
    static let count = 120
}

extension ServerTrial {
    /// The rows for paging, made once in a run and deleted at its end.
    func pageRows() async throws -> PageRows {
        let column = try column(.text)
        let text = pageText
        let ids = try await pageRows {
            try await withThrowingTaskGroup(of: String.self) { group in
                var ids: [String] = []
                for number in 0..<PageRows.count {
                    if number >= 8, let id = try await group.next() { ids.append(id) }
                    group.addTask {
                        try await self.insert(
                            [.text: .string(text), .number: .number(Double(number))],
                            id: self.newSharedID()
                        )
                        .id
                    }
                }
                for try await id in group { ids.append(id) }
                return ids
            }
        }
        return PageRows(filter: "\(column) eq '\(text)'", ids: ids.sorted { $0.precedes($1) })
    }

    /// The text of the rows for paging, which no other row has.
    var pageText: String { "page of \(runName)" }

    /// Ends the rule when the pages of a query without `$top` may end before its rows do.
    func requireEndlessPages() throws {
        // The Node server takes a missing $top for the largest one.
        guard speaks == .azureMobileApps, let largest = profile.largestTop, largest < 2 * PageRows.count else { return }
        throw Unsupported("without $top this server gives no more rows than its largest, \(largest), in all pages")
    }

    /// All pages of the rows for paging, and of what else a filter finds; ends the rule when there is one only.
    func pagesOfRows(
        _ rows: PageRows,
        _ options: [(String, String)] = [],
        filter: String? = nil
    ) async throws -> [ServerPage] {
        try requireEndlessPages()
        let pages = try await pages([("$filter", filter ?? rows.filter)] + options)
        guard pages.count > 1 else {
            guard pages[0].rows.count >= PageRows.count else {
                report(pages[0].response, expected: "\(PageRows.count) rows, or a link to the next page")
                throw Stopped()
            }
            throw Unsupported("a page of this server holds \(PageRows.count) rows or more, so there is no next one")
        }
        return pages
    }

    /// Reports pages that do not have each of some rows once.
    func expectEachOnce(_ pages: [ServerPage], _ ids: [String], _ input: String) {
        let got = pages.flatMap(\.ids)
        let missing = Set(ids).subtracting(got).sorted()
        let strange = Set(got).subtracting(ids).sorted()
        let twice = Dictionary(got.map { ($0, 1) }, uniquingKeysWith: +).filter { $0.value > 1 }.keys.sorted()
        for (words, ids) in [("missing", missing), ("more than once", twice), ("not asked for", strange)]
        where !ids.isEmpty {
            trial.report(
                input,
                expected: "each of \(ids.count) rows once, in \(pages.count) pages",
                got: "\(ids.count) \(words): \(brief(ids))"
            )
        }
    }
}
