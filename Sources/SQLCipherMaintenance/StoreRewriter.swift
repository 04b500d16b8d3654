import CSQLCipher
import DurableFiles
import SQLCipherStore
import SecretMemory
import SyncContract

/// Puts a new file with the same content in the place of a store's database.
struct StoreRewriter: Sendable {
    /// What the new file is encrypted with.
    enum Change: Sendable {
        case none
        case newestFormat
        case key(SecretBytes)
    }

    let file: StoreFile
    let key: SecretBytes
    let change: Change
    let progress: StoreProgressHandler?
    var mark: StoreMark?
    /// Called when the new file is ready, before it takes the old one's place.
    var beforeReplacing: (@Sendable () throws -> Void)?

    func run() async throws -> StoreRewriteResult {
        try await CancellableWork.run(at: StoreFiles(file.url).database) { work in try rewrite(work) }
    }

    private func rewrite(_ work: CancellableWork) throws -> StoreRewriteResult {
        let store = try LockedStore(file, key: key)
        return try withExtendedLifetime(store) { try rewrite(store, work) }
    }

    private func rewrite(_ store: LockedStore, _ work: CancellableWork) throws -> StoreRewriteResult {
        let old = store.cipherConfiguration.header.format
        let sizeBefore = store.size
        var (new, newKey) = (old, key)
        switch change {
        case .none: break
        case .newestFormat: new = store.engine.newestFormat ?? old
        case .key(let key): newKey = key
        }
        if case .newestFormat = change, new == old {
            let format = StoreFormat(old)
            return StoreRewriteResult(
                isRewritten: false,
                sizeBefore: sizeBefore,
                sizeAfter: sizeBefore,
                formatBefore: format,
                formatAfter: format
            )
        }
        guard newKey.count == KeyText.keyCount else { throw StoreError.wrongKeyLength(newKey.count) }
        try FileSystem.checkWritable(store.files.folder)
        try store.checkpoint()
        let barrier = try store.refuseWriters()
        defer { withExtendedLifetime(barrier) {} }
        let builder = DatabaseBuilder(
            files: store.files,
            cipherConfiguration: try CipherConfiguration(
                key: newKey,
                header: FileHeader(new: new, key: newKey),
                engine: store.engine
            ),
            work: work,
            progress: progress
        )
        try builder.build(.replacing(after: beforeReplacing)) { path in
            let content = try store.copy(to: path, builder.cipherConfiguration, work, progress, mark)
            // A WAL beside the new file would be played into it.
            try store.refuseCompanions()
            return content
        }
        return StoreRewriteResult(
            isRewritten: true,
            sizeBefore: sizeBefore,
            sizeAfter: store.size,
            formatBefore: StoreFormat(old),
            formatAfter: StoreFormat(new)
        )
    }
}
