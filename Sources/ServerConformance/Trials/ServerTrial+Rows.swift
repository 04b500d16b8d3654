internal import ConformanceRunner

/// A row as the server gave it.
struct ServerRow: Sendable, Equatable {
    let json: JSON

    var id: String { json["id"]?.string ?? "" }
    var version: String { json["version"]?.string ?? "" }
    var updatedAt: String { json["updatedAt"]?.string ?? "" }
    /// ``updatedAt`` as an instant; the beginning of time when it is none.
    var stamp: Instant { Instant(reading: updatedAt) ?? Instant(milliseconds: .min) }
    var isDeleted: Bool { json["deleted"]?.bool ?? false }

    subscript(name: String) -> JSON? { json[name] }

    /// Whether the answer to a write may be this row where another one is stored: it has the same columns, and nothing is
    /// different that the server writes, and not the database.
    func isAsSent(_ stored: ServerRow) -> Bool {
        json.object?.keys == stored.json.object?.keys
            && ["id", "version", "updatedAt", "deleted", "createdAt"].allSatisfy { self[$0] == stored[$0] }
    }

    /// The version as a header field.
    var tag: String { "\"\(version)\"" }
}

extension ServerTrial {
    /// Members for the columns that the table has, by kind, as the server calls them.
    func members(_ values: [ColumnKind: JSON]) -> [String: JSON] {
        var members: [String: JSON] = [:]
        for (kind, value) in values {
            if let name = profile.columns[kind] { members[name] = value }
        }
        return members
    }

    /// The server's name of a column of a kind.
    ///
    /// - Throws: `Unsupported` when the table has none: the rule does not concern it.
    func column(_ kind: ColumnKind) throws -> String {
        guard let name = profile.columns[kind] else {
            throw Unsupported("the table has no \(kind.rawValue) column; --column \(kind.rawValue)=NAME names one")
        }
        return name
    }

    /// A body for an insert, with a text if the table has one: a server may ask for it.
    func item(_ id: String?, _ values: [ColumnKind: JSON] = [:]) -> JSON {
        var members = members([.text: "a text"].merging(values) { $1 })
        if let id { members["id"] = .string(id) }
        return .object(members)
    }

    /// A body for an insert without an id, with a text that only rows of this run have.
    var ownItem: JSON { item(nil, [.text: .string(subject.textOfRowsWithoutID)]) }

    /// Notes the row that a server made of such an item, so that it is deleted.
    ///
    /// A server that answers with another row, be it by mistake or because the ids collide, must not get that one deleted.
    func noteIfOwn(_ response: ServerResponse, _ item: JSON) {
        guard response.isSuccess, let id = response.json?["id"]?.string, !id.isEmpty else { return }
        let isOwn = profile.columns[.text].map { response.json?[$0] == item[$0] } ?? true
        if isOwn { note(id) }
    }

    /// Ends the rule unless rows may be made that nobody can delete, or that stop other clients.
    func requireLastingRows(_ reason: String) throws {
        guard !subject.triesLastingRows else { return }
        throw Unsupported("\(reason); --lasting-rows tries it")
    }

    /// Makes a row, and ends the rule when that fails.
    @discardableResult
    func insert(_ values: [ColumnKind: JSON] = [:], id: String? = nil) async throws -> ServerRow {
        let response = try await send("POST", nil, item(id ?? newID(), values))
        try require(response, 201)
        return try await stored(response)
    }

    /// The row in the answer to a write as it is stored: read, where the server is known to answer with rows as they were sent.
    func stored(_ response: ServerResponse) async throws -> ServerRow {
        let row = try row(of: response)
        guard profile.answersAsSent, !row.isDeleted else { return row }
        return try await read(row.id) ?? row
    }

    /// The row in an answer; ends the rule when there is none with an id and a version.
    func row(of response: ServerResponse, after steps: String = "") throws -> ServerRow {
        if let json = response.json, json["id"]?.string != nil, json["version"]?.string != nil {
            return ServerRow(json: json)
        }
        report(response, expected: "a row with the members 'id' and 'version'", after: steps)
        throw Stopped()
    }

    /// Reads a row, deleted or not; nil when it is not there. Ends the rule when the answer is something else.
    func read(_ id: String, query: [(String, String)] = []) async throws -> ServerRow? {
        let response = try await send("GET", id, query: query)
        if response.status == 404 || response.status == 410 { return nil }
        try require(response, 200)
        return try row(of: response)
    }

