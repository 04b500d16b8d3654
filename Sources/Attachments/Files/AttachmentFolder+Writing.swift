internal import DurableFiles
internal import SyncContract

extension AttachmentFolder {
    /// Writes a file: under another name first, which it gets rid of when it is whole and on the medium.
    ///
    /// - Parameters:
    ///   - file: Its name and its key.
    ///   - next: Gives the content in pieces, and nil at the end.
    /// - Returns: How long the content is, and its SHA-256.
    /// - Throws: What `next` throws, and what the system says; there is no file then.
    func write(_ file: AttachmentFile, _ next: () throws -> [UInt8]?) throws -> (Int64, [UInt8]) {
        try make()
        do {
            var writer = try SealedFileWriter(creating: path(of: file.name, .new), file.key, in: fileSystem)
            var digest = try RunningDigest()
            while let bytes = try next() {
                try digest.add(bytes)
                try writer.write(bytes)
            }
            try writer.finish()
            try publish(file.name, .new)
            return (writer.length, try digest.finish())
        } catch {
            do {
                try remove(file.name)
            } catch {
                // It is removed when the store is opened next; the caller gets the reason for the failure.
            }
            throw error
        }
    }

    /// Removes what no row knows, which a kill has left behind. Files of others stay.
    ///
    /// - Parameters:
    ///   - wanted: The names of the files of all rows, and whether what there is of them is to stay.
    ///   - damaged: The names of those that stay when they are whole.
    /// - Returns: The names of the files that are whole.
    /// - Throws: What the system says.
    func sweep(keeping wanted: [String: Bool], damaged: Set<String>) throws -> Set<String> {
        if FileSystem.isFolder(path) {
            // A kill may have come between a name and its way to the medium, and rows are about to rely on it.
            try fileSystem.synchronize(FileSystem.folder(of: path))
            try fileSystem.synchronize(path)
        }
        var whole: Set<String> = []
        for entry in try names() {
            guard let (name, stage) = Self.parts(of: entry) else { continue }
            if wanted[name] == true && stage != .new || stage == .whole && damaged.contains(name) {
                if stage == .whole { whole.insert(name) }
            } else {
                try fileSystem.remove(path(of: name, stage))
            }
        }
        return whole
    }

    /// The name and the stage of a file that was made here; nil for those of others.
    static func parts(of entry: String) -> (name: String, stage: Stage)? {
        let name = String(entry.prefix(32))
        guard AttachmentFile.isName(name), let stage = Stage(rawValue: String(entry.dropFirst(32))) else { return nil }
        return (name, stage)
    }
}
