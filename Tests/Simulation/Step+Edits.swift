internal import OfflineSync
internal import SeededNumbers
internal import SyncContract

/// What users write.
extension Step {
    static let edits: [Step] = [
        Step("edits", 26) { device, random in
            let row = device.anyRow(&random)
            let columns = random.pick([["title"], ["note"], WorldSettings.columns])
            let inserts = random.chance(2, of: 3)
            let list = device.anyList(of: row, &random)
            return { try await $0.edit(row, columns, list: list, inserts: inserts) }
        },
        Step("deletes", 8) { device, random in
            let row = device.anyRow(&random)
            return { try await $0.delete(row) }
        },
        Step("writes a group", 8) { device, random in
            let changes = (0..<random.pick([2, 2, 3, 4])).map { _ in GroupChange(device, &random) }
            return { try await $0.write(changes) }
        },
        Step("opens an editor", 3) { device, random in
            let row = device.anyRow(&random)
            return { device in
                guard let record = try await device.table(row.table).read(row.id) else { return }
                device.editor = (row.table, device.life.names.fromDevice(record))
            }
        },
        Step("saves what is in the editor", 5) { _, random in
            let deletes = random.chance(1, of: 5)
            return { try await $0.saveEditor(deletes: deletes) }
        },
        Step("marks", 6) { device, random in
            let row = device.anyRow(&random)
            return { try await $0.mark(row) }
        }
        .played(where: \.hasLocalColumn),
    ]
}

/// One change of a group.
struct GroupChange {
    let row: RowKey
    let deletes: Bool
    let columns: [String]
    let list: String?

    init(_ device: Device, _ random: inout SeededGenerator) {
        row = device.anyRow(&random)
        list = device.anyList(of: row, &random)
        deletes = random.chance(1, of: 4)
        columns = random.pick([["title"], ["note"], WorldSettings.columns])
    }

    /// The rows that a group changes, in the order of their first changes. One that is deleted and made again may have been
    /// forgotten in between: then it stands where it was made again.
    static func rows(_ changes: [GroupChange], in world: World, _ before: StoreSnapshot) -> [RowKey] {
        var rows: [RowKey] = []
        var isThere: [RowKey: Bool] = [:]
        for change in changes {
            let key = world.key(change.row)
            let wasThere = isThere[key] ?? (before.rows[key] != nil)
            guard wasThere || !change.deletes else { continue }
            if isThere[key] == false { rows.removeAll { $0 == key } }
            isThere[key] = !change.deletes
            if !rows.contains(key) { rows.append(key) }
        }
        return rows
    }
}

extension Device {
    /// A row, its id in some casing where that makes no difference.
    func anyRow(_ random: inout SeededGenerator) -> RowKey {
        let table = world.settings.tables.count > 1 ? random.pick(world.settings.tables) : world.settings.tables[0]
        let id = random.pick(world.settings.ids)
        let isOther = !world.settings.idsDifferByCase && random.chance(1, of: 3)
        return RowKey(table: table, id: isOther ? id.uppercased() : id)
    }

    /// The id of a list that a row is to name; nil when it names none, or the one that it names already.
    func anyList(of row: RowKey, _ random: inout SeededGenerator) -> String? {
        guard world.settings.refers(row.table), random.chance(2, of: 3) else { return nil }
        return random.pick(world.settings.ids)
    }

    /// Makes a call whose changes are the user's; of a group with the rows in the order in which they are changed.
    func changing(
        seen: (key: RowKey, row: Record)? = nil,
        group: [GroupChange] = [],
        _ body: () async throws -> Void
    ) async throws {
        let witness = ChangeWitness(mayMark: true, isGroup: !group.isEmpty) { [self] before, after in
            let count = world.ledger.order.count
            world.ledger.change(by: number, from: before, to: after, seen: seen)
            if group.isEmpty { checkReferences(before, after) }
            if group.isEmpty || world.settings.rule != .noAction {
                world.ledger.noteCircles(of: number, after)
                noteWhatFollowed(before, after, since: count)
            } else {
                let rows = GroupChange.rows(group, in: world, before)
                world.ledger.group(rows, world.ledger.order[count...], by: number, after)
            }
            world.note("    \(name) has \(after.story).")
        }
        try await witness.seeing(body)
    }

    /// Where a rule says so, nothing refers to a row that was deleted here.
    private func checkReferences(_ before: StoreSnapshot, _ after: StoreSnapshot) {
        guard world.settings.rule != .noAction else { return }
        let deleted = before.rows.keys.filter { $0.table == "lists" && after.rows[$0] == nil }
        for (key, row) in after.rows {
            guard let list = row["list"]?.stringValue, row["list"] == before.rows[key]?["list"] else { continue }
            if deleted.contains(world.settings.key(list, in: "lists")) {
                world.fail("\(name) has \(key), which refers to a list that was deleted with what refers to it")
            }
        }
    }

