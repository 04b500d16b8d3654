internal import OfflineSync
internal import SeededNumbers
internal import SyncContract

/// What users write.
extension Step {
    static let edits: [Step] = [
        Step("edits", 30) { device, random in
            let id = device.anyID(&random)
            let columns = random.pick([["title"], ["note"], WorldSettings.columns])
            let inserts = random.chance(2, of: 3)
            return { try await $0.edit(id, columns, inserts: inserts) }
        },
        Step("deletes", 8) { device, random in
            let id = device.anyID(&random)
            return { try await $0.delete(id) }
        },
        Step("opens an editor", 3) { device, random in
            let id = device.anyID(&random)
            return { device in
                guard let row = try await device.table().read(id) else { return }
                device.editor = row
            }
        },
        Step("saves what is in the editor", 5) { _, random in
            let deletes = random.chance(1, of: 5)
            return { try await $0.saveEditor(deletes: deletes) }
        },
    ]
}

extension Device {
    /// The id of a row, in some casing where that makes no difference.
    func anyID(_ random: inout SeededGenerator) -> String {
        let id = random.pick(world.settings.ids)
        return !world.settings.idsDifferByCase && random.chance(1, of: 3) ? id.uppercased() : id
    }

    /// Makes a call whose changes are the user's.
    func changing(seen: Record? = nil, _ body: () async throws -> Void) async throws {
        let witness = ChangeWitness { [self] before, after in
            world.ledger.change(by: number, from: before, to: after, seen: seen)
            world.note("    \(name) has \(after.rows.map(\.story)).")
        }
        try await witness.seeing(body)
    }

    /// Writes new values, into the row that is there or into a new one.
    func edit(_ id: String, _ columns: [String], inserts: Bool) async throws {
        let table = try table()
        if try await table.read(id) == nil {
            guard inserts else { return }
            let values = WorldSettings.columns.map { ($0, FieldValue.string(newToken())) }
            try await changing { try await table.insert(Dictionary(uniqueKeysWithValues: values), id: id) }
        } else {
            var change = Record(id: .string(id))
            for column in columns { change[column] = .string(newToken()) }
            try await changing { try await table.update(change) }
        }
    }

    func delete(_ id: String) async throws {
        let table = try table()
        // Deleting what was never seen goes over whatever the server has, which is not what is tried here.
        guard try await table.read(id) != nil else { return }
        try await changing { try await table.delete(id) }
    }

    /// Saves, or deletes, a row as it was when the editor was opened.
    func saveEditor(deletes: Bool) async throws {
        guard let editor, editor.version != nil else { return }
        self.editor = nil
        let table = try table()
        guard try await table.read(editor.id.stringValue ?? "") != nil else { return }
        if deletes {
            try await changing(seen: editor) {
                try await table.delete(editor.id.stringValue ?? "", version: editor.version)
            }
        } else {
            var change = editor
            for column in WorldSettings.columns { change[column] = .string(newToken()) }
            try await changing(seen: editor) { try await table.update(change) }
        }
    }
}
