package import DurableFiles
package import Foundation
internal import OfflineSync
internal import RemoteContract
package import SyncContract

/// Encrypts the files of a store anew that nobody else has open.
package enum AttachmentReencryption {
    /// Gives every file another key whose key somebody else may have.
    ///
    /// - Parameters:
    ///   - store: The open store, with whatever tables it has.
    ///   - folder: The folder of the files.
    ///   - fileSystem: What changes the files.
    ///   - progress: Is told how many files are done, and how many there are.
    /// - Returns: How many files were encrypted anew.
    /// - Throws: What the store throws, and the system; what was done until then stays done. `StoreError` with code `damaged` when
    ///   all is done but files that are damaged, which keep their keys.
    package static func run(
        _ store: some SyncContextDataSource,
        in folder: URL,
        _ fileSystem: FileSystem = FileSystem(),
        progress: (Int, Int) -> Void
    ) async throws -> Int {
        guard let table = store.schema.table(AttachmentFiles.table.name),
            AttachmentFiles.table.columns.allSatisfy({ column in table.columns.contains { $0.name == column.name } })
        else { return 0 }
        let work = AttachmentWork(
            store: store,
            folder: AttachmentFolder(folder, in: fileSystem),
            references: AttachmentReferences(store.schema),
            transport: nil,
            spaceLimit: .max,
            ahead: nil,
            environment: AttachmentEnvironment(fileSystem: fileSystem),
            states: AttachmentStates { _ in .unknown },
            gate: AttachmentGate()
        )
        try await work.sweep()
        try await work.renewAbsent()
        let count = try await work.renewPresent(progress)
        let left = try await store.read { try $0.count(AttachmentWork.exposed) }
        guard left == 0 else { throw StoreError.damagedKeepKeys(left) }
        return count
    }
}
