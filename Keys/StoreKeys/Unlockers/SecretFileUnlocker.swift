package import DurableFiles
public import SecretMemory

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Opens a slot with 32 random bytes that lie in a file of their own.
///
/// The file holds 64 hexadecimal digits and a line's end, and has mode 0600. It protects what its separation protects:
/// beside the database it is stolen together with it, so it belongs on another volume, in a secrets mount, or in a
/// folder that the backup of the database leaves out. Its loss is the loss of the slot.
///
/// Creating a keyslot file creates the secret file if there is none, and uses the one that is there. Opening never
/// creates one: then a missing file is `secretUnavailable`.
public struct SecretFileUnlocker: StoreUnlocker {
    /// The location of the secret file.
    public let url: URL
    /// What the app calls a slot made by this unlocker.
    public let slotLabel: String

    private let random: RandomSource
    let fileSystem: FileSystem

    /// The kind `SlotKind.secretFile`.
    public var slotKind: SlotKind { .secretFile }

    /// Creates an unlocker; the file is read, or created, when the unlocker is used.
    ///
    /// - Parameters:
    ///   - url: The location of the secret file.
    ///   - label: What the app calls a slot it makes.
    public init(at url: URL, label: String = "") {
        self.init(at: url, label: label, random: .system)
    }

    package init(at url: URL, label: String = "", random: RandomSource, in fileSystem: FileSystem = FileSystem()) {
        self.url = url
        self.random = random
        self.fileSystem = fileSystem
        slotLabel = label
    }

    /// Reads the secret from the file, which is created if there is none.
    public func enroll(storeID: RandomIdentifier) async throws -> SlotEnrollment {
        let file = try PrivateFile(url, role: "secret file", in: fileSystem)
        let random = random
        return try await BlockingWork.run {
            // Looked at first, since a file that is there may lie where nothing can be written: a secrets mount.
            let isOurs = try !file.exists() && Self.create(file, random)
            // Whoever has made it may have been killed before its name was on the medium.
            if !isOurs { try file.synchronizeFolderIfAllowed() }
            return try SlotEnrollment(secret: Self.read(file))
        }
    }

    /// Creates the file, or returns false when another process was first: its secret is the one.
    private static func create(_ file: PrivateFile, _ random: RandomSource) throws -> Bool {
        let text = try HexadecimalSecret.encode(random.makeSecret())
        do {
            try unsafe text.withUnsafeBytes { text in unsafe try file.create(text, random: .system) }
            return true
        } catch let error as KeyError where error.code == .alreadyExists {
            return false
        }
    }

    /// Reads the secret from the file.
    public func secret(of slot: Keyslot, storeID: RandomIdentifier) async throws -> SecretBytes {
        let file = try PrivateFile(url, role: "secret file", in: fileSystem)
        return try await BlockingWork.run { try Self.read(file) }
    }

    private static func read(_ file: PrivateFile) throws -> SecretBytes {
        let text = try file.readSecret(maximum: HexadecimalSecret.textCount)
        guard let secret = try HexadecimalSecret.decode(text) else {
            throw KeyError(
                .damagedFile,
                "The secret file at \(file.path) does not hold 64 hexadecimal digits; restore it from a backup."
            )
        }
        return secret
    }
}
