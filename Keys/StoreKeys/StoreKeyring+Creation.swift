package import DurableFiles
import SecretMemory

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension StoreKeyring {
    /// Makes the keys of a new store and a keyslot file that one unlocker opens.
    ///
    /// - Parameters:
    ///   - url: The location of the keyslot file, which must not exist; by custom beside the database.
    ///   - unlocker: What will open the file.
    /// - Returns: The store's keys.
    /// - Throws: As ``create(at:unlockers:)``.
    public static func create(at url: URL, unlocker: any StoreUnlocker) async throws -> StoreKeyring {
        try await create(at: url, unlockers: [unlocker])
    }

    /// Makes the keys of a new store and a keyslot file that each of several unlockers opens.
    ///
    /// The steps, in order: each unlocker makes its slot's secret and is asked for it a second time; the file is
    /// written under a temporary name and brought to the medium; it gets its name, unless that is taken; the temporary
    /// name goes; the folder is brought to the medium. So a kill at any instant leaves the file absent or whole, never
    /// in parts. It may leave a temporary file named `.<name>.<random>.tmp`, which nothing reads and which can be
    /// deleted when no creation is under way, and a secret file that no slot uses yet, which the next creation takes.
    /// Of several processes that create the same file, one succeeds.
    ///
    /// - Parameters:
    ///   - url: The location of the keyslot file, which must not exist; by custom beside the database.
    ///   - unlockers: What will open the file: 1 to 32, each alone.
    /// - Returns: The store's keys.
    /// - Throws: `KeyError` with code `alreadyExists` if something lies at the location, which is untouched;
    ///   `unreliableUnlocker`, `secretUnavailable`, `insecurePermissions` or `damagedFile` if an unlocker or its secret
    ///   file is not fit; `lastReliableSlot` if none of them survives a restart of the machine; `invalidParameters`;
    ///   `io`; `cryptographyUnavailable`. `CancellationError` if the task was cancelled before the file was there. Only
    ///   after an `io` of a step behind the naming may the file exist, and then it is whole.
    public static func create(at url: URL, unlockers: [any StoreUnlocker]) async throws -> StoreKeyring {
        try await KeyError.convertingMemoryErrors {
            try await create(at: url, unlockers: unlockers, random: .system)
        }
    }

    /// The same, with a file system that tells each step.
    package static func create(
        at url: URL,
        unlocker: any StoreUnlocker,
        in fileSystem: FileSystem
    ) async throws -> StoreKeyring {
        try await KeyError.convertingMemoryErrors {
            try await create(at: url, unlockers: [unlocker], random: .system, in: fileSystem)
        }
    }

    package static func create(
        at url: URL,
        unlockers: [any StoreUnlocker],
        random: RandomSource,
        in fileSystem: FileSystem = FileSystem()
    ) async throws -> StoreKeyring {
        guard (1...KeyslotFile.maximumSlotCount).contains(unlockers.count) else {
            throw KeyError(
                .invalidParameters,
                "A keyslot file has 1 to \(KeyslotFile.maximumSlotCount) unlockers, not \(unlockers.count)."
            )
        }
        guard unlockers.contains(where: \.survivesRestart) else {
            throw KeyError.lastReliableSlot("Create the file with another unlocker beside it.")
        }
        let file = try PrivateFile(url, role: "keyslot file", in: fileSystem)
        // Spares the work; the one that decides is the link at the end.
        guard try await !BlockingWork.run({ try file.exists() }) else { throw file.alreadyExists() }

        let storeID = try random.makeIdentifier()
        var slots: [NewSlot] = []
        for unlocker in unlockers {
            let enrollment = try await unlocker.checkedEnrollment(storeID: storeID)
            slots.append(NewSlot(kind: unlocker.slotKind, label: unlocker.slotLabel, enrollment: enrollment))
        }
        let rootKey = try random.makeSecret()
        let content = try KeyslotFile(
            sealing: rootKey,
            dataKey: random.makeSecret(),
            storeID: storeID,
            slots: slots,
            createdMilliseconds: Date().milliseconds,
            random: random
        )
        let bytes = try content.encoded()
        let keyring = try await open(bytes, withEachOf: unlockers, expecting: rootKey)

        try await BlockingWork.run {
            unsafe try bytes.withUnsafeBytes { bytes in unsafe try file.create(bytes, random: random) }
        }
        return keyring
    }

    /// Proves that every unlocker opens its slot of a file about to be written.
    private static func open(
        _ bytes: [UInt8],
        withEachOf unlockers: [any StoreUnlocker],
        expecting rootKey: SecretBytes
    ) async throws -> StoreKeyring {
        let file = try KeyslotFile(decoding: bytes)
        for (slot, unlocker) in zip(file.slots, unlockers) {
            let secret = try await unlocker.checkedSecret(of: slot, storeID: file.storeID)
            guard try file.rootKey(in: slot, secret: secret) == rootKey else {
                throw KeyError.unreliableUnlocker(slot.kind)
            }
        }
        return try StoreKeyring(opening: file, rootKey: rootKey)
    }
}
