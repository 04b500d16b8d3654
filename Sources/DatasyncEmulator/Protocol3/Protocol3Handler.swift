import Foundation

/// Answers requests as a Datasync server (protocol 3) does, check by check in its order.
struct Protocol3Handler {
    let configuration: EmulatorConfiguration
    let request: EmulatorRequest

    func response(id: String?, table: inout EmulatedTable) -> EmulatorResponse {
        switch (request.method, id) {
        case ("GET", nil): query(table)
        case ("POST", nil): create(in: &table)
        case ("GET", let id?): read(RowID(id), in: table)
        case ("PUT", let id?): replace(RowID(id), in: &table)
        case ("DELETE", let id?): delete(RowID(id), in: &table)
        default: EmulatorResponse(405, headers: ["Allow": id == nil ? "GET, POST" : "GET, PUT, DELETE"])
        }
    }

    // MARK: Operations

    private func create(in table: inout EmulatedTable) -> EmulatorResponse {
        let item: Protocol3Item
        switch Protocol3Item.read(from: request) {
        case .success(let read): item = read
        case .failure(let refusal): return refusal.response
        }
        let id = RowID(item.id.flatMap { $0.isEmpty ? nil : $0 } ?? configuration.makeID())
        if let stored = table[id] { return entity(409, stored, in: table) }
        if let refusal = item.refusal(by: table) { return refusal.response }
        let row = stored(item, as: id, in: &table)
        var response = entity(201, row, in: table)
        let host = request.headers["Host"] ?? "localhost"
        response.headers["Location"] = "\(request.scheme)://\(host)\(request.path)/\(PercentEncoding.encode(id.text))"
        return response
    }

    private func read(_ id: RowID, in table: EmulatedTable) -> EmulatorResponse {
        guard let row = table[id] else { return EmulatorResponse(404) }
        if row.deleted, table.definition.softDelete, !includesDeleted { return EmulatorResponse(410) }
        return unmetCondition(for: row, in: table) ?? entity(200, row, in: table)
    }

    private func replace(_ id: RowID, in table: inout EmulatedTable) -> EmulatorResponse {
        let item: Protocol3Item
        switch Protocol3Item.read(from: request) {
        case .success(let read): item = read
        case .failure(let refusal): return refusal.response
        }
        guard let sent = item.id, RowID(sent) == id else { return EmulatorResponse(400) }
        guard let row = table[id] else { return EmulatorResponse(404) }
        if row.deleted, table.definition.softDelete, !includesDeleted { return EmulatorResponse(410) }
        if let refusal = unmetCondition(for: row, in: table) { return refusal }
        if let refusal = item.refusal(by: table) { return refusal.response }
        let changed = stored(item, as: id, in: &table)
        return entity(200, changed, in: table)
    }

    private func delete(_ id: RowID, in table: inout EmulatedTable) -> EmulatorResponse {
        guard var row = table[id] else { return EmulatorResponse(404) }
        if row.deleted, table.definition.softDelete { return EmulatorResponse(410) }
        if let refusal = unmetCondition(for: row, in: table) { return refusal }
        if table.definition.softDelete {
            row.deleted = true
            row.stamp = table.nextStamp(now: configuration.clock())
            row.version = configuration.makeVersion(after: row.version)
            table.store(row)
        } else {
            table.remove(id)
        }
        return EmulatorResponse(204)
    }

    /// Stores an item whole: members it leaves out are gone afterwards.
    private func stored(_ item: Protocol3Item, as id: RowID, in table: inout EmulatedTable) -> EmulatedRow {
        let stamp = table.nextStamp(now: configuration.clock())
        let row = EmulatedRow(
            id: id,
            values: item.values,
            createdAt: stamp / Timestamp.ticksPerMillisecond,
            stamp: stamp,
            version: configuration.makeVersion(after: nil),
            deleted: item.deleted
        )
        for (name, value) in item.values {
            table.noteColumn(name, ColumnConversion.type(of: value))
        }
        table.store(row)
        return row
    }

    // MARK: Answers

    private func unmetCondition(for row: EmulatedRow, in table: EmulatedTable) -> EmulatorResponse? {
        let conditions = PreconditionHeaders(request.headers)
        switch conditions.evaluate(version: row.version, updatedAt: row.updatedAt, isRead: request.method == "GET") {
        case .met: return nil
        case .notModified: return EmulatorResponse(304)
        case .failed: return entity(412, row, in: table)
        case .malformed(let header): return .json(400, .string("The \(header) header is not a list of quoted ETags."))
        }
    }

    func entity(_ status: Int, _ row: EmulatedRow, in table: EmulatedTable) -> EmulatorResponse {
        var response = EmulatorResponse.json(status, .object(Self.members(of: row, in: table)))
        response.headers["ETag"] = "\"\(row.version)\""
        response.headers["Last-Modified"] = Timestamp.httpText(milliseconds: row.updatedAt)
        return response
    }

    /// A row as it is sent. Declared dates are UTC with milliseconds, whatever was stored.
    static func members(of row: EmulatedRow, in table: EmulatedTable) -> [String: JSONValue] {
        var members = row.values
        for (name, type) in table.definition.columns where type == .date {
            guard let value = members[name] else { continue }
            members[name] = ColumnConversion.convert(value, to: .date)
        }
        members["id"] = .string(row.id.text)
        members["updatedAt"] = .string(Timestamp.text(milliseconds: row.updatedAt))
        members["version"] = .string(row.version)
        members["deleted"] = .bool(row.deleted)
        return members
    }

    var includesDeleted: Bool {
        request.options.contains { $0.name.lowercased() == "__includedeleted" && $0.value.lowercased() == "true" }
    }
}
