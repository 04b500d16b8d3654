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
    ///   to, `inUse` while somebody is replacing the file, or `io`, whose message says what is left of the file: in a folder
    ///   that may not be written it is as it was.
    func destroy() throws {
        var state = DestructionState.untouched
        do {
            // Whoever is replacing the file would bring it back.
            let file = try openLocked(path)
            let temporaries = try temporaryNames() ?? []
            // What is overwritten and cannot be removed would be lost and still there.
            if file.exists || !temporaries.isEmpty { try FileSystem.checkWritable(folder) }
            // It goes last: as long as it is there, somebody knows that there is something left to do.
            for name in temporaries {
                let temporary = folder + name
                state = .temporary(temporary)
                // A creation that was killed may have left it as a second name of the file, which is locked already.
                if try file.isFile(at: temporary) {
                    try fileSystem.remove(temporary)
                } else {
                    try destroy(temporary, openLocked(temporary)) { _ in }
                }
            }
            state = .untouched
            try destroy(path, file) { state = $0 }
            state = .removed
            try synchronizeFolderIfThere()
        } catch let failure as SystemCallFailure {
            throw destructionError(failure, state)
        }
    }

    /// How far a destruction has come.
    private enum DestructionState {
        case untouched
        /// The file is untouched, and what a creation has left of it is going.
        case temporary(String)
        case overwriting
        case overwritten
        case removed
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

    private func destroy(
        _ path: String,
        _ lock: consuming FileLock?,
        _ report: (DestructionState) -> Void
    ) throws {
        guard let lock else { return }
        var left = Int(try lock.descriptor.status().st_size)
        report(.overwriting)
        while left > 0 {
            let count = min(left, 1 << 16)
            try lock.descriptor.write((0..<count).map { _ in UInt8.random(in: .min ... .max) })
            left -= count
        }
        try lock.descriptor.synchronize()
        report(.overwritten)
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

    private func destructionError(_ failure: SystemCallFailure, _ state: DestructionState) -> KeyError {
        guard failure.number != ELOOP else {
            let link = if case .temporary(let temporary) = state { temporary } else { path }
            return KeyError(
                .insecurePermissions,
                "The \(role) at \(link) is not a regular file; remove it and what it leads to by hand.",
                cause: failure
            )
        }
        let isRefused = [EACCES, EPERM, EROFS].contains(failure.number)
        let remedy = (isRefused ? "Make it and its folder writable" : "Look at the medium") + ", and repeat."
        let message =
            switch state {
            case .untouched: "The \(role) at \(path) could not be destroyed and is as it was. \(remedy)"
            case .temporary(let temporary):
                "The \(role) at \(path) is as it was: '\(temporary)', which a creation has left, could not be destroyed. \(remedy)"
            case .overwriting:
                "The \(role) at \(path) is overwritten, in part at least, and perhaps not on the medium yet: take what it held for "
                    + "lost. \(remedy)"
            case .overwritten:
                "The \(role) at \(path) is overwritten: what it held is gone, and only the file is still there. \(remedy)"
            case .removed:
                "The \(role) at \(path) is overwritten and removed: what it held is gone. Only its name may come back after a loss "
                    + "of power. \(remedy)"
            }
        return KeyError(.inputOutput, message, cause: failure)
    }
}

extension FileLock? {
    /// Whether there is a file.
    fileprivate var exists: Bool {
        borrowing get {
            switch self {
            case .some: true
            case .none: false
            }
        }
    }

    /// Whether there is a file, and it is the one at a path.
    fileprivate borrowing func isFile(at path: String) throws(SystemCallFailure) -> Bool {
        switch self {
        case .some(let lock): try lock.descriptor.isFile(at: path)
        case .none: false
        }
    }
}
