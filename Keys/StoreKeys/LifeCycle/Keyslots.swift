package import DurableFiles

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The keyslot file at a place: what is done to it after it was created.
///
/// Each call needs an unlocker that opens a slot of the file, since the root key is not kept in memory. Each makes its
/// change whole or not at all: the next revision is written under a temporary name, brought to the medium, and takes
/// the file's place in one step. A kill at any instant leaves the file before or after the change, and perhaps a
/// temporary file named `.<name>.<random>.tmp`, which nothing reads.
///
/// The database is not touched, unless the call says so, and may be open meanwhile.
///
/// All calls throw `KeyError`: as ``StoreKeyring/open(at:unlocker:minimumRevision:)`` when the unlocker that is to authorize the change
/// does not open the file; as ``StoreKeyring/create(at:unlockers:)`` when an unlocker for a new slot is not fit;
/// `inUse` when another task or process is changing the file, or it was exchanged meanwhile, after which nothing has
/// changed; `io` when it cannot be written, after which it is as it was, unless only its folder could not be brought to
/// the medium: the message says then that the change is in force. They throw `CancellationError`, after which nothing has
/// changed, if the task is cancelled before the next revision is being written.
public struct Keyslots: Sendable {
    /// The location of the keyslot file.
    public let url: URL
    /// The lowest revision of the file that is taken; 0, any, by default.
    ///
    /// A file cannot know that it has a successor: whoever puts an older one back gets what that one allowed, as long as the
    /// data key is the same. An app that remembers ``StoreKeyring/revision`` in a place of its own, which such an attacker
    /// does not reach, asks for it here. A lower one is refused before a secret is tried, with `outdatedKeyslotFile`.
    public var minimumRevision: UInt64 = 0

    let random: RandomSource
    private let fileSystem: FileSystem

    /// Names a keyslot file. Nothing is read or created.
    public init(_ url: URL) {
        self.init(url, in: FileSystem())
    }

    package init(
        _ url: URL,
        random: RandomSource = .system,
        in fileSystem: FileSystem
    ) {
        self.url = url
        self.random = random
        self.fileSystem = fileSystem
    }

    func file() throws(KeyError) -> PrivateFile {
        try PrivateFile(url, role: "keyslot file", in: fileSystem)
    }

    /// Runs a change while nobody else can change the file.
    func change<Result>(_ body: (KeyslotTransaction) async throws -> Result) async throws -> Result {
        try await KeyError.convertingMemoryErrors {
            let (file, random) = (try file(), random)
            let transaction = try await BlockingWork.run {
                try KeyslotTransaction(file, random: random)
            }
            defer { transaction.end() }
            try transaction.content.checkRevision(minimumRevision)
            if transaction.content.isRotationPending { try await transaction.synchronizeFolder() }
            return try await body(transaction)
        }
    }
}
