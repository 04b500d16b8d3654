package import DurableFiles
package import Foundation
import Synchronization

/// Writes down what is changed in a folder, and in what order.
package final class FileSystemRecorder: Sendable {
    private let folder: String
    private let calls = Mutex<[DurableCall]>([])

    /// Makes one whose lines name files by their paths in a folder, and the folder itself by a dot.
    package init(in folder: URL) {
        let path = FileSystem.resolved(folder.path) ?? folder.path
        self.folder = path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// A file system that tells this recorder.
    package var fileSystem: FileSystem {
        FileSystem { [self] call in calls.withLock { $0.append(call) } }
    }

    /// A line for each call since the last time, such as `rename store.db.new store.db`, with `*` for random names.
    package func takeLines() -> [String] {
        calls.withLock { calls in
            defer { calls = [] }
            return calls.map(line)
        }
    }

    private func line(_ call: DurableCall) -> String {
        switch call {
        case .created(let path): "create \(name(path))"
        case .wrote(let path): "write \(name(path))"
        case .synchronized(let path): "synchronize \(name(path))"
        case .verified(let path): "verify \(name(path))"
        case .linked(let path, let newPath): "link \(name(path)) \(name(newPath))"
        case .renamed(let path, let newPath): "rename \(name(path)) \(name(newPath))"
        case .removed(let path): "remove \(name(path))"
        }
    }

    private func name(_ path: String) -> String {
        let folderPath = FileSystem.resolved(FileSystem.folder(of: path)) ?? FileSystem.folder(of: path)
        let path = path.hasSuffix("/") ? folderPath : "\(folderPath)/\(path.split(separator: "/").last ?? "")"
        guard path != folder else { return "." }
        return path.replacing("\(folder)/", with: "").replacing(/[0-9a-f]{32}/, with: "*")
    }
}

extension FileSystem {
    /// A file system that does something when that many changes have been made, counted from 1.
    package static func acting(after count: Int, _ action: @escaping @Sendable () -> Void) -> FileSystem {
        let made = Mutex(0)
        return FileSystem { _ in
            let isTime = made.withLock { made in
                made += 1
                return made == count
            }
            if isTime { action() }
        }
    }

    #if os(Linux) || os(macOS)
    /// A file system in which the process is killed when that many changes have been made.
    package static func killing(after count: Int) -> FileSystem {
        acting(after: count) { kill(getpid(), SIGKILL) }
    }
    #endif
}
