package import DurableFiles
package import Foundation
internal import SecretMemory
internal import SyncContract

/// The folder of the encrypted files. Every call blocks.
///
/// A file has a random name of 32 digits; `.new` behind it while it is taken in, `.part` while it arrives. What has its name
/// is whole.
package struct AttachmentFolder: Sendable {
    /// The name of the folder in that of the store.
    package static let name = "attachments"

    let path: String
    let fileSystem: FileSystem

    package init(_ url: URL, in fileSystem: FileSystem = FileSystem()) {
        path = url.path.count > 1 && url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
        self.fileSystem = fileSystem
    }

    /// What a file is at.
    enum Stage: String {
        case whole = ""
        case new = ".new"
        case partial = ".part"
    }

    func path(of name: String, _ stage: Stage = .whole) -> String { "\(path)/\(name)\(stage.rawValue)" }

    /// A name that nothing has.
    static func newName() throws -> String {
        let random = try SecretBytes.random(count: 16)
        return unsafe random.withUnsafeBytes { bytes in
            unsafe bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    static func newKey() throws -> SecretBytes { try SecretBytes.random(count: ChunkCipher.keyCount) }

    /// Makes the folder when it is missing.
    func make() throws {
        guard !FileSystem.isFolder(path) else { return }
        do throws(SystemCallFailure) {
            try fileSystem.createFolder(path)
        } catch {
            guard FileSystem.isFolder(path) else { throw error }
        }
        try fileSystem.synchronize(FileSystem.folder(of: path))
    }

    /// The names of all that lies in the folder; none when there is no folder.
    package func names() throws -> [String] {
        guard FileSystem.isFolder(path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// Gives a file that is whole and on the medium its name.
    func publish(_ name: String, _ stage: Stage) throws {
        try fileSystem.replace(path(of: name), with: path(of: name, stage))
    }

    /// Removes what there is of a file.
    func remove(_ name: String) throws {
        for stage in [Stage.whole, .new, .partial] { try fileSystem.remove(path(of: name, stage)) }
    }

    func open(_ file: AttachmentFile) throws -> SealedFileReader {
        let reader = try SealedFileReader(path(of: file.name), file.key)
        // Whoever shortens a file at a chunk does not know the key, and whoever exchanges it neither: this is for the row.
        guard file.length == reader.layout.length else { throw SealedFileReader.damaged }
        return reader
    }
}

extension AttachmentFolder {
    /// Whether all of a file is here.
    func hasWhole(_ name: String) -> Bool { FileSystem.exists(path(of: name)) }

    /// Goes on with what has arrived of a file, or begins it.
    func partialWriter(_ file: AttachmentFile) throws -> SealedFileWriter {
        try make()
        let path = path(of: file.name, .partial)
        guard FileSystem.exists(path) else { return try SealedFileWriter(creating: path, file.key, in: fileSystem) }
        return try SealedFileWriter(resuming: path, file.key, in: fileSystem)
    }
}
