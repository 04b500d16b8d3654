import Foundation
package import SyncContract

package import SQLCipherStore

/// The files of a store as they lie on disk when its process is killed after a write: copied while it is open.
package struct StoreLeftOpen {
    /// What the item with id 1 holds.
    package let text: FieldValue = "left in the log"

    /// The header names the key, unless it is to be that of an older version.
    package init(
        in folder: TestFolder,
        records: [Record] = [],
        format: FileHeader.Format? = nil,
        namesKey: Bool = true
    ) async throws {
        let original = try TestFolder()
        if !namesKey {
            try original.createStoreThatNamesNoKey()
        } else if let format {
            try original.createStore(format)
        }
        let store = try await EncryptedStore.open(in: original, checkpointDelay: nil)
        try await store.upsert([Record(id: "1", ["text": text])] + records, table: "items")
        for (name, bytes) in try original.contents() where !name.hasSuffix(".lock") {
            try Data(bytes).write(to: folder.url.appending(path: name))
        }
        await store.close()
    }
}
