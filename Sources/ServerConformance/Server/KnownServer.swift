public import ConformanceRunner

/// A server that is known to do some things otherwise than the rules say.
public enum KnownServer: String, Sendable, CaseIterable {
    /// None in particular: every rule is expected to hold.
    case standard
    /// Azure Mobile Apps for .NET, which came before Datasync, in both protocols.
    case predecessor
    /// The Node server of Azure Mobile Apps, version 4.
    case node4

    /// The name in reports.
    var name: String {
        switch self {
        case .standard: "none in particular"
        case .predecessor: "Azure Mobile Apps for .NET"
        case .node4: "Azure Mobile Apps for Node, version 4"
        }
    }

    /// What the server is known to do otherwise, with the reasons.
    ///
    /// Unlike the deviations of a file these do not expire: the same server differs with its database.
    public func deviations(in serverProtocol: ServerProtocol) -> [Deviation] {
        switch (self, serverProtocol) {
        case (.standard, _): []
        case (.predecessor, .datasync): Self.predecessorInBoth + Self.predecessor3
        case (.predecessor, .azureMobileApps): Self.predecessorInBoth + Self.predecessor2
        case (.node4, _): Self.nodeDeviations
        }
    }

    private static func known(_ rules: [String], _ reason: String) -> [Deviation] {
        rules.map { Deviation(rule: $0, reason: reason) }
    }

    private static let predecessorInBoth =
        known(
            ["concurrency.equal-updates"],
            "it answers 500 to those that lose a race; nothing is overwritten, and sent again they are a 412"
        )
        + known(["create.empty-id"], "on Entity Framework it stores the empty id, which no address reaches")

    private static let predecessor3 = known(
        ["undelete.put", "undelete.content", "undelete.stays-deleted"],
        "it brings rows back by PATCH with deleted:false only, then PUT"
    )

    private static let predecessor2 =
        known(["undelete.post"], "it brings rows back by PATCH with deleted:false only")
        + known(["create.system-columns"], "it has no createdAt")
        + known(["create.reserved", "patch.reserved"], "it drops or takes what the Node server reserves")
        + known(["patch.body-version", "patch.header-counts"], "it answers 400 to another version in the body")
        + known(["patch.date-texts"], "its PATCH takes texts for dates that look like some, and writes them anew")
        + known(["function.replace"], "it does not know the function")
        + known(
            [
                "page.walk", "page.walk-order", "page.walk-count", "page.walk-top", "page.walk-deleted",
                "page.walk-skip",
            ],
            "its pages have no link: clients count with $skip until a page is empty"
        )

    private static let nodeDeviations =
        known(["delete.again"], "it answers 404 to what is done to a deleted row")
        + known(["page.top"], "it takes $top=0 for none")
        + known(
            ["page.no-link", "page.walk-top", "page.walk-skip"],
            "it gives a link whenever a page is full, with the page's $top and not the rest"
        )
        + known(
            ["function.index", "function.nested"],
            "on sqlite, with azure-odata-sql 0.1.0, the arguments of indexof are swapped"
        )
}

extension KnownServer {
    /// What a server says itself that it is.
    static func detected(_ client: ServerClient, _ list: ServerResponse) async throws -> KnownServer {
        if list["x-zumo-server-version"]?.hasPrefix("node-4") == true { return .node4 }
        let request = ServerRequest(method: "GET", query: [("$top", "1")], headers: ["ZUMO-API-VERSION": nil])
        let refusal = try await client.send(request)
        let isPredecessor =
            refusal.status == 400 && refusal["Content-Type"]?.contains("problem+json") == true
            && refusal.json?["title"]?.string?.contains("ZUMO-API-VERSION") == true
        return isPredecessor ? .predecessor : .standard
    }
}
