import DurableFiles

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension PrivateFile {
    /// Overwrites the file with random bytes, brings these to the medium, and removes the file; the same for what
    /// creations that were killed have left of it. A file that is not there is no error.
    ///
    /// - Throws: `KeyError` with code `insecurePermissions` for a symbolic link, which is left alone with what it leads
    ///   to, `inUse` while somebody is replacing the file, or `io`.
    func destroy() throws {
        var current = path
        do {
            // Whoever is replacing the file would bring it back.
            let file = try openLocked(path)
            // It goes last: as long as it is there, somebody knows that there is something left to do.
            for name in try temporaryNames() ?? [] {
                current = folder + name
                // A creation that was killed may have left it as a second name of the file, which is locked already.
                if try file.isFile(at: current) {
                    try fileSystem.remove(current)
                } else {
                    try destroy(current, openLocked(current))
                }
            }
            current = path
            try destroy(path, file)
            current = folder
            try synchronizeFolderIfThere()
        } catch let failure as SystemCallFailure {
            throw destructionError(failure, current)
        }
    }

    /// Opens and locks the regular file at a path, or returns `nil` when there is none.
    private func openLocked(_ path: String) throws -> FileLock? {
        while true {
            do {
                let flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK
                let descriptor = try FileDescriptor(opening: path, flags: flags, in: fileSystem)
                guard try descriptor.status().st_mode & S_IFMT == S_IFREG else {
                    throw SystemCallFailure(call: "open", number: ELOOP)
                }
                guard let lock = try FileLock(descriptor) else { throw inUse() }
                // Somebody may have replaced it before the lock was ours.
                if try lock.descriptor.isFile(at: path) { return lock }
            } catch let failure as SystemCallFailure where failure.number == ENOENT {
                return nil
            }
        }
    }

    private func destroy(_ path: String, _ lock: consuming FileLock?) throws {
        guard let lock else { return }
        var left = Int(try lock.descriptor.status().st_size)
        while left > 0 {
            let count = min(left, 1 << 16)
            try lock.descriptor.write((0..<count).map { _ in UInt8.random(in: .min ... .max) })
            left -= count
        }
        try lock.descriptor.synchronize()
        try fileSystem.remove(path)
    }

    private func synchronizeFolderIfThere() throws(SystemCallFailure) {
        do throws(SystemCallFailure) {
            try fileSystem.synchronize(folder)
        } catch {
            // Without a folder there was nothing to destroy.
            guard error.call == "open", error.number == ENOENT else { throw error }
        }
    }

    /// The files that `create` and `replace` write before they give them their name; nil when not even the folder is there.
    func temporaryNames() throws(KeyError) -> [String]? {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
            return nil
        } catch {
            throw KeyError(.inputOutput, "The folder of the \(role) at \(path) cannot be listed.", cause: error)
        }
        return names.filter { name in
            name.hasPrefix(".\(self.name).") && name.hasSuffix(".tmp")
                && name.utf8.count == self.name.utf8.count + 2 * RandomIdentifier.count + 6
        }
    }

    private func destructionError(_ failure: SystemCallFailure, _ path: String) -> KeyError {
        guard failure.number != ELOOP else {
            return KeyError(
                .insecurePermissions,
                "The \(role) at \(path) is not a regular file; remove it and what it leads to by hand.",
                cause: failure
            )
        }
        return KeyError(.inputOutput, "The \(role) at \(path) could not be destroyed.", cause: failure)
    }
}

extension FileLock? {
    /// Whether there is a file, and it is the one at a path.
    fileprivate borrowing func isFile(at path: String) throws(SystemCallFailure) -> Bool {
        switch self {
        case .some(let lock): try lock.descriptor.isFile(at: path)
        case .none: false
        }
    }
}
