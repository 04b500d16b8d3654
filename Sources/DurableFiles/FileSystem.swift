#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What changes files so that the change outlasts a kill or a loss of power.
///
/// Whoever changes files is handed one. One that was made with a closure tells it each change, in order, when it has
/// succeeded: tests look at the sequence, or end their process in it. Without a closure that costs nothing.
///
/// Every call blocks, and throws `SystemCallFailure`.
package struct FileSystem: Sendable {
    /// Is told each change, on the thread that made it.
    package typealias Observer = @Sendable (DurableCall) -> Void

    private let observer: Observer?

    /// Makes one that tells an observer, or nobody.
    package init(observer: Observer? = nil) { self.observer = observer }

    /// Tells the observer what succeeded. Also for changes that others make, such as SQLite.
    package func report(_ call: @autoclosure () -> DurableCall) {
        guard let observer else { return }
        observer(call())
    }

    /// Creates a file that only its owner may use, where nothing may lie, be it a link.
    package func create(_ path: String) throws(SystemCallFailure) -> FileDescriptor {
        let descriptor = try FileDescriptor(opening: path, flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, in: self)
        // The mode of `open` is narrowed by the process's mask.
        try descriptor.setMode(0o600)
        report(.created(path))
        return descriptor
    }

    /// Creates a folder that only its owner may use, where nothing may lie.
    package func createFolder(_ path: String) throws(SystemCallFailure) {
        try SystemCallFailure.check("mkdir") { unsafe mkdir(path, 0o700) }
        report(.created(path))
    }

    /// Creates a folder, and those around it that are missing, each for its owner only from its first instant on, and
    /// waits until their names are on the medium. One that is there stays as it is, but for its name, which whoever made
    /// it may not have brought there.
    package func createFolders(_ path: String) throws(SystemCallFailure) {
        let parent = Self.folder(of: path)
        if !Self.exists(parent) { try createFolders(parent) }
        do throws(SystemCallFailure) {
            try createFolder(path)
        } catch {
            guard error.number == EEXIST, Self.isFolder(path) else { throw error }
            // A folder around it that may only be passed through was there before.
            if unsafe access(parent, R_OK) != 0 { return }
        }
        try synchronize(parent)
    }

    /// Waits until the content of a file, or the names in a folder, are on the medium.
    package func synchronize(_ path: String) throws(SystemCallFailure) {
        try FileDescriptor(opening: path, flags: O_RDONLY, in: self).synchronize()
    }

    /// Removes a file if it exists.
    package func remove(_ path: String) throws(SystemCallFailure) {
        do throws(SystemCallFailure) {
            try SystemCallFailure.check("unlink") { unsafe unlink(path) }
        } catch {
            guard error.number == ENOENT else { throw error }
            return
        }
        report(.removed(path))
    }

    /// Removes a folder in which nothing lies.
    package func removeFolder(_ path: String) throws(SystemCallFailure) {
        try SystemCallFailure.check("rmdir") { unsafe rmdir(path) }
        report(.removed(path))
    }
}

/// How a file that is complete and synchronized gets its name. Both return when the name is on the medium; after an
/// error it is at the new path or at the old one, whole.
extension FileSystem {
    /// Puts a file or folder in the place of what lies at a path, in one step.
    package func replace(_ path: String, with temporaryPath: String) throws(SystemCallFailure) {
        try rename(temporaryPath, to: path)
        try synchronize(Self.folder(of: path))
    }

    /// Gives a file a name that nothing has. Of several that want one name, one succeeds.
    ///
    /// - Throws: `SystemCallFailure` with number `EEXIST` when something has the name.
    package func publish(_ temporaryPath: String, as path: String) throws(SystemCallFailure) {
        do throws(SystemCallFailure) {
            // Unlike `rename`, `link` never replaces: it decides who was first.
            try SystemCallFailure.check("link") { unsafe link(temporaryPath, path) }
            report(.linked(temporaryPath, as: path))
            try remove(temporaryPath)
        } catch {
            guard error.call == "link", [EPERM, ENOTSUP, EOPNOTSUPP].contains(error.number) else { throw error }
            try publishByRenaming(temporaryPath, as: path)
        }
        try synchronize(Self.folder(of: path))
    }

    /// File systems without such links, as on memory sticks, leave a moment between looking and renaming.
    func publishByRenaming(_ temporaryPath: String, as path: String) throws(SystemCallFailure) {
        guard !Self.exists(path), !Self.isLink(path) else { throw SystemCallFailure(call: "link", number: EEXIST) }
        try rename(temporaryPath, to: path)
    }

    private func rename(_ path: String, to newPath: String) throws(SystemCallFailure) {
        try SystemCallFailure.check("rename") { systemRename(path, newPath) }
        report(.renamed(path, to: newPath))
    }
}

private func systemRename(_ path: String, _ newPath: String) -> Int32 { unsafe rename(path, newPath) }
