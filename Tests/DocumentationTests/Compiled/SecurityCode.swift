import Foundation
import SealedSync

// The code of the article "Security model", word for word.

private func signingOut(_ context: SyncContext, _ folder: StoreFolder, _ passphrase: PassphraseUnlocker) async throws {
    await context.lock()  // running transactions end, the keys leave memory
    try await context.unlock(with: passphrase)  // the same objects go on
    await context.close()
    try await folder.wipe()  // or: gone for good, copies made before excepted
}

private func leak(
    _ folder: StoreFolder,
    _ slot: Keyslot,
    _ old: PassphraseUnlocker,
    _ recovery: RecoveryCodeUnlocker,
    _ new: PassphraseUnlocker
) async throws {
    try await folder.revoke([slot.id], authorizedBy: old, keeping: [recovery], replacement: new)
}
