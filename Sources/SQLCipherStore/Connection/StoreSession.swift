import SyncContract

/// What an open store works with. One that is locked or closed has none, and with it goes the key.
final class StoreSession: Sendable {
    let catalog: StoreCatalog
    let keying: Keying

    // The order matters for a store that is dropped without being closed: readers end before the writer, which writes
    // the log back and lifts the lock.
    let readers: ReaderPool
    let writer: Connection

    /// Opens the connections, and says what else the opening found out.
    static func open(_ opener: StoreOpener) async throws -> (StoreSession, StoreOpener.Opened) {
        let writer = Connection(
            label: "SealedSync.writer",
            files: opener.files,
            checkpointDelay: opener.options.checkpointDelay
        )
        let opened = try await writer.open { try opener.open() }
        return (StoreSession(opener.files, writer, opened, opener.options), opened)
    }

    private init(
        _ files: StoreFiles,
        _ writer: Connection,
        _ opened: StoreOpener.Opened,
        _ options: EncryptedStoreOptions
    ) {
        self.writer = writer
        catalog = opened.catalog
        let keying = opened.keying
        self.keying = keying
        readers = ReaderPool(
            (0..<max(options.readerCount, 1))
                .map { index in
                    Connection(label: "SealedSync.reader.\(index)", files: files) {
                        try StoreOpener.openReader(files, keying: keying, options: options)
                    }
                }
        )
    }

    /// Writes the log back and closes the connections. Nobody may use or want one any more.
    func close() async {
        await readers.close()
        await writer.close(emptyingLog: true)
    }
}
