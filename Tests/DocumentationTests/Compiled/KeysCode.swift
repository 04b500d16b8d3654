import Foundation
import SealedSync

// The code of Keys/README.md, word for word.

private func making(_ keyslotURL: URL, _ passphrase: SecretBytes) async throws -> [StoreKeyring] {
    // Once, together with the database:
    let created = try await StoreKeyring.create(at: keyslotURL, unlocker: PassphraseUnlocker(passphrase: passphrase))
    // From then on:
    let keyring = try await StoreKeyring.open(at: keyslotURL, unlocker: PassphraseUnlocker(passphrase: passphrase))
    // keyring.dataKey opens the database, raw.
    return [created, keyring]
}

private func lifeCycle(
    _ url: URL,
    _ keyslotURL: URL,
    _ code: RecoveryCode,
    _ passphrase: PassphraseUnlocker,
    _ old: PassphraseUnlocker,
    _ new: PassphraseUnlocker,
    _ secretFile: SecretFileUnlocker,
    _ slot: Keyslot
) async throws {
    let keyslots = Keyslots(keyslotURL)  // or StoreFolder(url).keyslots
    try await keyslots.add(RecoveryCodeUnlocker(code), authorizedBy: passphrase)
    try await keyslots.changePassphrase(from: old, to: new)  // the database's bytes stay as they are
    try await keyslots.remove(slot.id, keeping: [new, secretFile])  // renews the root key
    try await StoreFolder(url).rotateDataKey(new)  // encrypts the database anew
    try await StoreFolder(url).rotateKeys(keeping: [new, secretFile])  // renews both keys
    // After a leak:
    try await StoreFolder(url).revoke([slot.id], authorizedBy: old, keeping: [secretFile], replacement: new)
    try await StoreFolder(url).wipe()  // destroys the keyslot file first
}
