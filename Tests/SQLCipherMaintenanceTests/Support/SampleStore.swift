import DurableFiles
import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract

@testable import SQLCipherMaintenance
@testable import SQLCipherStore

/// A store with values of every type, undeclared keys, a queue, tokens, and gaps where rows were deleted.
struct SampleStore {
    static let marker = "MarkerOfTheSample"

    static let tables: [TableDefinition] = [
        .items, .folding,
        TableDefinition(
            "indexed",
            columns: [.init("a", .string, isSearchable: true), .init("rowid", .int64)],
            indexes: [["a"], ["a", "rowid"]]
        ),
        TableDefinition("forgotten", columns: [.init("text", .string), .init("old", .decimal)]),
    ]

    static let records: [Record] = [
        Record(
            id: "1",
            [
                "bool": true, "int": .int64(.max), "double": .double(-0.0), "decimal": .decimal(DecimalText("1.10")!),
                "text": .string(marker + "\u{0}é\u{1F600}"), "date": .date(Timestamp("2021-03-04T05:06:07.1234567Z")!),
                "bytes": .bytes([]), "json": .json(JSONText("{\"a\": [1, 2.0]}")!), "undeclared": .double(0.1),
                "createdAt": .date(Timestamp(milliseconds: -1)), "version": "AAA=",
            ]
        ),
        Record(
            id: "2",
            [
                "bool": false, "int": .int64(.min), "double": .double(.leastNonzeroMagnitude), "decimal": .null,
                "text": "", "date": .null, "bytes": .bytes((0...255).map { $0 } + Array(repeating: 7, count: 20_000)),
                "json": .json(JSONText("null")!), "neverDeclared": .bytes([0, 1]),
            ]
        ),
        Record(id: "3", ["double": .double(.infinity), "text": .null]),
        Record(id: "4"),
    ]

    /// Makes the store, closed, with the given format or the newest. A large one has more than a copy keeps in memory:
    /// work on it says in between how far it is.
    static func make(
        in folder: TestFolder,
        format: FileHeader.Format? = nil,
        rows: Int = 300,
        isLarge: Bool = false
    ) async throws {
        if let format { try folder.createStore(format, tables) }
        let store = try await EncryptedStore.open(in: folder, tables)
        try await store.upsert(records, table: "items")
        try await store.upsert([Record(id: "AbC", ["text": "folded"]), Record(id: "x")], table: "folding")
        try await store.upsert([Record(id: "aBc", ["int": 5])], table: "folding")
        try await store.upsert([Record(id: "f", ["old": .decimal(DecimalText("1e5")!)])], table: "forgotten")
        let extra = FieldValue.string(marker + String(repeating: "x", count: isLarge ? 2_000 : 0))
        let many = (0..<(isLarge ? 3_000 : rows))
            .map {
                Record(
                    id: .string("\($0 * 7_919 % 100_003)-\(marker)"),
                    ["a": .string("Ἄλφα text \($0 % 13)"), "rowid": .int64(Int64($0)), "extra": extra]
                )
            }
        try await store.upsert(many, table: "indexed")
        try await store.deleteItems(withIDs: many.indices.filter { $0 % 3 == 0 }.map { many[$0].id }, table: "indexed")
        let operations = (1...5)
            .map { Record(id: .int64($0 * 1_000), ["table": "items", "itemId": "1", "properties": .bytes([1, 2])]) }
        try await store.upsert(operations, table: "MS_TableOperations")
        try await store.upsert([Record(id: "token", ["key": "q", "value": "2020"])], table: "MS_TableConfig")
        await store.close()
        // Opened without its last table, the store keeps it as one that is no longer declared.
        try await EncryptedStore.open(in: folder, Array(tables.dropLast())).close()
    }
}

/// Everything that a database holds, value for value, with the numbers of the rows.
struct DatabaseDump: Equatable {
    var entries: [DatabaseContent.Entry]
    var rows: [String: [[SQLValue]]] = [:]

    init(_ database: Database) throws {
        let content = try DatabaseContent(database)
        entries = content.entries
        for name in content.rowCounts.keys {
            rows[name] = []
            let hasNumbers = entries.first { $0.name == name }?.sql.hasSuffix("WITHOUT ROWID") == false
            let columns = hasNumbers ? "_rowid_, *" : "*"
            try database.withStatement("SELECT \(columns) FROM \(name.sqlIdentifier) ORDER BY 1, 2") { row in
                while try row.step() { rows[name, default: []].append((0..<row.columnCount).map { row.value($0) }) }
            }
        }
    }

    /// The same without what is there for searching only.
    var withoutSearching: DatabaseDump {
        var dump = self
        dump.entries.removeAll { SearchIndex.version(of: $0.name) != nil }
        dump.rows = rows.filter { SearchIndex.version(of: $0.key) == nil }
        return dump
    }

    /// Opens the database of a closed store, with the key of a test.
    init(_ folder: TestFolder, keyByte: UInt8 = 7) throws {
        let path = folder.database.path
        let header = try FileHeader(reading: FileSystem.prefix(of: path, count: FileHeader.count), of: path)
        let cipherConfiguration = try CipherConfiguration(
            key: .testKey(keyByte),
            header: header,
            engine: CipherConfiguration.engineVersion()
        )
        try self.init(
            StoreOpener.openReader(
                StoreFiles(path),
                cipherConfiguration: cipherConfiguration,
                options: EncryptedStoreOptions()
            )
        )
    }

    init(plain url: URL) throws { try self.init(Database(path: url.path, flags: 1)) }
}

extension Statement {
    /// The value in a column as it is stored.
    fileprivate func value(_ column: Int) -> SQLValue {
        switch storageClass(column) {
        case .null: .null
        case .integer: .int64(int64(column))
        // By its bits: zeros of either sign are equal otherwise.
        case .real: .text("\(double(column).bitPattern)")
        // By its bytes, which need be no text, and told from data.
        case .text: .blob(Array("text ".utf8) + bytes(column))
        case .blob: .blob(Array("data ".utf8) + bytes(column))
        }
    }
}
