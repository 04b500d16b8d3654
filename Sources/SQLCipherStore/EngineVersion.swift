/// The versions of the library that was found at run time.
public struct EngineVersion: Sendable, Hashable {
    /// SQLCipher's version, for instance `3.4.1` or `4.12.0 community`.
    public let cipher: String

    /// The version of the SQLite inside it, for instance `3.15.2`.
    public let sqlite: String

    /// The first number of SQLCipher's version; 0 when it has none.
    package var majorCipherVersion: Int { Int(cipher.prefix { $0.isNumber }) ?? 0 }

    /// Whether `PRAGMA cipher_integrity_check` exists: from 4.2 on.
    package var hasIntegrityCheck: Bool {
        majorCipherVersion >= 4 && !cipher.hasPrefix("4.0") && !cipher.hasPrefix("4.1")
    }

    /// The newest format this library can write, nil when it is too old for any.
    package var newestFormat: FileHeader.Format? {
        switch majorCipherVersion {
        case ..<3: nil
        case 3: .sqlcipher3
        default: .sqlcipher4
        }
    }
}

extension EngineVersion: CustomStringConvertible {
    /// Both versions.
    public var description: String { "SQLCipher \(cipher), SQLite \(sqlite)" }
}
