import DurableFiles
import SecretMemory

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension PrivateFile {
    /// Reads the whole file into an array; for content that is not secret.
    ///
    /// - Throws: `KeyError` as `openForReading` and `checkedSize` do.
    func readBytes(maximum: Int) throws -> [UInt8] {
        let descriptor = try openForReading()
        var bytes = [UInt8](repeating: 0, count: try checkedSize(of: descriptor, maximum: maximum))
        unsafe try bytes.withUnsafeMutableBytes { buffer in unsafe try fill(buffer, from: descriptor) }
        return bytes
    }

    /// Reads the whole file straight into a secret.
    ///
    /// - Throws: `KeyError` as `openForReading` and `checkedSize` do.
    func readSecret(maximum: Int) throws -> SecretBytes {
        let descriptor = try openForReading()
        return unsafe try SecretBytes(count: checkedSize(of: descriptor, maximum: maximum)) { buffer in
            unsafe try fill(buffer, from: descriptor)
        }
    }

    /// Whether something lies at the path, be it a link to nothing.
    func exists() throws(KeyError) -> Bool {
        var status = stat()
        do throws(SystemCallFailure) {
            _ = try SystemCallFailure.check("lstat") { unsafe lstat(path, &status) }
            return true
        } catch {
            if error.number == ENOENT { return false }
            throw unreadable(error)
        }
    }

    func openForReading() throws(KeyError) -> FileDescriptor {
        do throws(SystemCallFailure) {
            // O_NOFOLLOW refuses a link in the file's place; O_NONBLOCK keeps a named pipe there from blocking.
            return try FileDescriptor(opening: path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        } catch {
            throw unreadable(error)
        }
    }

    /// The size of an open file that is private and not too large; looked at through the descriptor, so that nobody can
    /// exchange the file in between.
    func checkedSize(of descriptor: borrowing FileDescriptor, maximum: Int) throws(KeyError) -> Int {
        let status: stat
        do throws(SystemCallFailure) {
            status = try descriptor.status()
        } catch {
            throw unreadable(error)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw KeyError(.inputOutput, "The \(role) at \(path) is not a regular file.")
        }
        let mode = status.st_mode & 0o7777
        guard mode & ~0o600 == 0 else {
            throw KeyError(
                .insecurePermissions,
                "The \(role) at \(path) has mode \(String(mode, radix: 8)); it must be readable by its owner "
                    + "only (chmod 600). If others may have read it, what it protects should get new keys."
            )
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw KeyError(
                .insecurePermissions,
                "The \(role) at \(path) belongs to another user (\(status.st_uid)), who can exchange it: use it as that user, or "
                    + "take a copy of your own (chown)."
            )
        }
        guard try status.st_nlink <= 1 + temporaryLinkCount(of: status) else {
            throw KeyError(
                .insecurePermissions,
                "The \(role) at \(path) has \(status.st_nlink) names (hard links): what is done at another one is done here, "
                    + "and removing this one destroys nothing. Remove the others, or put a copy in its place."
            )
        }
        guard status.st_size <= maximum else {
            throw KeyError(
                .damagedFile,
                "The \(role) at \(path) has \(status.st_size) bytes, more than the \(maximum) it can have."
            )
        }
        return Int(status.st_size)
    }

    /// How many of a file's names are temporary ones of ours: a creation gives the file its name before the temporary one goes,
    /// and may be killed in between.
    private func temporaryLinkCount(of status: stat) throws(KeyError) -> nlink_t {
        guard status.st_nlink > 1 else { return 0 }
        var count: nlink_t = 0
        for name in try temporaryNames() ?? [] {
            var other = stat()
            if unsafe lstat(folder + name, &other) == 0, other.st_dev == status.st_dev, other.st_ino == status.st_ino {
                count += 1
            }
        }
        return count
    }

    private func fill(
        _ buffer: UnsafeMutableRawBufferPointer,
        from descriptor: borrowing FileDescriptor
    ) throws(KeyError) {
        let count: Int
        do throws(SystemCallFailure) {
            count = unsafe try descriptor.read(into: buffer)
        } catch {
            throw unreadable(error)
        }
        guard count == buffer.count else {
            throw KeyError(.inputOutput, "The \(role) at \(path) became shorter while it was read.")
        }
    }

    func unreadable(_ failure: SystemCallFailure) -> KeyError {
        switch failure.number {
        case ENOENT:
            KeyError(
                .secretUnavailable,
                "There is no \(role) at \(path); check the path, or restore the file from a backup.",
                cause: failure
            )
        case EACCES, EPERM:
            KeyError(.secretUnavailable, "The \(role) at \(path) may not be read.", cause: failure)
        case ELOOP:
            KeyError(
                .insecurePermissions,
                "The \(role) at \(path) is a symbolic link; give the location of the file itself.",
                cause: failure
            )
        default:
            KeyError(.inputOutput, "The \(role) at \(path) could not be read.", cause: failure)
        }
    }
}
