internal import Foundation

/// A fresh folder for the files of a run.
struct TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "sealedsync-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// A name that no file has had yet.
    func newFile() -> URL { url.appending(path: UUID().uuidString) }

    /// Removes a database with all that lies beside it.
    func removeDatabase(_ file: URL) throws {
        let name = file.lastPathComponent
        for other in try FileManager.default.contentsOfDirectory(atPath: url.path) where other.hasPrefix(name) {
            try FileManager.default.removeItem(at: url.appending(path: other))
        }
    }

    func remove() {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            FileHandle.standardError.write(Data("'\(url.path)' could not be removed: \(error)\n".utf8))
        }
    }
}
