internal import DurableFiles
package import Foundation
internal import SyncContract

extension AttachmentFolder {
    /// Copies all that is whole into a new folder, and returns when it is on the medium. Where there are no attachments, there
    /// is no folder.
    package func copy(to url: URL) async throws {
        try await FileWork.run { [self] cancellation in
            let copy = AttachmentFolder(url, in: fileSystem)
            for entry in try names() where Self.parts(of: entry)?.stage == .whole {
                try copy.make()
                try copyFile(entry, to: copy, cancellation)
            }
            if FileSystem.isFolder(copy.path) { try fileSystem.synchronize(copy.path) }
        }
    }

    private func copyFile(_ name: String, to copy: AttachmentFolder, _ cancellation: FileWork.Cancellation) throws {
        let source: FileDescriptor
        do throws(SystemCallFailure) {
            source = try FileDescriptor(reading: path(of: name))
        } catch {
            // It was removed meanwhile, as what is on the server, too, is when there is no room.
            guard FileSystem.exists(path(of: name)) else { return }
            throw error
        }
        let target = try fileSystem.create(copy.path(of: name))
        var offset = 0
        while true {
            try cancellation.check()
            let bytes = try SealedFileReader.read(1 << 20, from: source, at: offset)
            guard !bytes.isEmpty else { break }
            try target.write(bytes)
            offset += bytes.count
        }
        try target.synchronize()
    }

    /// Removes all that was made here, and the folder when nothing else is in it.
    ///
    /// - Throws: `StoreError` that names what could not be removed.
    package func removeAll() throws {
        guard FileSystem.isFolder(path) else { return }
        for entry in try entriesToRemove() where Self.parts(of: entry) != nil {
            let entry = "\(path)/\(entry)"
            do throws(SystemCallFailure) {
                try fileSystem.remove(entry)
            } catch {
                throw StoreError.notRemoved(entry, error)
            }
        }
        guard try entriesToRemove().isEmpty else { return }
        do throws(SystemCallFailure) {
            try fileSystem.removeFolder(path)
        } catch {
            throw StoreError.notRemoved(path, error)
        }
    }

    private func entriesToRemove() throws -> [String] {
        do {
            return try names()
        } catch {
            throw StoreError(
                .inputOutput,
                "The folder '\(path)' cannot be listed; make it readable, and repeat.",
                cause: error
            )
        }
    }
}
