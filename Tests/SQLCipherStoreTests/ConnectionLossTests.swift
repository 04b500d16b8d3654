import Dispatch
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("A connection that cannot roll back")
struct ConnectionLossTests {
    private struct Refusal: Error {}

    @Test(
        "gives way to another one: the error comes out as it is, nothing is kept, and writing goes on",
        arguments: [EncryptedStoreOptions.Durability.normal, .full]
    )
    func writer(durability: EncryptedStoreOptions.Durability) async throws {
        try await StoreSession.with(durability: durability) { session in
            let catalog = session.catalog
            for round in 0..<3 {
                await #expect(throws: Refusal.self) {
                    try await session.writer.transaction { database in
                        database.refuseRollback()
                        try WriteBackend(database, catalog).upsert([Record(id: "lost")], into: "items")
                        throw Refusal()
                    }
                }
                try await session.writer.transaction { database in
                    try WriteBackend(database, catalog).upsert([Record(id: .string("\(round)"))], into: "items")
                }
            }
            let ids = try await session.readers.read { database in
                try ReadBackend(database, catalog).run { try $0.records(Query("items").ordered(by: "id")).map(\.id) }
            }
            #expect(ids == ["0", "1", "2"])
        }
    }

    @Test("gives way to another one when it reads, in place and on its queue", arguments: [true, false])
    func reader(inPlace: Bool) async throws {
        try await StoreSession.with(readerCount: 1) { session in
            for round in 0..<3 {
                let failing: @Sendable (Database) throws -> Void = { database in
                    database.refuseRollback()
                    _ = try database.int64("SELECT COUNT(*) FROM items")
                    throw Refusal()
                }
                await #expect(throws: Refusal.self) {
                    inPlace
                        ? try await session.readers.readInPlace(failing) : try await session.readers.read(failing)
                }
                try await session.writer.transaction { _ = try $0.run("INSERT INTO items (id) VALUES ('\(round)')") }
                let body: @Sendable (Database) throws -> Int64? = { try $0.int64("SELECT COUNT(*) FROM items") }
                let count =
                    inPlace ? try await session.readers.readInPlace(body) : try await session.readers.read(body)
                #expect(count == Int64(round + 1))
            }
        }
    }
}
