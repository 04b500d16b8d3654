#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why a keyslot file could not be created, opened or changed.
///
/// The three answers an app must tell apart are `wrongSecret` (ask again), `secretUnavailable` (wait, or find what is
/// missing) and `damagedFile` (restore the file). None of them is ever a reason to make new keys beside a database that
/// exists.
public struct KeyError: Error, Sendable {
    /// The kind of failure.
    ///
    /// More may be added, so a `switch` over it needs a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code, as it stands in descriptions.
        public let description: String

        private init(_ name: String) {
            description = name
        }

        /// The file is whole and has slots of the unlocker's kind, but the secret opens none of them.
        public static let wrongSecret = Code("wrongSecret")
        /// The secret could not be tried: a file or variable is missing or unreadable, or no slot is of this kind.
        public static let secretUnavailable = Code("secretUnavailable")
        /// The keyslot file, or the secret file the message names, is not what was written.
        public static let damagedFile = Code("damagedFile")
        /// A file that was to be created exists; it was not touched.
        public static let alreadyExists = Code("alreadyExists")
        /// A file is a symbolic link, or others than its owner may use it.
        public static let insecurePermissions = Code("insecurePermissions")
        /// The system refused to read or write; the cause says what it answered.
        public static let inputOutput = Code("inputOutput")
        /// A later version of this library wrote the file.
        public static let newerFormat = Code("newerFormat")
        /// A size, cost, name or number of unlockers is outside its limits.
        public static let invalidParameters = Code("invalidParameters")
        /// An unlocker gave one secret when its slot was made and another when it was asked again.
        public static let unreliableUnlocker = Code("unreliableUnlocker")
        /// Another task or process is changing the keyslot file, or has changed it meanwhile. Nothing was written; the
        /// same call can be tried again.
        public static let inUse = Code("inUse")
        /// The change would leave no slot that can be opened after a restart of the machine.
        public static let lastReliableSlot = Code("lastReliableSlot")
        /// A slot that stays needs the new root key, and none of the unlockers opens it. Nothing was written.
        public static let missingUnlocker = Code("missingUnlocker")
        /// The keyring was locked: its keys are gone from memory. Open the keyslot file again.
        public static let locked = Code("locked")
        /// The data key was rotated after this keyring was opened. Open the keyslot file again.
        public static let outdatedKeyring = Code("outdatedKeyring")
        /// The keyslot file is an older one than the app asks for: a backup that was put back, or one that an attacker kept.
        public static let outdatedKeyslotFile = Code("outdatedKeyslotFile")
        /// A recovery code has a typing error: its checksum does not agree. It was not tried.
        public static let mistypedRecoveryCode = Code("mistypedRecoveryCode")
        /// libcrypto or the system's memory failed; nothing is said about the secret or the file.
        public static let cryptographyUnavailable = Code("cryptographyUnavailable")
    }

    /// The kind of failure.
    public let code: Code
    /// What happened, and what helps, without secrets.
    public let message: String
    /// The error underneath, if there is one.
    public let cause: (any Error)?

    /// Creates an error, for instance in an unlocker of one's own.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What happened and what helps, without secrets.
    ///   - cause: The error underneath.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

extension KeyError: CustomStringConvertible {
    /// Code, message and cause.
    public var description: String { "\(code): \(message)" + (cause.map { " (\($0))" } ?? "") }
}

extension KeyError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}
