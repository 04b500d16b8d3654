import CSQLCipher
import DurableFiles
import Foundation
import SecretMemory
import SeededNumbers
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("The indexes of searchable columns")
struct SearchIndexTests {
    private struct Refusal: Error {}

    /// The names of tables, triggers and indexes that belong to searchable columns.
    private func objects(_ database: Database) throws -> Set<String> {
        var names: Set<String> = []
        try database.withStatement("SELECT name FROM sqlite_master") { statement in
            while try statement.step() {
                let name = statement.text(0)
                if name.contains(":"), name.hasPrefix("words") || name.hasPrefix("folded") { names.insert(name) }
            }
        }
        return names
    }

    private func objects(of columns: [String], _ table: String = "T", version: Int = 1) -> Set<String> {
        Set(
            columns.flatMap { column in
                ["", ":insert", ":update", ":delete"].map { "words\(version):\(table):\(column)\($0)" }
                    + ["folded\(version):\(table):\(column)"]
            }
        )
    }

    /// Holds the index of a column in a closed store against the column's texts.
    private func expectConsistent(
        _ folder: TestFolder,
        _ columns: [String] = ["shop", "owner"],
        _ table: String = "T"
    ) throws {
        let database = try folder.openDatabase()
        #expect(try objects(database).filter { $0.contains(":\(table):") } == objects(of: columns, table))
        for column in columns {
            var expected: Set<[String]> = []
            let rows = "SELECT id, \"\(column)\" FROM \"\(table)\" NOT INDEXED WHERE \"\(column)\" IS NOT NULL"
            try database.withStatement(rows) { row in
                while try row.step() {
                    for word in TextWords.words(of: row.text(1)) { expected.insert([word, row.text(0)]) }
                }
            }
            var found: Set<[String]> = []
            try database.withStatement("SELECT word, row FROM \"words1:\(table):\(column)\"") { row in
                while try row.step() { found.insert([row.text(0), row.text(1)]) }
            }
            #expect(found == expected)
        }
        // Compares every index of SQLite's, those of folded text included, with its table.
        #expect(try database.text("PRAGMA integrity_check") == "ok")
    }

    /// Random upserts, merges and deletions in one transaction, some of which are refused or rolled back.
    private func change(_ store: EncryptedStore, _ table: String, _ texts: inout SearchTexts) async throws {
        let fails = texts.chance(20)
        let steps = (0..<texts.number(1..<6))
            .map { _ in
                let id = RecordID.string(["x", "X", "é"][texts.number(0..<3)] + "\(texts.number(0..<15))")
                var record = Record(id: id)
                for column in ["shop", "owner", "plain"] where texts.chance(60) { record[column] = texts.value() }
                return (texts.number(0..<10), record, texts.query(table))
            }
        do {
            try await store.write { transaction in
                for (kind, record, query) in steps {
                    switch kind {
                    case 0: try transaction.delete([record.id], from: table)
                    case 1: try transaction.delete(query.limited(to: 3))
                    default: try transaction.upsert([record], into: table)
                    }
                }
                if fails { throw Refusal() }
            }
        } catch is Refusal {
            // Rolled back, as it should be.
        }
    }

    @Test(
        "follow every write, also over rollbacks, closing, and columns that are declared, undeclared and declared again",
        arguments: [IDComparison.exact, .asciiCaseInsensitive]
    )
    func consistency(_ comparison: IDComparison) async throws {
        let seed = SeededGenerator.seed()
        var texts = SearchTexts(seed: seed)
        let folder = try TestFolder()
        for round in 0..<8 {
            let hasShop = round % 3 != 2
            let store = try await EncryptedStore.open(in: folder, [.searchable("T", comparison, shop: hasShop)])
            for _ in 0..<25 { try await change(store, "T", &texts) }
            await store.close()
            try expectConsistent(folder, hasShop ? ["shop", "owner"] : ["owner"])
        }
    }

    @Test("are made for a store that had none, and dropped with the declaration")
    func declared() async throws {
        let folder = try TestFolder()
        let plain = TableDefinition("T", columns: ["shop", "owner", "plain"].map { .init($0, .string) })
        var store = try await EncryptedStore.open(in: folder, [plain])
        let records = (0..<200).map { Record(id: .string("\($0)"), ["shop": .string("Łódź \($0)"), "extra": "x"]) }
        try await store.upsert(records, table: "T")
        await store.close()
        #expect(try objects(folder.openDatabase()).isEmpty)

        store = try await EncryptedStore.open(in: folder, [.searchable("T")])
        let query = Query("T").filtered(by: .matches(words: "lodz 17", in: ["shop"], .wholeWords))
        #expect(try await store.read(query).records.map(\.id) == ["17"])
        await store.close()
        try expectConsistent(folder)

        // A table that is not declared keeps its index; a column that is not declared loses it.
        store = try await EncryptedStore.open(in: folder, [.items])
        await store.close()
        try expectConsistent(folder)
        store = try await EncryptedStore.open(in: folder, [TableDefinition("T", columns: [.init("plain", .string)])])
        try await store.upsert([Record(id: "17", ["shop": "other"])], table: "T")
        await store.close()
        #expect(try objects(folder.openDatabase()).isEmpty)
        store = try await EncryptedStore.open(in: folder, [.searchable("T")])
        #expect(try await store.read(query).records.isEmpty)
        let other = Query("T").filtered(by: Column("shop").matches(words: "OTHER"))
        #expect(try await store.read(other).records.map(\.id) == ["17"])
        await store.close()
        try expectConsistent(folder)
    }

