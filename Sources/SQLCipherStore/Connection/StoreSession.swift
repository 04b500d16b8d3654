import Synchronization
import SyncContract

/// What an open store works with. One that is locked or closed has none, and with it goes the key.
final class StoreSession: Sendable {
    let catalog: StoreCatalog
    let cipherConfiguration: CipherConfiguration

    let readers: ReaderPool
    let writer: Writer

    private let database: String
    private let isClosed = Atomic(false)

    /// Opens the store, and says what else the opening found out.
    static func open(_ opener: StoreOpener) async throws -> (StoreSession, StoreOpener.Opened) {
        await DroppedStores.closing(of: opener.files.database)
        // The connection that opens the store reads from then on: an app begins by showing what it has. The others open
        // when they are wanted.
        let reader = Reader(number: 0, files: opener.files) { throw StoreError.closed }
        let opened = try await reader.onQueue {
            let (database, opened) = try opener.open()
            reader.use(database) {
                try StoreOpener.openReader(
                    opener.files,
                    cipherConfiguration: opened.cipherConfiguration,
                    options: opener.options
                )
            }
            return opened
        }
        return (StoreSession(opener.files, reader, opened, opener.options), opened)
    }

    private init(
        _ files: StoreFiles,
        _ firstReader: Reader,
        _ opened: StoreOpener.Opened,
        _ options: EncryptedStoreOptions
    ) {
        catalog = opened.catalog
        database = files.database
        let cipherConfiguration = opened.cipherConfiguration
        self.cipherConfiguration = cipherConfiguration
        writer = Writer(files: files, lock: opened.lock, options: options) {
            try StoreOpener.openWriter(files, cipherConfiguration: cipherConfiguration, options: options)
        }
        let otherReaders = (1..<max(options.readerCount, 1))
            .map { number in
                Reader(number: number, files: files) {
                    try StoreOpener.openReader(files, cipherConfiguration: cipherConfiguration, options: options)
                }
            }
        // The last is used first.
        readers = ReaderPool(otherReaders.reversed() + [firstReader])
    }

    /// Makes a checkpoint and closes the connections. Nobody may use or want one any more.
    func close() async {
        isClosed.store(true, ordering: .relaxed)
        await Self.close(readers, writer)
    }

    /// A store that is dropped without being closed is closed all the same, on its own queues: whoever drops it must not
    /// wait for the disk.
    deinit {
        guard !isClosed.load(ordering: .relaxed) else { return }
        let (readers, writer) = (readers, writer)
        DroppedStores.close(database) { await Self.close(readers, writer) }
    }

    /// Readers end before the writer, which makes a checkpoint and lifts the lock.
    private static func close(_ readers: ReaderPool, _ writer: Writer) async {
        await readers.close()
        await writer.close()
    }
}
