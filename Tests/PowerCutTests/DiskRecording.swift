import CChangeRecording
import DurableFiles
import Foundation
import Synchronization

/// Writes down every change in a folder: those that `DurableFiles` makes, and those that SQLite makes.
///
/// There is one in a process: SQLite tells all of it to one function.
final class DiskRecording: Sendable {
    private struct State {
        var changes: [DiskChange] = []
        /// What SQLite has written, which need not be read.
        var databases: Set<String> = []
    }

    /// The folder, with every link followed.
    let root: String
    private let state = Mutex(State())
    private static let current = Mutex<DiskRecording?>(nil)

    /// Begins to write down what is done below a folder.
    init(of root: URL) throws {
        self.root = FileSystem.resolved(root.path) ?? root.path
        let isFirst = Self.current.withLock { current in
            defer { current = self }
            return current == nil
        }
        guard isFirst else { throw SystemCallFailure(call: "record_changes", number: EBUSY) }
        let code = unsafe record_changes { change, path, offset, bytes, count in
            guard let path = unsafe path else { return }
            let content = unsafe UnsafeRawBufferPointer(start: bytes, count: Int(count))
            unsafe DiskRecording.current.withLock { $0 }?
                .record(change, String(cString: path), Int(offset), Array(content))
        }
        guard code == 0 else { throw SystemCallFailure(call: "record_changes", number: code) }
    }

    /// What tells this of changes.
    var fileSystem: FileSystem { FileSystem { [self] in record($0) } }

    /// The changes so far.
    var changes: [DiskChange] { state.withLock { $0.changes } }

    /// Says that so many things were reported as done.
    func acknowledge(_ count: Int) { state.withLock { $0.changes.append(.acknowledged(count)) } }

    /// A path as the disk has it: from the folder on. Nil outside of it.
    private func place(_ path: String) -> String? {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        if path == root { return "" }
        return path.hasPrefix(root + "/") ? String(path.dropFirst(root.count + 1)) : nil
    }

    private func record(_ call: DurableCall) {
        switch call {
        case .created(let path):
            append(path) { .created($0, isFolder: FileSystem.isFolder(path)) }
        case .wrote(let path):
            guard let place = place(path), !state.withLock({ $0.databases.contains(place) }) else { return }
            do {
                let content = try FileSystem.prefix(of: path, count: FileSystem.size(of: path) ?? 0)
                append(path) { .wrote($0, at: 0, content) }
            } catch {
                fatalError("'\(path)' cannot be read: \(error)")
            }
        case .synchronized(let path): append(path) { .synchronized($0) }
        case .verified: break
        case .linked(let path, let newPath):
            append(path) { .linked($0, as: self.place(newPath) ?? newPath) }
        case .renamed(let path, let newPath):
            append(path) { .renamed($0, to: self.place(newPath) ?? newPath) }
        case .removed(let path): append(path) { .removed($0) }
        }
    }

    private func record(_ change: recorded_change, _ path: String, _ offset: Int, _ bytes: [UInt8]) {
        switch change {
        case recorded_creation: append(path) { .created($0, isFolder: false) }
        case recorded_write:
            if let place = place(path) { state.withLock { _ = $0.databases.insert(place) } }
            append(path) { .wrote($0, at: offset, bytes) }
        case recorded_truncation: append(path) { .resized($0, offset) }
        case recorded_synchronization: append(path) { .synchronized($0) }
        case recorded_folder_synchronization: append(FileSystem.folder(of: path)) { .synchronized($0) }
        default: append(path) { .removed($0) }
        }
    }

    private func append(_ path: String, _ change: (String) -> DiskChange) {
        guard let place = place(path) else { return }
        let change = change(place)
        state.withLock { $0.changes.append(change) }
    }
}

/// A folder in memory where there is one: it is the order of the changes that is tried, and not a medium.
final class DiskFolder: Sendable {
    let url: URL

    init() throws {
        let memory = "/dev/shm"
        let parent =
            FileManager.default.isWritableFile(atPath: memory)
            ? URL(filePath: memory) : FileManager.default.temporaryDirectory
        url = parent.appending(path: "PowerCutTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            print("A temporary folder was left behind: \(error)")
        }
    }

    /// What lies in the folder, by path; nil for a folder.
    func contents() throws -> [String: [UInt8]?] {
        var contents: [String: [UInt8]?] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: url.path) {
            let full = url.appending(path: path)
            contents[path] = .some(FileSystem.isFolder(full.path) ? nil : Array(try Data(contentsOf: full)))
        }
        return contents
    }

    /// Puts files into the folder, in place of what is there.
    func write(_ files: [String: [UInt8]?]) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
            try FileManager.default.removeItem(at: url.appending(path: name))
        }
        for (path, content) in files.sorted(by: { $0.key < $1.key }) {
            let full = url.appending(path: path)
            guard let content else {
                try FileManager.default.createDirectory(at: full, withIntermediateDirectories: false)
                continue
            }
            try Data(content).write(to: full)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: full.path)
        }
    }
}
