internal import SyncContract

extension AttachmentWork {
    /// Brings the folder and the rows together again, whatever has ended the process before: files without a row go, and rows
    /// without a file say so.
    func sweep() async throws {
        let all = Query(AttachmentFiles.table.name)
        let files = try await store.read { try $0.attachments(all) }
        // What has arrived in part, or was not written down yet, is gone on with as long as somebody wants it.
        let wanted = Dictionary(files.map { ($0.name, $0.isHere || $0.isWanted || $0.aheadFrom != nil) }) { $0 || $1 }
        // One that was here before and is not noted as here is damaged, and may be the last copy.
        let damaged = Set(files.filter { $0.digest != nil }.map(\.name))
        let whole = try await FileWork.run { [folder] _ in try folder.sweep(keeping: wanted, damaged: damaged) }
        for file in files where file.isHere && !whole.contains(file.name) {
            try await change(file.id) {
                $0.isHere = false
                guard !$0.isOnServer else { return }
                $0.failure =
                    "The file is missing, and it was never sent; restore the store from a backup, or add it anew."
            }
        }
    }
}
