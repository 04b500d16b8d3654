internal import OfflineSync
internal import RemoteContract
internal import SyncContract

extension AttachmentWork {
    /// Removes a file from the server that the app has removed, or whose owners have gone; unless a row names it again.
    func removeOnServer(_ id: AttachmentID) async throws {
        let (due, isAsked, isKept) = try await store.read { [references] reader in
            let query = Query(AttachmentRemovals.table.name).filtered(by: Column("file") == .string(id.text))
            var (due, isAsked, isHeld): ([RecordID], Bool, Bool) = ([], false, false)
            for note in try reader.records(query) {
                switch try AttachmentRemovals.standing(of: note, &reader) {
                case .due: due.append(note.id)
                case .waiting: isHeld = true
                case .withdrawn: break
                }
                isAsked = isAsked || AttachmentRemovals.isAsked(note)
            }
            // What may still be taken back keeps the file, and what it waits for.
            if isHeld, !isAsked { due = [] }
            return (due, isAsked, try references.name(id, &reader))
        }
        guard !due.isEmpty, let transport else { return }
        // What the app has asked for itself is done whatever names it.
        let isRemoved = isAsked || !isKept
        if isRemoved {
            try gate.check()
            try await transport.delete(id)
        }
        try await store.write { transaction in
            try transaction.delete(due, from: AttachmentRemovals.table.name)
            guard var file = try transaction.attachment(id) else { return }
            // Of one that a row names again an earlier request may have arrived, whose answer was lost.
            file.isOnServer = false
            try transaction.save(file)
        }
        await states.changed(id)
    }

    /// Removes files that the server has, too, those first that were not used at all or not for longest, until the rest has
    /// room.
    ///
    /// The server is asked whether it still has the file: others may have removed it since, and the last copy stays. One that it
    /// does not tell of stays as well, and keeps none of the others.
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
        var failure: (any Error)?
        for file in files where sum > spaceLimit && file.id != kept {
            do {
                guard states.travelling(file.id) == nil, try await serverHas(file) else { continue }
                try await makeWay(file.id)
                sum -= file.length ?? 0
            } catch let error as RemoteError where TransferMachine.Outcome(error, .download).isOfTheFile {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Removes a file here that the server has, too. When it comes again it has another name and another key.
    private func makeWay(_ id: AttachmentID) async throws {
        let fresh = try FreshFile()
        let old: String? = try await store.write { transaction in
            guard var file = try transaction.attachment(id), file.isHere, file.isOnServer else { return nil }
            // It may be going from the server at this moment, and be wanted again.
            let notes = Query(AttachmentRemovals.table.name).filtered(by: Column("file") == .string(id.text))
            guard try !transaction.records(notes).contains(where: AttachmentRemovals.isDue) else { return nil }
            let old = file.become(fresh)
            file.isHere = false
            try transaction.save(file)
            return old
        }
        if let old { try await FileWork.finish { [folder] in try folder.letGo(old) } }
        await states.changed(id)
    }

    private func serverHas(_ file: AttachmentFile) async throws -> Bool {
        guard let transport, let length = file.length else { return false }
        try gate.check()
        if try await transport.state(of: file.id) == .complete(length) { return true }
        try await change(file.id) { $0.isOnServer = false }
        return false
    }

    /// Notes which files no row names, nor one that may come back, and removes those here for which that has been so for a day.
    func removeUnused() async throws {
        let (isSetAhead, date, before) = try await store.write { transaction in
            // The device may sleep between two of these: that is no leap of the clock, now or at the next look.
            let (before, date, after) = (environment.now(), now, environment.now())
            let isSetAhead = clock.wasSetAhead(date, after)
            try AttachmentRemovals.withdrawAll(&transaction)
            // What cannot be taken back any more keeps no file.
            try CancelledInserts.removeOld(store.schema, asOf: date, isSetAhead: isSetAhead, &transaction)
            return (isSetAhead, date, before)
        }
        if isSetAhead { try await restartDay() }
        clock.seen(date, before)
        let all = Query(AttachmentFiles.table.name)
        for id in try await store.read({ try $0.attachments(all).map(\.id) }) {
            let now = now
            let name: String? = try await store.write { [references, schema = store.schema] transaction in
                guard var file = try transaction.attachment(id) else { return nil }
                let removals = Query(AttachmentRemovals.table.name).filtered(by: Column("file") == .string(id.text))
                let isToBeSent = file.isDue && !file.isOnServer
                let isNamed = try references.name(id, &transaction) || transaction.first(removals) != nil || isToBeSent
                if isNamed {
                    guard file.unusedSince != nil else { return nil }
                    file.unusedSince = nil
                } else if let since = file.unusedSince, since.milliseconds <= now.milliseconds {
                    guard now.milliseconds - since.milliseconds >= Self.unusedTime else { return nil }
                    if try AttachmentMarks.filesBesideChanges(schema, &transaction).contains(id) {
                        // A change that is taken back, or given up, brings the row that names it.
                        file.unusedSince = now
                        try transaction.save(file)
                        return nil
                    }
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
            try await FileWork.finish { [folder] in try folder.letGo(name) }
            await states.changed(id)
        }
    }

    /// Lets the day of files that no row names begin anew: how long that has been so, the clock does not tell any more.
    private func restartDay() async throws {
        let now = now
        try await store.write { transaction in
            let unused = Query(AttachmentFiles.table.name).filtered(by: Column("unusedSince") != .null)
            for file in try transaction.attachments(unused) {
                var file = file
                file.unusedSince = now
                try transaction.save(file)
            }
        }
    }

    /// How long a file that no row names stays, in milliseconds: a day.
    private static var unusedTime: Int64 { 86_400_000 }
}
