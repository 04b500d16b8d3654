import Foundation
import OfflineSync
import SQLCipherStore
import SQLCipherStoreTestSupport
import SecretMemory
import SeededNumbers
import Synchronization
import SyncContract
import Testing

#if os(Linux) || os(macOS)
@Suite("A process that is killed while it migrates a store")
struct MigrationKillTests {
    private static let rows = 100_000
    private static let updates = 400
    private static let inserts = 300

    /// Migrates a store, and dies before as many rows were filled.
    static func migrate(_ database: URL, dyingAt row: Int = .max) async throws {
        let filled = Mutex(0)
        let schema = try MigrationWorld.schema(3) {
            filled.withLock { filled in
                filled += 1
                if filled == row { kill(getpid(), SIGKILL) }
            }
        }
        let store = try await EncryptedStore.open(
            at: database,
            key: .testKey(),
            schema: schema,
            translating: .operations
        )
        await store.close()
    }

    @Test("leaves the old version with all that waits, or the new one; the next opening does it again")
    func killed() async throws {
        let world = try MigrationWorld(.encrypted)
        var app = try await world.start(MigrationWorld.schema(1))
        for start in stride(from: 0, to: Self.rows, by: 10_000) {
            let rows = (start..<start + 10_000)
                .map { number in
                    Record(
                        id: .string("row\(number)"),
                        [
                            "text": .string("text \(number)"), "price": 5.1, "paid": .bool(number % 2 == 0),
                            "version": "djE=",
                        ]
                    )
                }
            try await app.store.upsert(rows, table: "Bill")
        }
        let table = try app.table("Bill")
        try await app.context.write { [table] transaction in
            for number in 0..<Self.updates {
                try transaction.update(Record(id: .string("row\(number * 7)"), ["text": "changed"]), in: table)
            }
            for number in 0..<Self.inserts {
                try transaction.insert(["text": "new", "price": 5.1], id: "new\(number)", into: table)
            }
        }
        await (app.store as? EncryptedStore)?.close()

        // How long it takes when nobody disturbs it.
        let copy = try TestFolder()
        try FileManager.default.copyItem(at: world.folder.database, to: copy.database)
        let began = ContinuousClock.now
        try await Self.migrate(copy.database)
        let duration = Int((ContinuousClock.now - began) / .microseconds(1))

        var random = SeededGenerator(seed: SeededGenerator.seed())
        for round in 0..<SeededGenerator.rounds(4, all: 30) {
            // Among the rows, then among the changes that wait; every other time at any instant, its end included.
            let isTimed = round % 2 == 1
            let row = isTimed ? Int.max : Int.random(in: 1...Self.rows + Self.inserts + Self.updates, using: &random)
            let delay = isTimed ? Int.random(in: 0..<duration, using: &random) : 600_000_000
            let path = world.folder.database.path
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, row = row as Int, delay = delay as Int] in
                DispatchQueue.global()
                    .asyncAfter(deadline: .now() + .microseconds(delay)) { _ = kill(getpid(), SIGKILL) }
                try await MigrationKillTests.migrate(URL(filePath: path), dyingAt: row)
                kill(getpid(), SIGKILL)
            }
            let store = try await EncryptedStore.openWithStoredSchema(at: world.folder.database, key: .testKey())
            let isOld = store.schema.version == 1
            #expect(isOld || isTimed)
            let name = isOld ? "Bill" : "Invoice"
            #expect(store.schema.tables.map(\.name) == [name])
            let operations = Query(SystemTables.operations.name)
            let (count, waiting, named) = try await store.read { reader in
                (
                    try reader.count(Query(name)), try reader.count(operations),
                    try reader.count(operations.filtered(by: Column("table") == .string(name)))
                )
            }
            #expect(count == Self.rows + Self.inserts && waiting == Self.updates + Self.inserts && named == waiting)
            await store.close()
            if !isOld { break }
        }

        app = try await world.update(app, to: MigrationWorld.schema(3))
        #expect(try await app.store.verifyQueue().isEmpty)
        let amount = FieldValue.decimal(DecimalText("5.0999999999999996")!)
        let counts = try await app.store.read { reader in
            let all = Query("Invoice")
            return [
                try reader.count(all), try reader.count(all.filtered(by: Column("amount") == amount)),
                try reader.count(all.filtered(by: Column("status") == "paid")),
                try reader.count(all.filtered(by: Column("title") == "changed")),
            ]
        }
        #expect(
            counts == [Self.rows + Self.inserts, Self.rows + Self.inserts, Self.rows / 2, Self.updates]
        )
        let operations = try await app.context.operations()
        #expect(operations.count == Self.updates + Self.inserts)
        #expect(operations.prefix(Self.updates).allSatisfy { $0.baseItem?["amount"] == amount })
        await (app.store as? EncryptedStore)?.close()
    }
}
#endif
