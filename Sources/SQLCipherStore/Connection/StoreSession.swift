import SyncContract

/// What an open store works with. One that is locked or closed has none, and with it goes the key.
final class StoreSession: Sendable {
    let catalog: StoreCatalog
    let cipherConfiguration: CipherConfiguration

    // The order matters for a store that is dropped without being closed: readers end before the writer, which writes
    // the log back and lifts the lock.
    let readers: ReaderPool
    let writer: Connection

    /// Opens the store, and says what else the opening found out.
    static func open(_ opener: StoreOpener) async throws -> (StoreSession, StoreOpener.Opened) {
        // The connection that opens the store reads from then on: an app begins by showing what it has. The others open
        // when they are wanted.
        let reader = Connection(label: "SealedSync.reader.0", files: opener.files) { throw StoreError.closed }
        let opened = try await reader.open { try opener.open() }
        return (StoreSession(opener.files, reader, opened, opener.options), opened)
    }

    private init(
        _ files: StoreFiles,
        _ firstReader: Connection,
        _ opened: StoreOpener.Opened,
        _ options: EncryptedStoreOptions
    ) {
        catalog = opened.catalog
        let cipherConfiguration = opened.cipherConfiguration
        self.cipherConfiguration = cipherConfiguration
        writer = Connection(
            label: "SealedSync.writer",
            files: files,
            lock: opened.lock,
            checkpointDelay: options.checkpointDelay
        ) {
            try StoreOpener.openWriter(files, cipherConfiguration: cipherConfiguration, options: options)
        }
        let otherReaders = (1..<max(options.readerCount, 1))
            .map { index in
                Connection(label: "SealedSync.reader.\(index)", files: files) {
                    try StoreOpener.openReader(files, cipherConfiguration: cipherConfiguration, options: options)
                }
            }
        // The last is lent first.
        readers = ReaderPool(otherReaders.reversed() + [firstReader])
    }

    /// Writes the log back and closes the connections. Nobody may use or want one any more.
    func close() async {
        await readers.close()
        await writer.close(emptyingLog: true)
    }
}
