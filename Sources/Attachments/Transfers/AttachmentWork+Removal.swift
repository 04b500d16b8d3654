internal import OfflineSync
internal import RemoteContract
internal import SyncContract

extension AttachmentWork {
    /// Removes a file from the server that the app has removed, or whose owner has gone; unless a row names it again.
    func removeOnServer(_ id: AttachmentID) async throws {
        let (due, isNamed) = try await store.read { [references] reader in
            (try Self.dueRemovals(of: id, &reader), try references.name(id, &reader))
        }
        guard !due.isEmpty, let transport else { return }
        // What the app has asked for itself names no row.
        let isAsked = due.contains { $0["table"]?.stringValue == nil }
        if isAsked || !isNamed {
            try gate.check()
            try await transport.delete(id)
        }
        let (done, isRemoved) = (due.map(\.id), isAsked || !isNamed)
        try await store.write { transaction in
            try transaction.delete(done, from: AttachmentRemovals.table.name)
            guard isRemoved, var file = try transaction.attachment(id) else { return }
            file.isOnServer = false
            try transaction.save(file)
        }
        await states.changed(id)
    }

    private static func dueRemovals(
        of id: AttachmentID,
        _ reader: inout StoreReader
    ) throws -> [Record] {
        let query = Query(AttachmentRemovals.table.name).filtered(by: Column("file") == .string(id.text))
        return try reader.records(query).filter { try TransferList.isDue($0, &reader) }
    }

    /// Removes files that the server has, too, those first that were not used at all or not for longest, until the rest has
    /// room.
    func makeRoom(keeping kept: AttachmentID? = nil) async throws {
        let both = Query(AttachmentFiles.table.name)
            .filtered(by: Column("isHere") == true && Column("isOnServer") == true)
            .ordered(by: "lastUsed")
        let files: [AttachmentFile] = try await store.read { [spaceLimit] reader in
            guard try reader.spaceTaken() > spaceLimit else { return [] }
            // Those that came because of a rule, and that nobody has used, go first.
            let used = Column("aheadFrom") == .null
            return try reader.attachments(both.filtered(by: !used)) + reader.attachments(both.filtered(by: used))
        }
        var sum = files.reduce(0) { $0 + ($1.length ?? 0) }
        for file in files where sum > spaceLimit && file.id != kept {
            guard states.travelling(file.id) == nil else { continue }
            try await makeWay(file.id)
            sum -= file.length ?? 0
        }
    }

    /// Removes a file here that the server has, too. When it comes again it has another name and another key.
    private func makeWay(_ id: AttachmentID) async throws {
        let fresh = try FreshFile()
        let old: String? = try await store.write { transaction in
            guard var file = try transaction.attachment(id), file.isHere, file.isOnServer else { return nil }
            let old = file.become(fresh)
            file.isHere = false
            try transaction.save(file)
            return old
        }
        if let old { try await FileWork.run { [folder] _ in try folder.letGo(old) } }
        await states.changed(id)
    }

    /// Notes which files no row names, and removes those here for which that has been so for a day.
    func removeUnused() async throws {
        let all = Query(AttachmentFiles.table.name)
        for id in try await store.read({ try $0.attachments(all).map(\.id) }) {
            let now = now
            let name: String? = try await store.write { [references] transaction in
                guard var file = try transaction.attachment(id) else { return nil }
                let removals = Query(AttachmentRemovals.table.name).filtered(by: Column("file") == .string(id.text))
                let isNamed = try references.name(id, &transaction) || transaction.first(removals) != nil
                if isNamed {
                    guard file.unusedSince != nil else { return nil }
                    file.unusedSince = nil
                } else if let since = file.unusedSince, since.milliseconds <= now.milliseconds {
                    guard now.milliseconds - since.milliseconds >= Self.unusedTime else { return nil }
                    try transaction.delete([.string(id.text)], from: AttachmentFiles.table.name)
                    return file.name
                } else {
                    // The first time, or the clock was set back.
                    file.unusedSince = now
                }
                try transaction.save(file)
                return nil
            }
            guard let name else { continue }
            try await FileWork.run { [folder] _ in try folder.letGo(name) }
            await states.changed(id)
        }
    }

    /// How long a file that no row names stays, in milliseconds: a day.
    private static var unusedTime: Int64 { 86_400_000 }
}
