internal import OfflineSync
internal import RemoteContract
internal import SyncContract

/// Files that a rule wants and nobody waits for.
extension AttachmentWork {
    private static var batch: Int { 200 }

    /// The longest time that a file which the server does not have is not asked for again, in milliseconds: a day.
    static var longestAbsence: Int64 { 86_400_000 }

    /// Notes which files the rows name that have arrived, of those that were never here, so that they are fetched when there is
    /// room and time.
    func noteArrivals() async throws {
        guard let ahead else { return }
        let batch = ahead.arrived.take()
        do {
            for rule in ahead.rules {
                if batch.isEverything {
                    let named = rule.rows.selecting([rule.column])
                    for try await rows in store.batches(of: named, size: Self.batch) {
                        try await note(rows, rule.column)
                    }
                }
                for (table, ids) in batch.rows where table == rule.table { try await note(ids, of: rule) }
            }
        } catch {
            ahead.arrived.giveBack(batch)
            throw error
        }
    }

    private func note(_ ids: [RecordID], of rule: AttachmentsAhead.Rule) async throws {
        for start in stride(from: 0, to: ids.count, by: Self.batch) {
            let some = ids[start..<min(ids.count, start + Self.batch)].map(\.fieldValue)
            let query = rule.rows.filtered(by: Column("id").isAny(of: some)).selecting([rule.column])
            try await note(store.read { try $0.records(query) }, rule.column)
        }
    }

    private func note(_ rows: [Record], _ column: String) async throws {
        let names = Set(rows.compactMap { $0[column]?.stringValue.flatMap(AttachmentID.init) })
        // Mostly none is new.
        let new = try await store.read { reader in try names.filter { try Self.wasNeverHere($0, &reader) } }
        guard !new.isEmpty else { return }
        let now = now
        try await store.write { transaction in
            for id in new where try Self.wasNeverHere(id, &transaction) {
                let (name, key) = (try AttachmentFolder.newName(), try AttachmentFolder.newKey())
                var file = try transaction.attachment(id) ?? AttachmentFile(id, name: name, key: key, lastUsed: now)
                file.aheadFrom = now
                try transaction.save(file)
            }
        }
        for id in new { await states.changed(id) }
    }

    /// Whether nobody has heard of a file, or somebody has given up waiting for it; one that is to go from the server is not
    /// fetched any more.
    private static func wasNeverHere(
        _ id: AttachmentID,
        _ reader: inout some StoreReading & ~Copyable
    ) throws -> Bool {
        if let file = try reader.attachment(id) {
            guard !file.isHere, file.digest == nil, file.aheadFrom == nil, file.failure == nil else { return false }
        }
        let removals = Query(AttachmentRemovals.table.name).filtered(by: Column("file") == .string(id.text))
        // One whose change was given up stays at the server.
        return try reader.records(removals)
            .allSatisfy { try AttachmentRemovals.standing(of: $0, &reader) == .withdrawn }
    }

    /// Whether a file may be fetched that was noted, or put off, for a time. Further away than a day is none but after the clock
    /// was set back.
    static func isDue(_ time: Timestamp, _ now: Timestamp) -> Bool {
        time.milliseconds <= now.milliseconds || time.milliseconds > now.milliseconds + longestAbsence
    }

    /// Fetches a file that nobody waits for, if there is room for it.
    func downloadAhead(_ id: AttachmentID) async throws {
        // Who chose it may have read the list before it was put off, or refused.
        guard let file = try await file(id), let time = file.aheadFrom, Self.isDue(time, now), !file.isWanted,
            !file.isHere, file.failure == nil, let transport
        else { return }
        guard try await isWantedAhead(id) else {
            try await forget(file)
            try await change(id) { $0.aheadFrom = nil }
            return
        }
        defer { ahead?.release(id) }
        do {
            try await fetch(file, transport) { [self] length in
                guard try await claim(length, for: id) else {
                    // It is not asked for again before there is room for so much.
                    try await change(id) { $0.length = length }
                    throw NoRoom()
                }
            }
            // Who has asked for it meanwhile has it.
            try await note(file) { ($0.isHere, $0.isOnServer, $0.isWanted, $0.failure) = (true, true, false, nil) }
        } catch is NoRoom {
            try await forget(file)
        } catch let error as StoreError where error.code == .full {
            // What nobody waits for does not take the last of the disk.
            try await forget(file)
            try await postpone(file)
        } catch let error as RemoteError where error.code == .notFound {
            // Its sender may be at it, or offline, or it is gone: as long again as it has been missing, a day at most.
            try await postpone(file)
        }
    }

    private struct NoRoom: Error {}

    /// Removes what has arrived of a file, also when the transfer is cancelled meanwhile: it may never be gone on with.
    func forget(_ file: AttachmentFile) async throws {
        let removal = Task { [folder] in try await FileWork.run { _ in try folder.remove(file.name) } }
        try await removal.value
    }

    /// Puts off a file that is fetched ahead, for as long again as it has been missing.
    func postpone(_ file: AttachmentFile) async throws {
        let now = now
        let missing = now.milliseconds - file.lastUsed.milliseconds
        let next = Timestamp(milliseconds: now.milliseconds + min(max(missing, 15_000), Self.longestAbsence))
        try await change(file.id) { file in
            file.aheadFrom = next
            // It was noted by a clock that was put right since: it is missing from now on.
            if file.lastUsed.milliseconds > now.milliseconds { file.lastUsed = now }
        }
    }

    /// Whether a row that a rule is about still names a file.
    private func isWantedAhead(_ id: AttachmentID) async throws -> Bool {
        try await store.read { [rules = ahead?.rules ?? []] reader in
            try rules.contains { rule in
                let naming = rule.rows.filtered(by: Column(rule.column).isAny(of: id.spellings))
                return try reader.first(naming.selecting([])) != nil
            }
        }
    }

    /// Keeps room for a file that arrives, where there is some beside all that is here and arrives likewise.
    private func claim(_ length: Int64, for id: AttachmentID) async throws -> Bool {
        // In this order: what has arrived meanwhile counts twice rather than not at all.
        let claimed = ahead?.claim(length, for: id) ?? .max
        let taken = try await store.read { try $0.spaceTaken() }
        return claimed <= spaceLimit - taken
    }
}

extension StoreReading where Self: ~Copyable {
    /// How many bytes those files have that are here and on the server.
    mutating func spaceTaken() throws -> Int64 {
        let both = Query(AttachmentFiles.table.name)
            .filtered(by: Column("isOnServer") == true && Column("isHere") == true)
        return try aggregate(AggregateQuery(both, [.sum(of: "length")])).first?.values.first?.int64Value ?? 0
    }
}
