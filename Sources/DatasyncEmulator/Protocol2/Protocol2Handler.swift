import Foundation

/// Answers requests as the Node server of Azure Mobile Apps (protocol 2) was seen to do.
struct Protocol2Handler {
    let configuration: EmulatorConfiguration
    let request: EmulatorRequest

    /// What keeps a request from being carried out at all.
    var refusal: EmulatorResponse? {
        let fromQuery = request.options.first { $0.name.lowercased() == "zumo-api-version" }?.value
        guard let version = request.headers["ZUMO-API-VERSION"] ?? fromQuery, Self.isSupported(version) else {
            let rest = "this request needs to specify a ZUMO-API-VERSION of 2.0.0."
            return error(400, "An invalid API version was specified in the request, \(rest)")
        }
        if let token = request.headers["X-ZUMO-AUTH"], token.split(separator: ".").count != 3 {
            return makeResponse(401, ["name": "JsonWebTokenError", "message": "jwt malformed"])
        }
        return configuration.accepts(request) ? nil : error(400, "request entity too large")
    }

    private static func isSupported(_ version: String) -> Bool {
        let patch = version.dropFirst(4).utf8
        let isNumber = patch.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return version.hasPrefix("2.0.") && !patch.isEmpty && isNumber
    }

    func response(id: String?, table: inout EmulatedTable) -> EmulatorResponse {
        switch (request.method, id) {
        case ("GET", nil): list(table)
        case ("POST", nil): insert(into: &table)
        case ("GET", let id?): read(RowID(id), in: table)
        case ("POST", let id?): undelete(RowID(id), in: &table)
        case ("PATCH", let id): update(id, in: &table)
        case ("DELETE", let id?): delete(RowID(id), in: &table)
        case ("DELETE", nil): missing
        case ("HEAD", _): error(500, "Cannot answer HEAD")
        default: notRouted
        }
    }

    // MARK: Operations

    private func insert(into table: inout EmulatedTable) -> EmulatorResponse {
        let item: Protocol2Item
        switch Protocol2Item.read(from: request, purpose: "insert") {
        case .success(let read): item = read
        case .failure(let refusal): return error(refusal.status, refusal.message)
        }
        let sentID = configuration.store.assignsIDs ? nil : item.id
        let id = RowID(sentID ?? configuration.makeID())
        guard table[id] == nil else { return makeResponse(409, .object(item.members)) }
        let stamp = table.nextStamp(now: configuration.clock())
        let sentVersion = item.version.map { Data($0.utf8).base64EncodedString() }
        let row = EmulatedRow(
            id: id,
            values: item.stored(over: [:], in: &table),
            createdAt: stamp / Timestamp.ticksPerMillisecond,
            stamp: stamp,
            version: sentVersion ?? configuration.makeVersion(after: nil),
            deleted: false
        )
        table.store(row)
        return entity(201, row, in: table)
    }

    private func read(_ id: RowID, in table: EmulatedTable) -> EmulatorResponse {
        guard let row = table[id], !row.deleted else { return uncached(missing) }
        return entity(200, row, in: table)
    }

    private func update(_ pathID: String?, in table: inout EmulatedTable) -> EmulatorResponse {
        let item: Protocol2Item
        switch Protocol2Item.read(from: request, purpose: "update") {
        case .success(let read): item = read
        case .failure(let refusal): return error(refusal.status, refusal.message)
        }
        if let pathID, let bodyID = item.id, RowID(pathID) != RowID(bodyID) {
            return error(400, "The item ID and querystring ID did not match")
        }
        guard !item.columns.isEmpty else { return error(500, "SQLITE_ERROR: near \"WHERE\": syntax error") }
        guard let id = pathID ?? item.id, var row = table[RowID(id)], !isHidden(row) else { return missing }
        if let ifMatch {
            guard ifMatch == row.version else { return entity(412, row, in: table) }
        } else if let version = item.version {
            guard version == row.version else { return entity(409, row, in: table) }
        }
        row.values = item.stored(over: row.values, in: &table)
        return entity(200, touched(row, in: &table), in: table)
    }

    private func delete(_ id: RowID, in table: inout EmulatedTable) -> EmulatorResponse {
        guard var row = table[id], !isHidden(row) else { return missing }
        // A deleted row is found by no condition, so even its current version does not match.
        if row.deleted { return entity(ifMatch == nil ? 409 : 412, row, in: table) }
        if let ifMatch, ifMatch != row.version { return entity(412, row, in: table) }
        guard table.definition.softDelete else {
            table.remove(id)
            return entity(200, row, in: table)
        }
        row.deleted = true
        return entity(200, touched(row, in: &table), in: table)
    }

    /// Whether a row is deleted and therefore not found by what changes rows.
    private func isHidden(_ row: EmulatedRow) -> Bool {
        configuration.edition == .node4 && row.deleted
    }

    private func undelete(_ id: RowID, in table: inout EmulatedTable) -> EmulatorResponse {
        guard var row = table[id] else { return missing }
        if let ifMatch, ifMatch != row.version { return entity(412, row, in: table) }
        row.deleted = false
        return entity(201, touched(row, in: &table), in: table)
    }

    /// Stores a changed row with a new stamp and version.
    private func touched(_ row: EmulatedRow, in table: inout EmulatedTable) -> EmulatedRow {
        var row = row
        row.stamp = table.nextStamp(now: configuration.clock())
        row.version = configuration.makeVersion(after: row.version)
        table.store(row)
        return row
    }

    /// The version asked for. Anything but one tag, with or without quotes, is a version no row has.
    private var ifMatch: String? {
        guard let field = request.headers["If-Match"], !field.isEmpty else { return nil }
        guard field.count > 1, field.hasPrefix("\""), field.hasSuffix("\"") else { return field }
        return String(field.dropFirst().dropLast()).replacing("\\\"", with: "\"")
    }
}
