import SecretMemory

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension StoreKeyring {
    /// Opens a keyslot file.
    ///
    /// The unlocker is tried on each slot of its kind, in the order of the file, until one opens. Nothing is written.
    ///
    /// - Parameters:
    ///   - url: The location of the keyslot file.
    ///   - unlocker: What gives the secret.
    /// - Returns: The store's keys.
    /// - Throws: `KeyError` with code `wrongSecret` if the secret opens no slot; `secretUnavailable` if the keyslot
    ///   file or the secret is not there or may not be read, or no slot is of the unlocker's kind; `damagedFile`;
    ///   `insecurePermissions`; `newerFormat`; `invalidParameters` if a slot asks for more than the limits allow; `io`;
    ///   `cryptographyUnavailable`. `CancellationError` if the task was cancelled.
    public static func open(at url: URL, unlocker: any StoreUnlocker) async throws -> StoreKeyring {
        try await KeyError.convertingMemoryErrors {
            try await open(KeyslotFile.read(at: url), unlocker: unlocker)
        }
    }

    private static func open(_ file: KeyslotFile, unlocker: any StoreUnlocker) async throws -> StoreKeyring {
        let slots = file.slots.filter { $0.kind == unlocker.slotKind }
        guard !slots.isEmpty else {
            let kinds = Set(file.slots.map(\.kind.description)).sorted().joined(separator: ", ")
            throw KeyError(
                .secretUnavailable,
                message: "No slot is of the kind \(unlocker.slotKind); the file has slots of the kinds \(kinds)."
            )
        }
        // One slot that cannot be tried must not hide another one that opens.
        var firstError: KeyError?
        for slot in slots {
            let secret: SecretBytes
            do {
                secret = try await unlocker.checkedSecret(of: slot, storeID: file.storeID)
            } catch let error as KeyError {
                firstError = firstError ?? error
                continue
            }
            guard let rootKey = try file.rootKey(in: slot, secret: secret) else { continue }
            return try StoreKeyring(opening: file, rootKey: rootKey)
        }
        throw firstError
            ?? KeyError(
                .wrongSecret,
                message: "The secret opens none of the \(slots.count) slots of the kind \(unlocker.slotKind)."
            )
    }
}
