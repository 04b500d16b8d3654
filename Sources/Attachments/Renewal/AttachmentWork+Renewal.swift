internal import OfflineSync
internal import RemoteContract
internal import SyncContract
internal import SyncSessions

/// What follows a revocation: whoever was shut out may have a copy of the old database, with the keys of the files in it. Each file
/// gets another key, and with it another name, one file after the other.
extension AttachmentWork {
    /// Gives new keys to files that are not here, which takes no work. What had arrived of them in part is fetched anew. A damaged
    /// one that lies there all the same keeps its key until the server has said that it has the file.
    ///
    /// Nothing may travel meanwhile.
    func renewAbsent() async throws {
        let absent = Self.exposed.filtered(by: Column("isHere") == false)
        let ids = try await store.read { try $0.attachments(absent).map(\.id) }
        guard !ids.isEmpty else { return }
        let lying = try await FileWork.run { [folder] _ in Set(try folder.names()) }
        for start in stride(from: 0, to: ids.count, by: 500) {
            let old = try await store.write { transaction in
                try ids[start..<min(start + 500, ids.count)]
                    .compactMap { id -> String? in
                        guard var file = try transaction.attachment(id), file.isExposed, !file.isHere,
                            file.digest == nil || !lying.contains(file.name)
                        else { return nil }
                        let old = try file.become(FreshFile())
                        try transaction.save(file)
                        return old
                    }
            }
            try await FileWork.finish { [folder] in for name in old { try folder.letGo(name) } }
        }
    }

    /// Encrypts the files that are here anew, each whose key somebody else may have.
    ///
    /// One that is damaged keeps its key: a verification names it. It is fetched again under another one, if the server has it.
    ///
    /// - Parameter report: Is told, at the beginning and after each file, how many are done, and how many there are.
    /// - Returns: How many have another key now.
    /// - Throws: What ended it: what the store throws, and the system, with code `full` for instance, or `inUse` while a backup is
    ///   being made; `CancellationError`. Called again, it goes on with the files that are left.
    @discardableResult
    func renewPresent(_ report: (Int, Int) -> Void = { _, _ in }) async throws -> Int {
        let present = Self.exposed.filtered(by: Column("isHere") == true)
        let ids = try await store.read { try $0.attachments(present).map(\.id) }
        report(0, ids.count)
        var count = 0
        for (index, id) in ids.enumerated() {
            if try await renew(id) { count += 1 }
            report(index + 1, ids.count)
        }
        return count
    }

    /// The same as long as anything is left, after failures again.
    func renewUntilDone(_ prepare: () async throws -> Void) async {
        var progress = BackoffProgress()
        while true {
            do {
                try await prepare()
                try await renewPresent()
                return
            } catch let error as StoreError where [.locked, .closed].contains(error.code) {
                // It begins again when the store is unlocked.
                return
            } catch {
                let failure = (error as? StoreError).map { "\($0.code)" } ?? "\(type(of: error))"
                let wait = progress.wait(after: failure, environment.backoff, random: environment.random())
                do { try await environment.sleepUntil(environment.now() + wait) } catch { return }
            }
        }
    }

    /// What a revocation has marked.
    static var exposed: Query {
        Query(AttachmentFiles.table.name).filtered(by: Column(AttachmentFiles.exposure) == true)
    }

    private func renew(_ id: AttachmentID) async throws -> Bool {
        guard let file = try await file(id), file.isExposed, file.isHere else { return false }
        // Old and new files would lie there twice until its end, and in it.
        guard !folder.isInCopy else {
            throw StoreError(
                .inUse,
                "A backup of the attachments is being made; they are encrypted anew when it is done."
            )
        }
        let fresh = try FreshFile()
        var isMissing = false
        do {
            try await FileWork.run { [folder, gate] cancellation in
                try folder.encryptAnew(file, as: fresh) {
                    try gate.check()
                    try cancellation.check()
                }
            }
        } catch let error as StoreError where error.code == .damaged {
            _ = await damage(of: file)
            return false
        } catch let error as StoreError where error.code == .notFound {
            guard file.isOnServer else { return false }
            isMissing = true
        }
        let isHere = !isMissing
        let old: String?
        do {
            // It may have been removed, or have made room, meanwhile.
            old = try await store.write { transaction in
                guard var row = try transaction.attachment(id), row.isHere, row.name == file.name else { return nil }
                let old = row.become(fresh)
                row.isHere = isHere
                try transaction.save(row)
                return old
            }
        } catch {
            if await !isNamed(fresh.name, by: id) { await discard(fresh.name) }
            throw error
        }
        // A kill here leaves the old file, which the next start removes: no row knows it.
        try await FileWork.finish { [folder] in try folder.letGo(old ?? fresh.name) }
        await states.changed(id)
        return old != nil
    }

    /// Whether a row has a file, or may have it: what failed may be what came after the commit.
    private func isNamed(_ name: String, by id: AttachmentID) async -> Bool {
        let row = await Task { try await file(id) }.result
        guard case .success(let file) = row else { return true }
        return file?.name == name
    }

    /// Removes a file that has got no row, whatever has become of the task that has made it.
    func discard(_ name: String) async {
        let folder = folder
        // What stays is removed when the store is opened next.
        do { try await FileWork.finish { try folder.remove(name) } } catch {
            // As it says above.
        }
    }
}

extension AttachmentFolder {
    /// Writes the content of a file a second time, under another name and key, and holds it against what the row says.
    ///
    /// - Throws: What the system says, and `check`; `StoreError` with code `damaged` for a file that is not what was written. Then
    ///   there is no second file.
    fileprivate func encryptAnew(_ file: AttachmentFile, as fresh: FreshFile, _ check: () throws -> Void) throws {
        let reader = try open(file)
        var chunk = 0
        var new = file
        _ = new.become(fresh)
        let (_, digest) = try write(new) {
            try check()
            guard chunk < reader.layout.chunks, reader.layout.length > 0 else { return nil }
            defer { chunk += 1 }
            return try reader.content(of: chunk)
        }
        guard digest != file.digest else { return }
        try remove(fresh.name)
        throw SealedFileReader.damaged
    }
}
