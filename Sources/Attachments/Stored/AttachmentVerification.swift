package import SyncContract

/// Holds the files of the attachments against what the store knows of them.
package enum AttachmentVerification {
    /// Reads every file.
    ///
    /// Sound means: every row that has a file here has it, with the content that was added or fetched; every file has a row. A
    /// file that is being fetched belongs to its row, too.
    ///
    /// - Parameters:
    ///   - folder: The files.
    ///   - reader: The state of the store to look at.
    ///   - schema: The declared tables.
    /// - Returns: What is wrong: first rows without their files, then files without rows.
    /// - Throws: What the store throws.
    package static func findings(
        in folder: AttachmentFolder,
        _ reader: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> [StoreFinding] {
        var (findings, known): ([StoreFinding], Set<String>) = ([], [])
        if schema.table(AttachmentFiles.table.name) != nil {
            try reader.forEach(Query(AttachmentFiles.table.name)) { record in
                do {
                    let file = try AttachmentFile(record)
                    known.insert(file.name)
                    if let problem = problem(of: file, in: folder) { findings.append(problem) }
                } catch {
                    findings.append(damaged("a row of '\(AttachmentFiles.table.name)' is not one of an attachment"))
                }
            }
        }
        for entry in try folder.names() {
            let name = AttachmentFolder.parts(of: entry)
            if let name, known.contains(name.name), name.stage != .new { continue }
            findings.append(
                StoreFinding(
                    .strayAttachment,
                    .store,
                    "the file '\(AttachmentFolder.name)/\(entry)' belongs to no row",
                    remedy: name == nil
                        ? "it is not the store's; move it away" : "it is removed when the store is opened next"
                )
            )
        }
        return findings
    }

    private static func problem(of file: AttachmentFile, in folder: AttachmentFolder) -> StoreFinding? {
        // One that was here before and lies there all the same was found damaged, and may be the last copy.
        guard file.isHere || file.digest != nil && folder.hasWhole(file.name) else { return nil }
        guard folder.hasWhole(file.name) else { return damaged("\(words(file)) is missing", file) }
        do {
            let digest = try folder.open(file).digest {}
            return digest == file.digest
                ? nil : damaged("\(words(file)) has another content than was added", file)
        } catch {
            return damaged("\(words(file)) cannot be read", file)
        }
    }

    private static func words(_ file: AttachmentFile) -> String {
        "the file '\(AttachmentFolder.name)/\(file.name)' of attachment '\(file.id)'"
    }

    private static func damaged(_ message: String, _ file: AttachmentFile? = nil) -> StoreFinding {
        guard file?.isOnServer == true else { return StoreFinding(.damagedAttachment, .store, message) }
        return StoreFinding(
            .damagedAttachment,
            .store,
            message,
            remedy: "the server has it: open the store with its attachments and read it, and it is fetched again"
        )
    }
}