    /// A row as lists show it, deleted or not; nil when they do not.
    func listed(_ id: String, includingDeleted: Bool = true) async throws -> ServerRow? {
        let page = try await list([("$filter", "id eq '\(id)'")] + (includingDeleted ? [speaks.includeDeleted] : []))
        return page.rows.first { $0.id == id }
    }

    /// Changes a row: a full replacement in protocol 3, a merge in protocol 2. What is answered is the row as it is stored: read,
    /// where the server is known to answer with rows as they were sent.
    func update(
        _ row: ServerRow,
        _ values: [ColumnKind: JSON] = [.text: "changed"],
        headers: [String: String?] = [:],
        query: [(String, String)] = []
    ) async throws -> ServerResponse {
        let response = try await answerToUpdate(row, values, headers: headers, query: query)
        guard answersUpdatesAsSent, response.status == 200 else { return response }
        let read = try await send("GET", row.id)
        guard read.status == 200 else { return response }
        return ServerResponse(
            request: response.request,
            status: response.status,
            headers: response.headers,
            body: read.body
        )
    }

    /// Changes a row, for rules that judge the very answer.
    func answerToUpdate(
        _ row: ServerRow,
        _ values: [ColumnKind: JSON] = [.text: "changed"],
        headers: [String: String?] = [:],
        query: [(String, String)] = []
    ) async throws -> ServerResponse {
        let body = try changed(row, values)
        return try await send(speaks.updateMethod, row.id, query: query, headers: headers, body)
    }

    /// Others than the predecessor read a row again before they answer an update.
    private var answersUpdatesAsSent: Bool { profile.answersAsSent && profile.server == .predecessor }

    /// Changes a row, and reports when the answer is not the row as it is stored.
    func expectAnswerToUpdateStored() async throws {
        let response = try await answerToUpdate(try await insert())
        try require(response, 200)
        let row = try row(of: response)
        if answersUpdatesAsSent { return try await noteUnlessStored(row, response.request) }
        try await expectUnchanged(row, after: response.request)
    }

    /// Notes a row that reads otherwise than the answer to its write, though with the same version, and reports one that differs
    /// by more than what a database makes of an app's columns.
    func noteUnlessStored(_ row: ServerRow, _ steps: String) async throws {
        let now = try await read(row.id)
        guard now != row else { return }
        let input = "\(steps); GET \(client.table)/\(row.id)"
        guard let now, row.isAsSent(now) else {
            return trial.report(
                input,
                expected: "the row that was answered, but for values of the app's columns: \(row.json)",
                got: now.map { "\($0.json)" } ?? "no row"
            )
        }
        trial.note(
            input,
            expected: "\(row.json)",
            got: "\(now.json)",
            remark:
                "a write is answered with the row as sent: what the database makes of it comes with later reads, under"
                + " the same version, so clients must compare rows by their content as well"
        )
    }

    /// The body of a change.
    func changed(_ row: ServerRow, _ values: [ColumnKind: JSON]) throws -> JSON {
        for kind in values.keys { _ = try column(kind) }
        switch speaks {
        case .datasync: return row.json.removing("updatedAt", "version", "deleted").setting(members(values))
        case .azureMobileApps: return .object(members(values))
        }
    }

    /// Deletes a row, and ends the rule when that fails.
    func delete(_ row: ServerRow) async throws {
        let response = try await send("DELETE", row.id)
        try require(response, 200, 204)
    }

    /// Reports when a row is not as it was.
    func expectUnchanged(_ row: ServerRow, after steps: String) async throws {
        let now = try await read(row.id)
        trial.expect(
            now == row,
            "\(steps); GET \(client.table)/\(row.id)",
            expected: "the row as it was: \(row.json)",
            got: now.map { "\($0.json)" } ?? "no row"
        )
    }

    /// Reports when a row is there.
    func expectAbsent(_ id: String, after steps: String) async throws {
        let response = try await send("GET", id)
        expect(response.status == 404, response, "no such row, the status 404", after: steps)
    }

    /// Reports when the members of a row differ from those given.
    func expectValues(_ row: ServerRow?, _ values: [ColumnKind: JSON], _ steps: String) {
        for (name, value) in members(values).sorted(by: { $0.key < $1.key }) where row?[name] != value {
            trial.report(steps, expected: "'\(name)': \(value)", got: row.map { "\($0.json)" } ?? "no row")
        }
    }
}
