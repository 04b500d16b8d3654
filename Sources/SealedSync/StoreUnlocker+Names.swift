public import Foundation
public import SecretMemory
public import StoreKeys

extension StoreUnlocker where Self == PassphraseUnlocker {
    /// What the user typed.
    public static func passphrase(_ secret: SecretBytes) -> PassphraseUnlocker {
        PassphraseUnlocker(passphrase: secret)
    }
}

extension StoreUnlocker where Self == SecretFileUnlocker {
    /// A file with a random secret, made on the first run. It protects a stolen folder only when it lies elsewhere.
    public static func secretFile(_ url: URL) -> SecretFileUnlocker { SecretFileUnlocker(at: url) }
}
