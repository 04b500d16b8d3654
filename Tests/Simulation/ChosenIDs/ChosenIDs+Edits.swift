internal import OfflineSync
internal import SeededNumbers
internal import SyncContract

/// What users choose to change.
extension ChosenIDs {
    func edits(on device: ChosenDevice, most: Int) async throws -> [ChosenChange] {
        var changes: [ChosenChange] = []
        var newLists: [String] = []
        for _ in 0..<(1 + random.below(most)) {
            let change = try await edit(on: device, newLists)
            if change.kind == .insert, change.table == "lists" { newLists.append(change.id) }
            changes.append(change)
        }
        return changes
    }

    /// One change, which may refer to lists that are made together with it.
    private func edit(on device: ChosenDevice, _ newLists: [String]) async throws -> ChosenChange {
        let table = random.pick(["lists", "items", "items"])
        let text = newText()
        var values: [String: FieldValue] = ["text": .string(text)]
        if table == "items", random.chance(3, of: 4) {
            let lists = try await device.rows("lists").compactMap(\.id.stringValue) + newLists
            if !lists.isEmpty { values["list"] = .string(random.pick(lists)) }
        }
        var known: [Record] = []
        for row in try await device.rows(table) where try await isKnown(row, table, to: device) { known.append(row) }
        guard !known.isEmpty, random.chance(2, of: 3) else {
            let origin = String(text.dropFirst(4))
            values["origin"] = .string(origin)
            return ChosenChange(kind: .insert, table: table, id: "\(device.name)-\(origin)", values: values)
        }
        let id = random.pick(known).id.stringValue ?? ""
        var deletes = random.chance(1, of: table == "items" ? 4 : 8)
        if deletes { deletes = try await mayDelete(id, of: table, device) }
        return ChosenChange(kind: deletes ? .delete : .update, table: table, id: id, values: values)
    }

    /// Whether the device may delete a row: that changes those that refer to it, where a rule says so.
    func mayDelete(_ id: String, of table: String, _ device: ChosenDevice) async throws -> Bool {
        guard table == "lists", settings.rule != .noAction else { return true }
        for row in try await device.rows("items") where row["list"]?.stringValue == id {
            guard try await isKnown(row, "items", to: device) else { return false }
        }
        return true
    }

    /// Whether the device may change a row. While its maker does not know its id, only its content can tell which one it is:
    /// one that was made in advance, because another row has named it, says nothing of that.
    private func isKnown(_ row: Record, _ table: String, to device: ChosenDevice) async throws -> Bool {
        guard let origin = row["origin"]?.stringValue, let maker = ledger.maker(of: origin), maker != device.number
        else {
            return true
        }
        guard let id = try await device.context.table(table).serverID(of: row.id.stringValue ?? "") else { return true }
        return try await devices[maker].context.table(table).id(ofServerID: id) == "\(devices[maker].name)-\(origin)"
    }
}
