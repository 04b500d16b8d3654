internal import Dispatch
internal import Foundation

/// A fresh folder for the files of a run.
struct TemporaryFolder: @unchecked Sendable {  // The sources are made in the initializer and cancelled at the end only.
    let url: URL
    private let signals: [any DispatchSourceSignal]

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "sealedsync-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        self.url = url
        // An interrupted run leaves nothing behind either.
        signals = [SIGINT, SIGTERM]
            .map { number in
                _ = signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler {
                    Self.remove(url)
                    // Without the clean-up of libraries that other threads are still using.
                    _exit(1)
                }
                source.resume()
                return source
            }
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
        for source in signals { source.cancel() }
        Self.remove(url)
    }

    private static func remove(_ url: URL) {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            FileHandle.standardError.write(Data("'\(url.path)' could not be removed: \(error)\n".utf8))
        }
    }
}
