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
    func list(_ query: [(String, String)]) async throws -> ServerPage {
        try page(of: try await send("GET", query: query))
    }

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
    func page(after page: ServerPage) async throws -> ServerPage? {
        guard let next = page.next else { return nil }
        let isEncoded = next.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard isEncoded, let path = client.path(following: next) else {
            trial.report(page.response.request, expected: "a next link to the same server, percent-encoded", got: next)
            throw Stopped()
        }
        return try self.page(of: try await send(ServerRequest(method: "GET"), path: path))
    }

    /// All pages of a query, following the server's links. Ends the rule when there are more pages than could be.
    func pages(_ query: [(String, String)], atMost: Int = 200) async throws -> [ServerPage] {
        var pages = [try await list(query)]
        while let next = try await page(after: pages[pages.count - 1]) {
            pages.append(next)
            if pages.count > atMost {
                trial.report(pages[0].response.request, expected: "an end of the next links", got: "\(atMost) pages")
                throw Stopped()
            }
        }
        return pages
    }

    /// A filter that lets through rows of this rule only, with a condition of their own.
    func among(_ rows: [ServerRow], _ condition: String? = nil) -> String {
        let own = rows.map { "id eq '\($0.id)'" }.joined(separator: " or ")
        return condition.map { "(\($0)) and (\(own))" } ?? "(\(own))"
    }
}
