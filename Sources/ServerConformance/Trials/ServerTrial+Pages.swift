internal import ConformanceRunner
internal import Foundation

/// One page of a query.
struct ServerPage: Sendable {
    let response: ServerResponse
    let rows: [ServerRow]
    let count: Double?
    /// Where the next page is, as the server says it; nil when this was the last one.
    let next: String?

    var ids: [String] { rows.map(\.id) }
}

extension ServerTrial {
    /// Asks for a page, and ends the rule when the answer is none.
    func firstPage(_ query: [(String, String)]) async throws -> ServerPage {
        try page(of: try await send("GET", query: query))
    }

    /// Asks for all rows of a query, in as many pages as the server makes of them, or for as many as its `$top` says.
    ///
    /// What is said of the answer as a whole, such as the count, is that of the first page; there is no next one.
    func list(_ query: [(String, String)]) async throws -> ServerPage {
        let first = try await firstPage(query)
        let rows = try await rows(from: first, query)
        return ServerPage(response: first.response, rows: rows, count: first.count, next: nil)
    }

    /// The rows of the first page of a query and of all after it.
    func rows(from first: ServerPage, _ query: [(String, String)]) async throws -> [ServerRow] {
        let top = query.first { $0.0.lowercased() == "$top" }.flatMap { Int($0.1) } ?? .max
        var (rows, last) = (first.rows, first)
        var pageCount = 1
        while rows.count < top, let next = try await page(after: last, of: query, rows.count, top) {
            rows += next.rows
            last = next
            pageCount += 1
            try requireEnd(pageCount, first)
        }
        return rows
    }

    /// The next page of a query: by the link, or by counting where pages are known to hold few rows and to have none.
    private func page(
        after page: ServerPage,
        of query: [(String, String)],
        _ count: Int,
        _ top: Int
    ) async throws -> ServerPage? {
        if page.next != nil { return try await self.page(after: page) }
        guard let size = profile.silentPageSize, page.rows.count == size else { return nil }
        var query = query
        let skip = query.first { $0.0 == "$skip" }.flatMap { Int($0.1) } ?? 0
        query.removeAll { ["$skip", "$top"].contains($0.0) }
        if top != .max { query.append(("$top", "\(top - count)")) }
        return try await firstPage(query + [("$skip", "\(skip + count)")])
    }

    /// Ends the rule when there are more pages than could be.
    private func requireEnd(_ pageCount: Int, _ first: ServerPage) throws {
        guard pageCount > Self.mostPages else { return }
        trial.report(first.response.request, expected: "an end of the next links", got: "\(pageCount) pages")
        throw Stopped()
    }

    private static var mostPages: Int { 3 * PageRows.count }

    /// The page in an answer.
    func page(of response: ServerResponse) throws -> ServerPage {
        try require(response, 200)
        let json = response.json
        switch speaks {
        case .datasync:
            if let items = json?["items"]?.array {
                return ServerPage(
                    response: response,
                    rows: items.map { ServerRow(json: $0) },
                    count: json?["count"]?.number,
                    next: json?["nextLink"]?.string
                )
            }
            report(response, expected: "an object with the array 'items'")
        case .azureMobileApps:
            if let items = json?.array ?? json?["results"]?.array {
                return ServerPage(
                    response: response,
                    rows: items.map { ServerRow(json: $0) },
                    count: json?["count"]?.number,
                    next: response["Link"].flatMap(Self.nextQuery)
                )
            }
            report(response, expected: "an array, or an object with the array 'results'")
        }
        throw Stopped()
    }

    /// The query of the address in a `Link` field whose relation is `next`. Genuine servers get the rest of the address
    /// wrong, and leave out the angle brackets.
    private static func nextQuery(_ link: String) -> String? {
        guard let relation = link.range(of: "rel=\"?next", options: [.regularExpression, .caseInsensitive]) else {
            return nil
        }
        var address = link[..<relation.lowerBound]
        if let start = address.lastIndex(of: "<"), let end = address[start...].firstIndex(of: ">") {
            address = address[address.index(after: start)..<end]
        } else {
            address = address.prefix { $0 != ";" }
        }
        return address.firstIndex(of: "?").map { String(address[address.index(after: $0)...]) }
    }

    /// The page that another one says is next.
    func page(after page: ServerPage?) async throws -> ServerPage? {
        guard let page, let next = page.next else { return nil }
        // Servers that leave signs of a link as they are leave out all that could not be put back.
        guard let path = client.path(following: next.isEncodedLink ? next : next.encodedLink) else {
            trial.report(page.response.request, expected: "a next link to the same server", got: brief(next))
            throw Stopped()
        }
        return try self.page(of: try await send(ServerRequest(method: "GET"), path: path))
    }

    /// All pages of a query, following the server's links. Ends the rule when there are more pages than could be.
    func pages(_ query: [(String, String)]) async throws -> [ServerPage] {
        var pages = [try await firstPage(query)]
        while let next = try await page(after: pages[pages.count - 1]) {
            pages.append(next)
            try requireEnd(pages.count, pages[0])
        }
        return pages
    }

    /// The option for so many rows, or for as many as the server allows.
    func top(_ number: Int) -> (String, String) { ("$top", "\(profile.top(number))") }

    /// A filter that lets through rows of this rule only, with a condition of their own.
    ///
    /// The rows come first: a server that evaluates conditions in memory meets no row of others then, whose nulls some
    /// functions fail on.
    func among(_ rows: [ServerRow], _ condition: String? = nil) -> String {
        let own = rows.map { "id eq '\($0.id)'" }.joined(separator: " or ")
        return condition.map { "(\(own)) and (\($0))" } ?? "(\(own))"
    }
}

extension String {
    /// Whether an address has only the signs that it may have.
    var isEncodedLink: Bool { utf8.allSatisfy(Self.isLinkByte) }

    /// The address with all other signs percent-encoded.
    fileprivate var encodedLink: String {
        utf8.reduce(into: "") { text, byte in
            if Self.isLinkByte(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    private static func isLinkByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"\"<>\\^`{|}".utf8.contains(byte)
    }
}
