import Foundation

/// Answers requests as a Datasync server (protocol 3) does, check by check in its order.
struct Protocol3Handler {
    let configuration: EmulatorConfiguration
    let request: EmulatorRequest
    /// The table as other users have it, with whom its ids are shared.
    var others: [EmulatedTable] = []

    func response(id: String?, table: inout EmulatedTable) -> EmulatorResponse {
        if configuration.edition == .predecessor { return predecessorResponse(id: id, table: &table) }
        return usualResponse(id: id, table: &table)
    }

    func usualResponse(id: String?, table: inout EmulatedTable) -> EmulatorResponse {
        switch (request.method, id) {
        case ("GET", nil): query(table)
        case ("POST", nil): create(in: &table)
        case ("GET", let id?): read(RowID(id), in: table)
        case ("PUT", let id?): replace(RowID(id), in: &table)
        case ("DELETE", let id?): delete(RowID(id), in: &table)
        default: EmulatorResponse(405, headers: ["Allow": id == nil ? "GET, POST" : "DELETE, GET, PUT"])
        }
    }

    // MARK: Operations

    private func create(in table: inout EmulatedTable) -> EmulatorResponse {
        let item: Protocol3Item
        do throws(Protocol3Item.Refusal) {
            item = try readItem(for: table)
        } catch {
            return refusal(error)
        }
        let sentID = configuration.store.assignsIDs ? nil : item.id
        let id = RowID(sentID.flatMap { $0.isEmpty ? nil : $0 } ?? configuration.makeID())
        if let stored = table[id] { return entity(409, stored, in: table) }
        for other in others {
            guard let stored = other[id] else { continue }
            return configuration.edition == .predecessor ? entity(409, stored, in: other) : EmulatorResponse(400)
        }
        let row = stored(item, as: id, in: &table)
        let canBeSent = id.text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        // Where the genuine server stumbles over the field, the row is there all the same.
        if configuration.isGenuine, !canBeSent { return EmulatorResponse(500) }
        var response = entity(201, row, in: table)
        guard response.status == 201 else { return response }
        response.headers["Location"] =
            request.displayedURL + "/" + (canBeSent ? id.text : PercentEncoding.encode(id.text))
        return response
    }

    private func read(_ id: RowID, in table: EmulatedTable) -> EmulatorResponse {
        guard let row = table[id] else { return EmulatorResponse(404) }
        if row.deleted, table.definition.softDelete, !includesDeleted { return EmulatorResponse(410) }
        return unmetCondition(for: row, in: table) ?? entity(200, row, in: table)
    }

    private func replace(_ id: RowID, in table: inout EmulatedTable) -> EmulatorResponse {
        let item: Protocol3Item
        do throws(Protocol3Item.Refusal) {
            item = try readItem(for: table)
        } catch {
            return refusal(error)
        }
        guard let sent = item.id, RowID(sent) == id else { return EmulatorResponse(400) }
        guard let row = table[id] else { return EmulatorResponse(404) }
        if row.deleted, table.definition.softDelete, !includesDeleted { return EmulatorResponse(410) }
        if let refusal = unmetCondition(for: row, in: table) { return refusal }
        let changed = stored(item, as: id, in: &table)
        // The usual server reads the row again, the predecessor does not.
        return entity(200, configuration.edition == .usual ? configuration.store.kept(changed) : changed, in: table)
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

    private func readItem(for table: EmulatedTable) throws(Protocol3Item.Refusal) -> Protocol3Item {
        // Who speaks protocol 2 may send what other servers of it have, and no entity for .NET.
        let dropped = configuration.dialect == .azureMobileApps ? "createdat" : nil
        let item = try Protocol3Item(request, for: table.definition, without: dropped)
        let isStored = configuration.isGenuine || configuration.edition == .predecessor
        if !isStored, item.holdsInfinity { throw .unreadable("A number is out of range.") }
        return item
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
        for name in item.names {
            table.noteColumn(name, ColumnConversion.type(of: item.values[name] ?? .null))
        }
        table.store(row)
        return row
    }

    var includesDeleted: Bool {
        request.options.contains { $0.name.lowercased() == "__includedeleted" && $0.value.lowercased() == "true" }
    }
}
