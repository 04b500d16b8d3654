#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension PrivateFile {
    /// The durable steps of ``create(_:random:onStep:)``, in order.
    ///
    /// A kill before `linked` leaves no file at the path, and after `openedTemporary` a temporary one beside it, which
    /// nothing reads and nobody needs. A kill after `linked` leaves the whole file at the path. A loss of power between
    /// `linked` and `synchronizedFolder` leaves either.
    package enum CreationStep: CaseIterable, Sendable {
        case started
        case openedTemporary
        case wroteTemporary
        case synchronizedTemporary
        case linked
        case removedTemporary
        case synchronizedFolder
    }

    /// Creates the file with mode 0600 and the given content, whole or not at all.
    ///
    /// Of several that create one file at the same time, one succeeds.
    ///
    /// - Throws: `KeyError` with code `alreadyExists` if something lies at the path, which is then untouched, or `io`.
    ///   An `io` of a step after `linked` leaves the file in place: it is whole, and only not proven to outlast a loss
    ///   of power.
    func create(
        _ content: UnsafeRawBufferPointer,
        random: RandomSource,
        onStep: (CreationStep) -> Void = { _ in }
    ) throws {
        let suffix = try random.makeIdentifier()
        let temporaryPath = "\(folder).\(name).\(suffix).tmp"
        onStep(.started)
        do throws(SystemCallFailure) {
            unsafe try openTemporary(temporaryPath).fill(content, onStep: onStep)
            // Unlike `rename`, `link` never replaces: it decides who was first.
            _ = try SystemCallFailure.check("link") { unsafe link(temporaryPath, path) }
            onStep(.linked)
            _ = try SystemCallFailure.check("unlink") { unsafe unlink(temporaryPath) }
            onStep(.removedTemporary)
            let folder = try FileDescriptor(opening: folder, flags: O_RDONLY | O_DIRECTORY)
            try folder.synchronize()
            onStep(.synchronizedFolder)
        } catch {
            // The first error is the one to report; a temporary file that stays behind is harmless.
            if error.call != "unlink" { _ = unsafe unlink(temporaryPath) }
            throw creationError(error)
        }
    }

    /// Opens a file for writing under a name that is free.
    func openTemporary(_ temporaryPath: String) throws(SystemCallFailure) -> FileDescriptor {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        return try FileDescriptor(opening: temporaryPath, flags: flags, mode: 0o600)
    }

    private func creationError(_ failure: SystemCallFailure) -> KeyError {
        // The one that was first may have changed the file already, and removed what lies about.
        if failure.call == "link", failure.number == EEXIST || failure.number == ENOENT && hasEntry {
            return alreadyExists(cause: failure)
        }
        return KeyError(
            .io,
            message: "The \(role) at \(path) could not be created; make room, or make its folder writable.",
            cause: failure
        )
    }

    private var hasEntry: Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    func alreadyExists(cause: SystemCallFailure? = nil) -> KeyError {
        KeyError(
            .alreadyExists,
            message: "There is a \(role) at \(path) already; open it, or choose another location.",
            cause: cause
        )
    }
}

extension FileDescriptor {
    /// Makes an empty file private, and returns when the content is on the medium.
    fileprivate borrowing func fill(
        _ content: UnsafeRawBufferPointer,
        onStep: (PrivateFile.CreationStep) -> Void
    ) throws(SystemCallFailure) {
        onStep(.openedTemporary)
        // The mode of `open` is narrowed by the process's mask.
        try setMode(0o600)
        unsafe try write(content)
        onStep(.wroteTemporary)
        try synchronize()
        onStep(.synchronizedTemporary)
    }
}
