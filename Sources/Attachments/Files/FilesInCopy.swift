internal import DurableFiles
internal import Synchronization

/// Files that have to stay while their folder is being copied: the database of the copy is made first, and speaks of the files of
/// that moment. Folders are told apart by their paths, and a store is open in one process at a time.
private enum FilesInCopy {
    struct Folder {
        var copies = 0
        /// What was to be removed meanwhile.
        var leaving: [String] = []
    }

    static let folders = Mutex<[String: Folder]>([:])
}

extension AttachmentFolder {
    /// The folder itself may not be there yet, the one around it is.
    private var place: String {
        let parent = FileSystem.folder(of: path)
        return "\(FileSystem.resolved(parent) ?? parent)/\(path.split(separator: "/").last ?? "")"
    }

    /// Whether a copy is being made.
    var isInCopy: Bool { FilesInCopy.folders.withLock { $0[place] != nil } }

    /// Removes what there is of a file that no row knows any more; at the end of the copies that are being made, if any are.
    func letGo(_ name: String) throws {
        let stays = FilesInCopy.folders.withLock { folders in
            guard folders[place] != nil else { return false }
            folders[place]?.leaving.append(name)
            return true
        }
        if !stays { try remove(name) }
    }

    /// Does something during which every file that is here now stays.
    package func keepingFiles<Value>(_ body: () async throws -> Value) async throws -> Value {
        let place = place
        FilesInCopy.folders.withLock { $0[place, default: .init()].copies += 1 }
        do {
            let value = try await body()
            try await endKeeping(place)
            return value
        } catch {
            do {
                try await endKeeping(place)
            } catch {
                // The next start removes it; the caller gets the reason for the failure.
            }
            throw error
        }
    }

    private func endKeeping(_ place: String) async throws {
        let leaving: [String] = FilesInCopy.folders.withLock { folders in
            guard var folder = folders[place] else { return [] }
            folder.copies -= 1
            folders[place] = folder.copies > 0 ? folder : nil
            return folder.copies > 0 ? [] : folder.leaving
        }
        // In a task of its own, since this one may be cancelled.
        try await Task { try await FileWork.run { [self] _ in for name in leaving { try remove(name) } } }.value
    }
}
