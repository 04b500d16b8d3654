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
    ///   to, or `io`.
    func destroy() throws {
        guard let temporaryNames = try temporaryNames() else { return }
        // The file goes last: as long as it is there, somebody knows that there is something left to do.
        for path in temporaryNames.map({ folder + $0 }) + [path] {
            do {
                try Self.destroy(path)
            } catch let failure as SystemCallFailure {
                throw destructionError(failure, path)
            }
        }
        do throws(SystemCallFailure) {
            try FileDescriptor(opening: folder, flags: O_RDONLY | O_DIRECTORY).synchronize()
        } catch {
            throw destructionError(error, folder)
        }
    }

    private static func destroy(_ path: String) throws {
        do {
            let descriptor = try FileDescriptor(opening: path, flags: O_WRONLY | O_NOFOLLOW | O_NONBLOCK)
            let status = try descriptor.status()
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw SystemCallFailure(call: "open", number: ELOOP)
            }
            var left = Int(status.st_size)
            while left > 0 {
                let count = min(left, 1 << 16)
                let noise = (0..<count).map { _ in UInt8.random(in: .min ... .max) }
                try unsafe noise.withUnsafeBytes { unsafe try descriptor.write($0) }
                left -= count
            }
            try descriptor.synchronize()
        } catch let failure as SystemCallFailure where failure.number == ENOENT {
            return
        }
        _ = try SystemCallFailure.check("unlink") { unsafe unlink(path) }
    }

    /// The files that `create` writes before it gives them their name; nil when not even the folder is there.
    private func temporaryNames() throws -> [String]? {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
            return nil
        } catch {
            throw KeyError(.io, message: "The folder of the \(role) at \(path) cannot be listed.", cause: error)
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
                message: "The \(role) at \(path) is not a regular file; remove it and what it leads to by hand.",
                cause: failure
            )
        }
        return KeyError(.io, message: "The \(role) at \(path) could not be destroyed.", cause: failure)
    }
}
