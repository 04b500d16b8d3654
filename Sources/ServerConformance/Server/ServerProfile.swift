/// The kinds of columns that rules need.
public enum ColumnKind: String, Sendable, CaseIterable {
    /// Text of up to 200 characters.
    case text
    /// Truth values.
    case boolean
    /// Numbers with fractions.
    case number
    /// Instants, which the server knows as such.
    case date

    /// The names that are tried, in this order.
    var usualNames: [String] {
        switch self {
        case .text: ["text", "title"]
        case .boolean: ["complete", "isComplete"]
        case .number: ["number", "amount"]
        case .date: ["date", "dueDate"]
        }
    }

    /// What is written to find out whether a column is there, and what comes back when it is.
    var sample: (sent: JSON, kept: JSON) {
        switch self {
        case .text: ("a text", "a text")
        case .boolean: (true, true)
        case .number: (2.5, 2.5)
        // A column that gives this back as it was is one of texts.
        case .date: ("2021-02-03T04:05:06.789+01:00", "2021-02-03T03:05:06.789Z")
        }
    }
}

/// What was found out about a table before the rules.
struct ServerProfile: Sendable {
    /// The columns that the table has, by kind.
    var columns: [ColumnKind: String] = [:]
    /// Whether a deletion leaves the row as a tombstone.
    var softDelete = false

    static let softDeleteName = "softDelete"

    /// As rules name them: the kinds of columns, and `softDelete`.
    var capabilities: Set<String> {
        Set(columns.keys.map(\.rawValue)).union(softDelete ? [Self.softDeleteName] : [])
    }
}

/// The server cannot be judged at all.
public struct ServerUnavailable: Error, Sendable, CustomStringConvertible {
    /// Why, and what to do.
    public let description: String

    init(_ description: String) { self.description = description }
}

extension ServerProfile {
    /// Finds out what a table is, with rows that are deleted again.
    ///
    /// - Throws: ``ServerUnavailable`` when there is no such server or table, or no row can be written.
    static func find(
        _ client: ServerClient,
        _ ledger: RowLedger,
        names: [ColumnKind: String]
    ) async throws -> ServerProfile {
        do {
            let list = try await client.send(ServerRequest(method: "GET", query: [("$top", "1")]))
            guard list.status == 200 else {
                throw ServerUnavailable(
                    "\(client.address) answers \(list.status) to a query; check the table's name (--table) and the"
                        + " protocol (--protocol)"
                )
            }
            var profile = ServerProfile()
            for kind in ColumnKind.allCases {
                for name in names[kind].map({ [$0] }) ?? kind.usualNames {
                    let value = try await profile.value(of: name, kind, client, ledger)
                    if value == kind.sample.kept { profile.columns[kind] = name }
                    // A column that is there but of another kind was made for the purpose: one is enough.
                    if value == kind.sample.kept || value == kind.sample.sent { break }
                }
            }
            profile.softDelete = try await profile.deletesSoftly(client, ledger)
            return profile
        } catch let error as NoResponse {
            throw ServerUnavailable(error.reason)
        }
    }

    private func row(_ id: String) -> [String: JSON] {
        // A server may ask for columns that are known by now.
        var members: [String: JSON] = ["id": .string(id)]
        for (kind, name) in columns { members[name] = kind.sample.sent }
        return members
    }

    /// What comes back of a column's sample; nil when nothing does.
    private func value(
        of name: String,
        _ kind: ColumnKind,
        _ client: ServerClient,
        _ ledger: RowLedger
    ) async throws -> JSON? {
        var members = row(ledger.newID())
        members[name] = kind.sample.sent
        let response = try await client.send(ServerRequest(method: "POST", body: try JSON.object(members).bytes))
        return response.isSuccess ? response.json?[name] : nil
    }

    private func deletesSoftly(_ client: ServerClient, _ ledger: RowLedger) async throws -> Bool {
        let id = ledger.newID()
        let made = try await client.send(ServerRequest(method: "POST", body: try JSON.object(row(id)).bytes))
        guard made.isSuccess else {
            throw ServerUnavailable(
                "\(client.address) answers \(made.status) to an insert, so nothing can be judged; name the columns that"
                    + " it needs (--column), and see that rows may be written without signing in"
            )
        }
        _ = try await client.send(ServerRequest(method: "DELETE", suffix: ServerRequest.path(of: id)))
        let filter = ("$filter", "id eq '\(id)'")
        let list = try await client.send(
            ServerRequest(method: "GET", query: [filter, client.serverProtocol.includeDeleted])
        )
        if let items = list.json?["items"]?.array ?? list.json?.array, !items.isEmpty { return true }
        return try await client.send(ServerRequest(method: "GET", suffix: ServerRequest.path(of: id))).status == 410
    }
}
