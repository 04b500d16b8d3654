import DurableFiles

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension PrivateFile {
    /// Creates the file with mode 0600 and the given content, whole or not at all.
    ///
    /// The durable steps, in order: a temporary file beside it is created, written and synchronized; it gets the name,
    /// unless that is taken; the temporary name goes; the folder is synchronized. A kill before the naming leaves no
    /// file at the path, and perhaps a temporary one, which nothing reads and nobody needs; one after it leaves the
    /// whole file. A loss of power before the folder is synchronized leaves either.
    ///
    /// Of several that create one file at the same time, one succeeds.
    ///
    /// - Throws: `KeyError` with code `alreadyExists` if something lies at the path, which is then untouched, or `io`.
    ///   An `io` of a step after the naming leaves the file in place: it is whole, and only not proven to outlast a
    ///   loss of power.
    func create(_ content: UnsafeRawBufferPointer, random: RandomSource) throws {
        let temporaryPath = try makeTemporaryPath(random)
        do throws(SystemCallFailure) {
            let file = try fileSystem.create(temporaryPath)
            unsafe try file.write(content)
            try file.synchronize()
            try fileSystem.publish(temporaryPath, as: path)
        } catch {
            discard(temporaryPath)
            throw creationError(error)
        }
    }

    /// Waits until the name of a file that somebody else has made is on the medium, where this process has a say in that: a
    /// folder that it may only pass through, or that cannot be written, was there before.
    func synchronizeFolderIfAllowed() throws(KeyError) {
        do throws(SystemCallFailure) {
            try fileSystem.synchronize(folder)
        } catch {
            guard ![EACCES, EPERM, EROFS, EINVAL].contains(error.number) else {
                throw folderNotSynchronized(error)
            }
        }
    }

    /// A name beside the file that is free.
    func makeTemporaryPath(_ random: RandomSource) throws -> String {
        "\(folder).\(name).\(try random.makeIdentifier()).tmp"
    }

    /// Removes a temporary file after an error, which is the one to report.
    func discard(_ temporaryPath: String) {
        do {
            try fileSystem.remove(temporaryPath)
        } catch {
            // One that stays behind is harmless.
        }
    }

    private func creationError(_ failure: SystemCallFailure) -> KeyError {
        // The one that was first may have changed the file already, and removed what lies about.
        if failure.call == "link", failure.number == EEXIST || failure.number == ENOENT && hasEntry {
            return alreadyExists(cause: failure)
        }
        return KeyError(
            .inputOutput,
            "The \(role) at \(path) could not be created; make room, or make its folder writable.",
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
            "There is a \(role) at \(path) already; open it, or choose another location.",
            cause: cause
        )
    }
}
