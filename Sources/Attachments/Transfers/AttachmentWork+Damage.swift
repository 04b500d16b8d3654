internal import RemoteContract
internal import SyncContract

/// Files here that are not what was written any more.
extension AttachmentWork {
    /// Takes note that a file here is damaged: one that the server has, as far as is known, is fetched again. It lies there until
    /// the server itself has said so.
    ///
    /// - Returns: What its reader is told.
    func damage(of file: AttachmentFile) async -> StoreError {
        let isFetched = transport != nil
        do {
            let row: AttachmentFile? = try await store.write { transaction in
                guard var row = try transaction.attachment(file.id) else { return nil }
                guard isFetched, row.isHere, row.isOnServer, row.name == file.name else { return row }
                (row.isHere, row.isWanted, row.failure) = (false, true, nil)
                try transaction.save(row)
                return row
            }
            await states.changed(file.id)
            // It was removed meanwhile.
            guard let row else { return SealedFileReader.damaged }
            return row.isOnServer ? .damaged(isFetched: isFetched) : .lastCopyDamaged(row.name)
        } catch {
            // The store is locked or full: the next reading finds it once more.
            return file.isOnServer ? .damaged(isFetched: isFetched) : .lastCopyDamaged(file.name)
        }
    }

    /// Lets a file go that was found damaged, so that it is fetched under another name and another key, if the server says that it
    /// has it. One that turns out to be whole is left alone.
    ///
    /// - Returns: What is to be fetched; nil when nobody knows the file any more.
    /// - Throws: `StoreError` with code `damaged` when the server does not have it: it counts as here then, and stays.
    func replaced(_ file: AttachmentFile, _ transport: any AttachmentTransport) async throws -> AttachmentFile? {
        guard let length = file.length, file.digest != nil, try await isDamaged(file) else { return file }
        try gate.check()
        let isOnServer = try await transport.state(of: file.id) == .complete(length)
        let fresh = try FreshFile()
        let new: AttachmentFile? = try await store.write { transaction in
            guard var row = try transaction.attachment(file.id), !row.isHere, row.name == file.name else { return nil }
            if isOnServer {
                _ = row.become(fresh)
            } else {
                // Noted here: that it is not wanted any more may end the transfer before it can say why.
                (row.isHere, row.isOnServer, row.isWanted) = (true, false, false)
                row.failure = StoreError.lastCopyDamaged(row.name).message
            }
            try transaction.save(row)
            return row
        }
        guard isOnServer else { throw StoreError.lastCopyDamaged(file.name) }
        if new != nil { try await FileWork.finish { [folder] in try folder.letGo(file.name) } }
        return new
    }

    private func isDamaged(_ file: AttachmentFile) async throws -> Bool {
        try await FileWork.run { [folder] cancellation in
            guard folder.hasWhole(file.name) else { return false }
            do {
                return try folder.open(file).digest(cancellation.check) != file.digest
            } catch let error as StoreError where error.code == .damaged {
                return true
            }
        }
    }
}
