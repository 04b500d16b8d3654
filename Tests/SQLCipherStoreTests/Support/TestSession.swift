import SQLCipherStoreTestSupport
import Foundation
import SQLCipherStoreTestSupport
import SyncContract
import Synchronization

@testable import SQLCipherStore

extension StoreSession {
    /// Lends the connections of a new store, and closes them afterwards.
    static func with(
        readerCount: Int = 2,
        durability: EncryptedStoreOptions.Durability = .full,
        checkpointDelay: Duration? = nil,
        _ body: (StoreSession) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        var options = EncryptedStoreOptions()
        options.readerCount = readerCount
        options.durability = durability
        options.checkpointDelay = checkpointDelay
        let opener = try StoreOpener(
            files: StoreFiles(folder.database.path),
            key: .testKey(),
            schema: StoreSchema([.items]),
            mode: .createNew,
            options: options
        )
        let (session, _) = try await StoreSession.open(opener)
        try await body(session)
        await session.close()
    }
}

/// The numbers of what ran, in its order.
final class Order: Sendable {
    private let list = Mutex<[Int]>([])

    var numbers: [Int] { list.withLock { $0 } }

    func append(_ number: Int) { list.withLock { $0.append(number) } }
}