    @Test("of another version of folding are made anew")
    func otherVersion() async throws {
        let folder = try TestFolder()
        var store = try await EncryptedStore.open(in: folder, [.searchable("T")])
        try await store.upsert([Record(id: "1", ["shop": "Łódź", "owner": "Anna"])], table: "T")
        await store.close()
        do {
            let mark = try FormatMark(
                reading: FileSystem.prefix(of: folder.database.path, count: FormatMark.count),
                of: folder.database.path
            )
            let keying = try Keying(key: .testKey(), mark: mark, engine: Keying.engineVersion())
            let database = try keying.open(path: folder.database.path, flags: SQLITE_OPEN_READWRITE)
            try database.configureSession(EncryptedStoreOptions())
            for statement in SearchIndex(table: "T", column: "shop").removal { try database.run(statement) }
            try database.run("CREATE TABLE \"words0:T:shop\" (\"word\" TEXT, \"row\" TEXT)")
            try database.run("INSERT INTO \"words0:T:shop\" VALUES ('old', '1')")
            // It calls what this version does not have.
            try database.run(
                "CREATE TRIGGER \"words0:T:shop:update\" AFTER UPDATE ON \"T\" BEGIN SELECT sealed_words0(new.\"shop\"); END"
            )
            #expect(throws: (any Error).self) { try database.run("UPDATE \"T\" SET \"plain\" = 'x'") }
        }
        store = try await EncryptedStore.open(in: folder, [.searchable("T")])
        let query = Query("T").filtered(by: .matches(words: "lodz anna", in: ["shop", "owner"]))
        #expect(try await store.read(query).records.map(\.id) == ["1"])
        try await store.upsert([Record(id: "1", ["plain": "x"])], table: "T")
        await store.close()
        try expectConsistent(folder)
    }

    @Test("are whole after the process is killed")
    func killed() async throws {
        let folder = try TestFolder()
        let path = folder.url.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let url = URL(filePath: path).appending(path: "store.db")
            let store = try await EncryptedStore.open(at: url, key: .testKey(), schema: StoreSchema([.searchable("T")]))
            for index in 0..<30 {
                let ids = ["a\(index)", "b\(index % 7)"]
                try await store.upsert(
                    ids.map {
                        Record(id: .string($0), ["shop": .string("Łódź \(index)"), "owner": .string("Анна \(index)")])
                    },
                    table: "T"
                )
            }
            try await store.write { transaction in
                try transaction.upsert([Record(id: "b1", ["shop": "half"])], into: "T")
                kill(getpid(), SIGKILL)
            }
        }
        let store = try await EncryptedStore.open(in: folder, [.searchable("T")], mode: .openExisting)
        let query = Query("T").filtered(by: Column("shop").matches(words: "LODZ"))
        #expect(try await store.read(query).records.count == 37)
        #expect(try await store.read(Query("T").filtered(by: Column("shop").matches(words: "half"))).records.isEmpty)
        await store.close()
        try expectConsistent(folder)
    }

    @Test("come along when a store is compacted, backed up, upgraded, or exported, and are used and kept there")
    func maintenance() async throws {
        let seed = SeededGenerator.seed()
        var texts = SearchTexts(seed: seed)
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [.searchable("T")])
        for _ in 0..<20 { try await change(store, "T", &texts) }
        try await store.upsert([Record(id: "0", ["shop": "Łódź"])], table: "T")
        let copy = try TestFolder()
        try await store.backUp(to: copy.database)
        await store.close()
        try expectConsistent(copy)
        for rewrite in Rewrite.possible where rewrite != .rekey {
            try await rewrite.run(on: folder.database)
            try expectConsistent(folder)
        }
        let plain = folder.url.appending(path: "plain.sqlite")
        try await StoreFile(folder.database).exportPlaintext(to: plain, key: .testKey())
        let other = try TestFolder()
        _ = try await StoreFile.encrypt(plaintext: plain, into: other.database, key: .testKey())
        try expectConsistent(other)

        let again = try await EncryptedStore.open(in: folder, [.searchable("T")])
        let query = Query("T").filtered(by: Column("shop").matches(words: "lodz", .wholeWords))
        #expect(try await again.read(query).records.contains { $0.id == "0" })
        for _ in 0..<20 { try await change(again, "T", &texts) }
        await again.close()
        try expectConsistent(folder)
    }

    @Test("take a text of a megabyte, and none at all")
    func sizes() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [.searchable("T")])
        let long =
            (0..<5_000).map { "wörd\($0 % 3_000)" }.joined(separator: " ") + String(repeating: "x", count: 1 << 20)
        try await store.upsert([Record(id: "1", ["shop": .string(long), "owner": ""])], table: "T")
        let query = Query("T").filtered(by: .matches(words: "word1999 xxxx", in: ["shop"]))
        #expect(try await store.read(query).records.isEmpty)
        let whole = Query("T").filtered(by: .matches(words: "word1999", in: ["shop", "owner"], .wholeWords))
        #expect(try await store.read(whole).records.map(\.id) == ["1"])
        try await store.upsert([Record(id: "1", ["shop": .null])], table: "T")
        #expect(try await store.read(whole).records.isEmpty)
        await store.close()
        try expectConsistent(folder)
    }
}
