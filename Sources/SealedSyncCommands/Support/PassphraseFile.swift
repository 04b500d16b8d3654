internal import Foundation
internal import SealedSync

/// A passphrase or a recovery code in a file or a descriptor that an option names.
enum PassphraseFile {
    /// Reads one, and warns when others can read it too. It is taken all the same: containers and services often get
    /// their secrets in files that every user of theirs can read.
    static func read(_ path: String) async throws -> SecretBytes {
        let passphrase = try await PassphraseUnlocker.readPassphrase(from: URL(fileURLWithPath: path))
        if let mode = modeOpenToOthers(path) {
            Console.writeError(
                sentence:
                    "warning: others can read this file (mode \(String(mode, radix: 8))); run: chmod 600 '\(path)'"
            )
        }
        return passphrase
    }

    /// The permissions of a file that its group or everybody can read; nil for others, pipes included.
    private static func modeOpenToOthers(_ path: String) -> mode_t? {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let mode = status.st_mode & 0o7777
        return mode & 0o044 == 0 ? nil : mode
    }
}
