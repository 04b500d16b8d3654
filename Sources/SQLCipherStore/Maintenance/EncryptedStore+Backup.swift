public import Foundation
import SyncContract

extension EncryptedStore {
    /// Writes a complete copy of the store to another file while the store is in use.
    ///
    /// The copy shows the state of one instant: all that was committed before the call, and no part of a transaction.
    /// It is encrypted under the same key, and is one file without a log. Reads and writes go on meanwhile; the log
    /// grows with what is written, until the copy is done. ``close()`` waits for the copy.
    ///
    /// The file appears under its name when it is complete, on the disk and read back. A kill leaves nothing under that
    /// name, and `<name>.new` beside it, encrypted, which the next backup to the same place replaces.
    ///
    /// A backup without its key is lost: take the keyslot file along.
    ///
    /// - Parameters:
    ///   - url: Where the copy goes. Its folder must exist.
    ///   - progress: Is told how far the work has come.
    /// - Throws: ``StoreError``: ``StoreError/Code/alreadyExists`` when something is at the URL;
    ///   ``StoreError/Code/notFound`` for a missing folder; ``StoreError/Code/damaged`` when a page of the store is
    ///   damaged, and no copy is made; ``StoreError/Code/inUse`` when another backup is being written there;
    ///   ``StoreError/Code/full``, ``StoreError/Code/readOnly`` and ``StoreError/Code/closed``. `CancellationError` when
    ///   the task was cancelled, after which there is no file.
    public func backUp(to url: URL, progress: StoreProgressHandler? = nil) async throws {
        throw StoreError(.internal, "this is not there yet")
    }
}
