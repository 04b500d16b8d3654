internal import ConformanceRunner

/// Finds out what a table is, with rows that are deleted again.
struct ProfileSearch {
    let client: ServerClient
    let ledger: RowLedger
    /// The columns that the user named.
    let names: [ColumnKind: String]
    private var profile = ServerProfile()

    init(_ client: ServerClient, _ ledger: RowLedger, names: [ColumnKind: String]) {
        self.client = client
        self.ledger = ledger
        self.names = names
    }

    /// Looks at everything.
    ///
    /// - Throws: ``ServerUnavailable`` when there is no such server or table, or no row can be written; `UsageError` when
    ///   a column was named that is not there.
    mutating func run(knownAs server: KnownServer?) async throws -> ServerProfile {
        do {
            let list = try await client.send(ServerRequest(method: "GET", query: [("$top", "1")]))
            guard list.status == 200 else { throw unavailable(list, to: "a query", advice: Self.checkTable) }
            guard isList(list) else {
                throw unavailable(
                    list,
                    to: "a query",
                    advice: "that is no list of rows; check the address, the table's name (--table) and --protocol"
                )
            }
            profile.server = if let server { server } else { try await KnownServer.detected(client, list) }
            for kind in ColumnKind.allCases { try await find(kind) }
            profile.answersAsSent = try await answersAsSent()
            profile.softDelete = try await deletesSoftly()
            profile.largestTop = try await largestTop()
            profile.silentPageSize = try await silentPageSize()
            return profile
        } catch let error as NoResponse {
            throw ServerUnavailable(error.reason)
        }
    }

    // MARK: Refusals

    /// Whether an answer is a list in a form of the protocol; whether it is the right one and what is wrong with its rows is
    /// for the rules.
    private func isList(_ response: ServerResponse) -> Bool {
        switch client.serverProtocol {
        case .datasync: response.json?["items"]?.array != nil
        case .azureMobileApps: (response.json?["results"] ?? response.json)?.array != nil
        }
    }

    private static let checkTable = "check the table's name (--table) and the protocol (--protocol)"

    /// What to tell about an answer that makes it impossible to go on.
    private func unavailable(_ response: ServerResponse, to request: String, advice: String) -> ServerUnavailable {
        let words = response.body.isEmpty ? "" : " (\(response.fewWords))"
        let isAboutPeople = [401, 403, 407].contains(response.status)
        let signIn =
            "it wants somebody who has signed in and may do that; send what it asks for with --header, such as"
            + " --header 'Authorization=Bearer TOKEN'"
        return ServerUnavailable(
            "\(client.address) answers \(response.status)\(words) to \(request); \(isAboutPeople ? signIn : advice)."
        )
    }

    // MARK: Columns

    /// Looks for a column of a kind: the one that was named, else one of the usual names.
    private mutating func find(_ kind: ColumnKind) async throws {
        if let name = names[kind], try await tried(name, kind, isNamed: true) != .unfit { return }
        for name in kind.usualNames where name != names[kind] {
            if try await tried(name, kind, isNamed: false) != .unfit { return }
        }
    }

    private enum Finding {
        /// The column is there and of the kind.
        case found
        /// There is none of the name, or one of another kind.
        case unfit
        /// The server makes columns as they come, and this one is of another kind now: one is enough.
        case made
    }

    private mutating func tried(_ name: String, _ kind: ColumnKind, isNamed: Bool) async throws -> Finding {
        var refusal: ServerResponse?
        var kept: JSON?
        for sample in kind.samples(text: ledger.sampleText) {
            let response = try await insert([name: sample.sent])
            guard response.isSuccess else {
                refusal = response
                continue
            }
            guard let value = response.json?[name], value != .null else {
                guard !isNamed else {
                    throw UsageError(
                        "'--column \(kind)=\(name)' names no column: the table '\(client.table)' does not keep such a"
                            + " member; the name must be written as rows show it."
                    )
                }
                return .unfit
            }
            if sample.fits(value) {
                profile.columns[kind] = name
                profile.restrictions[kind] = sample.restriction
                return .found
            }
            kept = value
            if !isNamed, value == sample.sent { return .made }
        }
        if isNamed {
            let reason = kept.map { "it shows \(brief($0))" } ?? refusal.map { "the server answers \($0)" } ?? ""
            profile.remarks.append(
                "'--column \(kind)=\(name)' names a column of another kind (\(reason)); the usual names are tried instead"
            )
        }
        return .unfit
    }

    /// A row with what the columns hold that are known by now: a server may ask for them.
    private func row(_ id: String) -> [String: JSON] {
        var members: [String: JSON] = ["id": .string(id)]
        for (kind, name) in profile.columns {
            let samples = kind.samples(text: ledger.sampleText)
            members[name] = (samples.first { $0.restriction == profile.restrictions[kind] } ?? samples[0]).sent
        }
        return members
    }