    /// What was deleted because a list was goes before it.
    private func noteWhatFollowed(_ before: StoreSnapshot, _ after: StoreSnapshot, since count: Int) {
        guard world.settings.rule == .cascade else { return }
        let deleted = before.rows.filter { after.rows[$0.key] == nil }
        for (key, row) in deleted {
            guard let id = row["list"]?.stringValue else { continue }
            let list = world.settings.key(id, in: "lists")
            guard deleted[list] != nil, before.operations[key] == nil, before.operations[list] == nil else { continue }
            world.ledger.group([key, list], world.ledger.order[count...], by: number, after)
        }
    }

    /// Writes new values, into the row that is there or into a new one.
    func edit(_ row: RowKey, _ columns: [String], list: String? = nil, inserts: Bool) async throws {
        let list = list.map { ["list": FieldValue.string($0)] } ?? [:]
        let table = try table(row.table)
        if try await table.read(row.id) == nil {
            guard inserts else { return }
            let values = WorldSettings.columns.map { ($0, FieldValue.string(newToken())) }
            let item = list.merging(values) { $1 }.merging(newMark()) { $1 }
            let written = life.names.onDevice(item)
            try await changing { try await table.insert(written, id: row.id) }
        } else {
            var change = Record(id: .string(row.id), list)
            for column in columns { change[column] = .string(newToken()) }
            for (name, value) in newMark() { change[name] = value }
            let written = life.names.onDevice(change)
            try await changing { try await table.update(written) }
        }
    }

    /// Values of the column that stays here, and of the one that the last version has no longer, for some rows.
    private func newMark() -> [String: FieldValue] {
        var values: [String: FieldValue] = [:]
        if world.settings.hasLocalColumn {
            let token = newToken()
            if token.utf8.last.map({ $0 % 2 == 0 }) ?? false { values["mark"] = .string(token) }
        }
        if world.settings.migrates, version < WorldSettings.lastVersion {
            let token = newToken()
            if token.utf8.last.map({ $0 % 8 == 0 }) ?? false { values["spare"] = .string(token) }
        }
        return values
    }

    /// Changes nothing but what stays here.
    func mark(_ row: RowKey) async throws {
        let table = try table(row.table)
        guard try await table.read(row.id) != nil else { return }
        let change = Record(id: .string(row.id), ["mark": .string(newToken())])
        try await ChangeWitness(mayMark: true) { _, _ in }.seeing { try await table.update(change) }
    }

    func delete(_ row: RowKey) async throws {
        let table = try table(row.table)
        // Deleting what was never seen goes over whatever the server has, which is not what is tried here.
        guard try await table.read(row.id) != nil else { return }
        try await changing { try await table.delete(row.id) }
    }

    /// Changes several rows together: those that are there are changed or deleted, others are made.
    func write(_ changes: [GroupChange]) async throws {
        let tables = Dictionary(uniqueKeysWithValues: try tables().map { ($0.name, $0) })
        let prepared = changes.map { change in
            let values = WorldSettings.columns.map { ($0, FieldValue.string(newToken())) }
            let list = change.list.map { ["list": FieldValue.string($0)] } ?? [:]
            return (change: change, values: list.merging(values) { $1 })
        }
        let names = life.names
        try await changing(group: changes) {
            try await context.write { transaction in
                for (change, values) in prepared {
                    guard let table = tables[change.row.table] else { continue }
                    let isThere = try transaction.read(change.row.id, in: table) != nil
                    if isThere, change.deletes {
                        try transaction.delete(change.row.id, from: table)
                    } else if isThere {
                        let written = values.filter { $0.key == "list" || change.columns.contains($0.key) }
                        try transaction.update(names.onDevice(Record(id: .string(change.row.id), written)), in: table)
                    } else if !change.deletes {
                        try transaction.insert(names.onDevice(values), id: change.row.id, into: table)
                    }
                }
            }
        }
    }

    /// Saves, or deletes, a row as it was when the editor was opened.
    func saveEditor(deletes: Bool) async throws {
        guard let (tableName, editor) = editor, editor.version != nil else { return }
        self.editor = nil
        let table = try table(tableName)
        let id = editor.id.stringValue ?? ""
        let seen = (key: world.settings.key(id, in: tableName), row: editor)
        // It may be older than what was decided since.
        keptOverNothing[seen.key] = nil
        guard try await table.read(id) != nil else { return }
        if deletes {
            try await changing(seen: seen) { try await table.delete(id, version: editor.version) }
        } else {
            var change = editor
            for column in WorldSettings.columns { change[column] = .string(newToken()) }
            // It stays what it is: somebody may have changed it since the editor was opened.
            change["mark"] = nil
            let written = life.names.onDevice(change)
            try await changing(seen: seen) { try await table.update(written) }
        }
    }
}
