import CSQLCipher
import SQLCipherStore
import SyncContract

/// A plain file of another program: each of its tables becomes one of the store.
struct PlaintextImportDatabase: PlainContent {
    /// How many rows are written with one call.
    private static let batchCount = 200

    private let source: PlainDatabase
    private let tables: [PlaintextImportTable]
    private let schema: StoreSchema

    var droppedIndexes: [String] { tables.flatMap(\.droppedIndexes) }

    /// Looks at everything but the rows' values.
    ///
    /// - Throws: ``StoreError/Code/schemaMismatch`` for what cannot be taken over.
    init(_ source: PlainDatabase, _ declared: StoreSchema?) throws {
        self.source = source
        let database = source.database
        let names = try Self.tableNames(database)
        tables = try names.map { name in
            let folded = name.asciiLowercased()
            let match = declared?.tables.first { $0.name.asciiLowercased() == folded }
            guard match == nil || match?.name == name else {
                throw StoreError.notTakenOver(
                    "table '\(name)' is declared as '\(match?.name ?? "")'",
                    "declare it in the spelling it has"
                )
            }
            return try PlaintextImportTable(PlainTable(name, database), declared: match, database)
        }
        let found = tables.map(\.definition)
        schema = try StoreSchema(
            stored: found + (declared?.tables ?? []).filter { table in !names.contains(table.name) },
            version: declared?.version ?? 1
        )
    }

    func write(
        to path: String,
        _ cipherConfiguration: CipherConfiguration,
        _ work: CancellableWork,
        _ progress: StoreProgressHandler?
    ) throws {
        let total = try tables.reduce(Int64(0)) { try $0 + count($1.name, source.database) }
        let meter = ProgressMeter(.copying, total: source.size, progress)
        defer { meter.finish() }
        let (database, catalog) = try StoreCreator.build(path, cipherConfiguration, schema)
        var done: Int64 = 0
        try database.transaction(.writing) {
            for table in tables {
                let writer = RowWriter(try catalog.layout(of: table.name))
                var batch: [Record] = []
                var written: Int64 = 0
                func flush() throws {
                    try work.checkCancellation()
                    var hasWritten = false
                    try writer.upsert(batch, in: database, hasWritten: &hasWritten)
                    written += Int64(batch.count)
                    batch.removeAll(keepingCapacity: true)
                    meter.advance(to: Int64(Double(source.size) * Double(done + written) / Double(max(total, 1))))
                }
                try table.forEach(source.database) { record in
                    batch.append(record)
                    if batch.count == Self.batchCount || record.isLarge { try flush() }
                }
                try flush()
                done += written
                guard try count(table.name, database) == written else {
                    throw StoreError.notTakenOver(
                        "table '\(table.name)' has ids that are equal as the store compares them",
                        "make them differ, or declare the table with exact ids"
                    )
                }
            }
        }
    }

    private func count(_ table: String, _ database: Database) throws -> Int64 {
        try database.int64("SELECT COUNT(*) FROM \(table.sqlIdentifier)") ?? 0
    }

    private static func tableNames(_ database: Database) throws -> [String] {
        let sql = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite@_%' ESCAPE '@' ORDER BY name"
        return try database.withStatement(sql) { row in
            var names: [String] = []
            while try row.step() {
                let (type, name) = (row.text(0), row.text(1))
                switch type {
                case "index": continue
                case "table" where !row.text(2).asciiUppercased().hasPrefix("CREATE VIRTUAL"): names.append(name)
                default:
                    let kind = type == "table" ? "virtual table" : type
                    throw StoreError.notTakenOver("'\(name)' is a \(kind), which a store does not have", "drop it")
                }
            }
            return names
        }
    }
}

extension Record {
    /// Whether it takes so much memory that it should not wait for others.
    fileprivate var isLarge: Bool {
        fields.values.contains { value in
            switch value {
            case .bytes(let bytes): bytes.count > 100_000
            case .string(let text): text.utf8.count > 100_000
            case .json(let json): json.text.utf8.count > 100_000
            default: false
            }
        }
    }
}