    /// Inserts a row and sees that the server took the id.
    private func insert(_ members: [String: JSON] = [:], id: String? = nil) async throws -> ServerResponse {
        let id = id ?? ledger.newID()
        let item = JSON.object(row(id).merging(members) { $1 })
        let response = try await client.send(ServerRequest(method: "POST", body: try item.bytes))
        guard response.isSuccess, let made = response.json?["id"]?.string, made != id else { return response }
        // Only a row of this run may be deleted, be it that the server answers with another one by mistake.
        let isOwn = response.json?.object?.values.contains(.string(ledger.sampleText)) == true
        if isOwn { ledger.note(made) }
        throw ServerUnavailable(
            "\(client.address) gives rows ids of its own ('\(made)' for '\(id)'), so nothing was judged: clients that"
                + " work offline choose the ids of new rows. Let the table take the id that a body has."
                + (isOwn ? "" : " The row '\(made)' may be left.")
        )
    }

    // MARK: Answers

    /// Whether columns of a new row read otherwise than the answer to its insert has them, in the same version. A list has to
    /// agree: else it is the reading of single rows that is wrong.
    private func answersAsSent() async throws -> Bool {
        let id = ledger.newID()
        guard let made = try await insert(id: id).json,
            let read = try await client.send(ServerRequest(method: "GET", suffix: ServerRequest.path(of: id))).json,
            read != made, ServerRow(json: made).isAsSent(ServerRow(json: read))
        else { return false }
        let list = try await client.send(ServerRequest(method: "GET", query: [("$filter", "id eq '\(id)'")]))
        return list.items == [read]
    }

    // MARK: Deletion

    private func deletesSoftly() async throws -> Bool {
        let id = ledger.newID()
        let made = try await insert(id: id)
        guard made.isSuccess else {
            throw unavailable(
                made,
                to: "an insert of \(brief(JSON.object(row(id))))",
                advice: "so nothing can be judged; name the columns that it needs (--column)"
            )
        }
        _ = try await client.send(ServerRequest(method: "DELETE", suffix: ServerRequest.path(of: id)))
        let filter = ("$filter", "id eq '\(id)'")
        let list = try await client.send(
            ServerRequest(method: "GET", query: [filter, client.serverProtocol.includeDeleted])
        )
        if list.items?.isEmpty == false { return true }
        return try await client.send(ServerRequest(method: "GET", suffix: ServerRequest.path(of: id))).status == 410
    }

    // MARK: Pages

    /// The largest `$top` that is not refused; nil when a million is not.
    private func largestTop() async throws -> Int? {
        let filter = ("$filter", "id eq '\(ledger.prefix)'")
        func isTaken(_ top: Int) async throws -> Bool {
            try await client.send(ServerRequest(method: "GET", query: [filter, ("$top", "\(top)")])).status == 200
        }
        if try await isTaken(1_000_000) { return nil }
        for usual in [128_000, 1_000] where try await isTaken(usual) {
            if try await !isTaken(usual + 1) { return usual }
        }
        return try await largest(below: 1_000_000) { try await isTaken($0) }
    }

    /// How many rows a page holds when it holds few and does not say where the next page is.
    ///
    /// Asks for more rows than rules want in a page, where a text finds them; an `or` of so many ids is too long for servers. In
    /// protocol 3 every page says it.
    private func silentPageSize() async throws -> Int? {
        guard client.serverProtocol == .azureMobileApps else { return nil }
        let column = profile.columns[.text]
        let text = "pages of \(ledger.prefix)"
        let ids = (0..<(column == nil ? 7 : 21)).map { _ in ledger.newID() }
        let members = column.map { [$0: JSON.string(text)] } ?? [:]
        for id in ids { guard try await insert(members, id: id).isSuccess else { return nil } }
        let filter = column.map { "\($0) eq '\(text)'" } ?? ids.map { "id eq '\($0)'" }.joined(separator: " or ")
        let page = try await client.send(ServerRequest(method: "GET", query: [("$filter", filter)]))
        guard let rows = page.items, !rows.isEmpty, rows.count < ids.count else { return nil }
        return page["Link"] == nil ? rows.count : nil
    }
}

/// The largest number that a test takes, which takes 1 and not the bound.
func largest(below bound: Int, _ isTaken: (Int) async throws -> Bool) async throws -> Int {
    var (taken, refused) = (1, bound)
    while refused - taken > 1 {
        let middle = taken + (refused - taken) / 2
        if try await isTaken(middle) { taken = middle } else { refused = middle }
    }
    return taken
}
