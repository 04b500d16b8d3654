import Foundation

/// What the Azure Mobile Apps server for .NET does in its own way.
extension Protocol3Handler {
    func predecessorResponse(id: String?, table: inout EmulatedTable) -> EmulatorResponse {
        if let refusal = versionRefusal { return refusal }
        switch (request.method, id) {
        case ("PATCH", let id?): return inPredecessorForm(patch(RowID(id), in: &table))
        case ("PUT", let id?):
            // No option brings a deleted row back by PUT.
            if let row = table[RowID(id)], row.deleted, table.definition.softDelete { return Self.problem(410) }
        case ("GET", _), ("POST", nil), ("DELETE", _?): break
        default: return EmulatorResponse(405, headers: ["Allow": id == nil ? "GET, POST" : "DELETE, GET, PATCH, PUT"])
        }
        return inPredecessorForm(usualResponse(id: id, table: &table))
    }

    /// A list of protocol 2: the array alone, or with the number of all matching rows. Neither has a link.
    static func protocol2List(_ items: [UInt8], count: Int?) -> EmulatorResponse {
        guard let count else { return makeResponse(200, items) }
        return makeResponse(200, "{\"results\":".utf8 + items + ",\"count\":\(count)}".utf8)
    }

    /// Whether a list of protocol 2 is to be counted.
    var asksForCountInProtocol2: Bool {
        request.options.contains { option in
            let (name, value) = (option.name.lowercased(), option.value.lowercased())
            return name == "$inlinecount" && value == "allpages" || name == "$count" && value == "true"
        }
    }

    /// The server wants to be told the version; the query counts before the header field.
    private var versionRefusal: EmulatorResponse? {
        let fromQuery = request.options.first { $0.name.lowercased() == "zumo-api-version" }?.value
        let version = fromQuery ?? request.headers["ZUMO-API-VERSION"]
        let parts = version?.split(separator: ".", omittingEmptySubsequences: false) ?? []
        let isWellFormed = parts.allSatisfy { part in
            part.utf8.count == 1 && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
        let number = configuration.dialect == .datasync ? "3" : "2"
        if isWellFormed, (2...3).contains(parts.count), parts[0] == number, parts[1] == "0" { return nil }
        let title = version == nil ? "Missing ZUMO-API-VERSION" : "Invalid ZUMO-API-VERSION"
        return Self.problem(400, title: title)
    }

    /// An update of the columns named; the literal `"deleted": false` brings a deleted row back.
    private func patch(_ id: RowID, in table: inout EmulatedTable) -> EmulatorResponse {
        let body: JSONValue
        do {
            body = try JSONValue(parsing: request.body)
        } catch {
            return Self.problem(400)
        }
        guard let members = body.object else { return Self.problem(400) }
        guard let row = table[id] else { return Self.problem(404) }
        if row.deleted, table.definition.softDelete, members["deleted"] != false { return Self.problem(410) }
        if let refusal = unmetCondition(for: row, in: table) { return refusal }
        guard let patched = patched(row, with: members, in: &table) else { return EmulatorResponse(500) }
        guard patched.isAllowed else { return Self.problem(400, title: "One or more validation errors occurred.") }
        var changed = patched.row
        changed.stamp = table.nextStamp(now: configuration.clock())
        changed.version = configuration.makeVersion(after: row.version)
        table.store(changed)
        return entity(200, changed, in: table)
    }

    /// A row with members merged into it, and whether these leave the system's own as they are; nil where a member is no
    /// column or does not fit one.
    private func patched(
        _ row: EmulatedRow,
        with members: [String: JSONValue],
        in table: inout EmulatedTable
    ) -> (row: EmulatedRow, isAllowed: Bool)? {
        var patched = row
        var isAllowed = true
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            switch name.lowercased() {
            case "id": isAllowed = isAllowed && value == .string(row.id.text)
            case "version": isAllowed = isAllowed && value == .string(row.version)
            case "updatedat":
                isAllowed = isAllowed && value.string.flatMap { Timestamp.ticks(isoText: $0) } == shownTicks(of: row)
            case "deleted":
                guard let mark = value.bool else { return nil }
                patched.deleted = mark
            default:
                guard let (column, stored) = stored(name, value.readAsDates, in: table) else { return nil }
                patched.values[column] = stored
                table.noteColumn(column, ColumnConversion.type(of: value))
            }
        }
        return (patched, isAllowed)
    }

    private func shownTicks(of row: EmulatedRow) -> Int64 {
        row.updatedAt * Timestamp.ticksPerMillisecond
    }

    private func stored(_ name: String, _ value: JSONValue, in table: EmulatedTable) -> (String, JSONValue)? {
        let columns = table.definition.columns
        if columns.isEmpty { return (name, value) }
        guard let column = columns.name(ignoringCase: name), let stored = columns.types[column]?.stored(value) else {
            return nil
        }
        return (column, stored)
    }

    // MARK: Forms

    static func problem(_ status: Int, title: String? = nil) -> EmulatorResponse {
        let titles = [
            400: "Bad Request", 404: "Not Found", 410: "Gone",
            500: "An error occurred while processing your request.",
        ]
        let body: JSONValue = [
            "status": .integer(Int64(status)), "title": .string(title ?? titles[status] ?? "Error"),
        ]
        return EmulatorResponse(
            status,
            headers: ["Content-Type": "application/problem+json; charset=utf-8"],
            body: body.encoded
        )
    }

    private func inPredecessorForm(_ response: EmulatorResponse) -> EmulatorResponse {
        if response.body.isEmpty, [400, 404, 410].contains(response.status) { return Self.problem(response.status) }
        return response
    }

    /// A next link as this server writes it: a whole URL, of whose escapes only those of `%`, `&`, `+`, `#` and `'` stay.
    func predecessorLink(_ query: String) -> String {
        // These are escaped once more, the sign of an escape first, so that decoding leaves them.
        var kept = query
        for escape in ["%25", "%26", "%2B", "%23", "%27"] {
            kept = kept.replacing(escape, with: "%25" + escape.dropFirst())
        }
        let text = PercentEncoding.decodeLeniently(kept[...], plusIsSpace: false)
        let host = request.headers["Host"] ?? "localhost"
        return "\(request.scheme)://\(host)\(request.path)?\(text)"
    }
}
