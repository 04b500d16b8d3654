public import SecretMemory

/// A random code that a person writes down and keeps: the way back in when everything else is lost.
///
/// 28 characters in seven groups of four, such as `7YQH-02MX-…`: 26 carry five random bits each, 130 in all, and two
/// are a checksum that catches any one or two wrong characters, hence any two that changed places. The characters are
/// those of Crockford's Base32: the digits and the capital letters without I, L, O and U.
///
/// Nothing keeps a code: the keyslot file cannot give it back, so an app shows it once, when it is made.
public struct RecoveryCode: Sendable {
    /// The code as it is shown and printed: 34 bytes of ASCII, the hyphens included.
    public let text: SecretBytes

    /// The 28 characters without hyphens: what a slot's secret is derived from.
    let characters: SecretBytes

    /// Makes a new code.
    ///
    /// - Throws: `SecretMemoryError` when there is no memory or no randomness.
    public static func random() throws -> RecoveryCode {
        try RecoveryCode(randomBytes: .random(count: RecoveryCodeText.dataCount))
    }

    /// Reads a code that somebody typed.
    ///
    /// Small letters, and I, L for 1 and O for 0, are understood; spaces, line ends and hyphens are left out, wherever
    /// they are.
    ///
    /// - Parameter typed: Text in ASCII, at most 256 bytes.
    /// - Throws: `KeyError` with code `mistypedRecoveryCode` if it is no code: a character is missing, is one too many
    ///   or is wrong.
    public init(typed: SecretBytes) throws {
        guard let characters = try RecoveryCodeText.normalize(typed) else {
            throw KeyError(
                .mistypedRecoveryCode,
                "The recovery code has a typing error; compare its seven groups with what was written down."
            )
        }
        try self.init(characters: characters)
    }

    /// Makes a code from 26 random bytes, of each of which five bits are used.
    package init(randomBytes: SecretBytes) throws {
        try self.init(characters: RecoveryCodeText.encode(randomBytes))
    }

    private init(characters: SecretBytes) throws {
        self.characters = characters
        text = try RecoveryCodeText.group(characters)
    }
}
