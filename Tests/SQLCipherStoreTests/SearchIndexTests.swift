import CSQLCipher
import DurableFiles
import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SeededNumbers
import SyncContract
import Testing

@testable import SQLCipherStore
import QueryEvaluation

@Suite("The indexes of searchable columns")
struct SearchIndexTests {
    /// Holds the index of a column in a closed store against the column's texts.
    private func expectConsistent(
        _ folder: TestFolder,
        _ columns: [String] = ["shop", "owner"],
        _ table: String = "T"
    ) throws {
        #expect(try folder.searchIndexProblems(columns, table) == [])
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
            for _ in 0..<25 { try await texts.change(store, "T") }
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
        #expect(try folder.searchIndexObjects().isEmpty)

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
        #expect(try folder.searchIndexObjects().isEmpty)
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
            let header = try FileHeader(
                reading: FileSystem.prefix(of: folder.database.path, count: FileHeader.count),
                of: folder.database.path
            )
            let cipherConfiguration = try CipherConfiguration(
                key: .testKey(),
                header: header,
                engine: CipherConfiguration.engineVersion()
            )
            let database = try cipherConfiguration.open(path: folder.database.path, flags: SQLITE_OPEN_READWRITE)
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
