import Foundation
import SQLCipherStore
public import SecretMemory
import SyncContract

extension StoreFile {
    /// Looks for damage in every page and row of the store, and in a WAL that was left behind.
    ///
    /// Looked at are: the WAL, up to where it can be played back and beyond; the cipher's code on every page, with the
    /// library's own check on top where it has one; SQLite's check of the structure; the tables against what the store
    /// remembers of them; every value of every row against the type of its column; and search indexes against the rows.
    /// Damage in one place keeps nothing from being looked for in another, so that the findings say what is lost and
    /// what is not. Of rows that cannot be read, the finding says between which rows they lie.
    ///
    /// A WAL that was cut off between two commits, or in one before its last frame, is as a kill leaves it, and no finding.
    ///
    /// What the sync engine keeps in its tables is not understood here: see `StoreFolder.verify`, which adds that.
    ///
    /// The store is locked meanwhile. Database and WAL stay as they are, a damaged WAL included: only opening the store
    /// gives up what is behind the damage.
    ///
    /// - Parameters:
    ///   - key: The key, 32 bytes. It is lent.
    ///   - progress: Is told how far the work has come, in one phase of twice the bytes of the database.
    /// - Returns: What was found. Damage is a finding and no error.
    /// - Throws: As said for the type, without `StoreError.Code.damaged`. `StoreError.Code.wrongKey` when not one
    ///   page is what the key would have made, which ``keyIsVerified`` turns into findings.
    public func verify(key: SecretBytes, progress: StoreProgressHandler? = nil) async throws -> StoreVerification {
        try await verify(key: key, progress: progress, queueCheck: nil)
    }

    /// The same, with a check of the sync engine's tables by a module that knows them.
    package func verify(
        key: SecretBytes,
        progress: StoreProgressHandler?,
        queueCheck: StoreQueueCheck?
    ) async throws -> StoreVerification {
        let (files, keyIsVerified) = (StoreFiles(url.path), keyIsVerified)
        return try await CancellableWork.run(at: files.database) { work in
            let verifier: StoreVerifier
            do {
                verifier = try StoreVerifier(files, key, keyIsVerified: keyIsVerified, work, progress)
            } catch let error as StoreError where error.code == .damaged {
                // Without its first bytes a file cannot be decrypted, and there is nothing more to say.
                var result = StoreVerification()
                result.add(StoreFinding(.damagedFile, .store, error.message))
                return result
            }
            return try verifier.run(queueCheck)
        }
    }
}
