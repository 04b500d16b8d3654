/// What a slot's unlocker is, which decides what the slot's parameters mean.
///
/// The kinds are open: a file may hold slots of kinds that this version, or the app that reads it, does not know.
public struct SlotKind: Hashable, Sendable, CustomStringConvertible {
    /// The name in the file: 1 to 32 of the characters `a`-`z`, `0`-`9` and `-`.
    public let description: String

    /// A passphrase, stretched with scrypt.
    public static let passphrase = SlotKind(unchecked: "passphrase-scrypt")
    /// A random secret in a file of its own.
    public static let secretFile = SlotKind(unchecked: "secret-file")
    /// A random code that a person keeps.
    public static let recoveryCode = SlotKind(unchecked: "recovery-code")
    /// A random secret that the freedesktop Secret Service keeps; for `SecretServiceUnlocker`.
    public static let secretService = SlotKind(unchecked: "secret-service")
    /// A random secret in a keyring of the kernel, until the machine is started anew; for `KernelKeyringUnlocker`.
    public static let kernelKeyring = SlotKind(unchecked: "kernel-keyring")
    /// A random secret that a TPM 2.0 has sealed; for `TPMUnlocker`.
    public static let tpm = SlotKind(unchecked: "tpm2-sealed")
    /// A random secret in the Keychain of Apple's systems; for `KeychainUnlocker`.
    public static let keychain = SlotKind(unchecked: "keychain")

    /// Creates a kind for an unlocker of one's own.
    ///
    /// - Parameter name: 1 to 32 of the characters `a`-`z`, `0`-`9` and `-`; a prefix such as an organization's name
    ///   keeps it apart from kinds to come.
    /// - Throws: `KeyError` with code `invalidParameters` for any other name.
    public init(_ name: String) throws(KeyError) {
        guard let kind = SlotKind(validating: name) else {
            throw KeyError(
                .invalidParameters,
                "A slot's kind is named by 1 to 32 of the characters a-z, 0-9 and '-'."
            )
        }
        self = kind
    }

    init?(validating name: String) {
        guard (1...32).contains(name.utf8.count) else { return nil }
        let isValid = name.utf8.allSatisfy { character in
            switch character {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
            default: false
            }
        }
        guard isValid else { return nil }
        description = name
    }

    private init(unchecked name: String) {
        description = name
    }
}
