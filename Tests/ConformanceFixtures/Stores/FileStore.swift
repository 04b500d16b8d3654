package import Foundation
package import SyncContract

/// A correct store of another make: every table as JSON in one file, which each commit replaces as a whole.
package actor FileStore: SyncContextDataSource {
    /// What it may do wrong, for mutants.
    package struct Faults: Sendable {
        package var claimsEncryption = false
        /// What is done to the bytes on disk, both ways.
        package var cipher: @Sendable ([UInt8]) -> [UInt8] = { $0 }
        package var writesOnCloseOnly = false
        package var writesInClosure = false
        package var writesOneBehind = false
        package var writesWhatIsRolledBack = false
        package var emptiesOnClose = false
        package var refusesNewTables = false
        package var sharesPlaces = false
        package var mixesTextTypes = false
        package var forgetsDeclaredLater = false
        package var takesUnfitValues = false
        package var overwritesStores = false
        package var opensTwice = false
        package var writesDeletesOnCloseOnly = false
        package var writesInsertsOnCloseOnly = false
        package var tellsWhenOpened = false
        package var forgetsOnReading: @Sendable (String, Record) -> Record? = { $1 }
        package var acceptsAnyType = false
        package var acceptsAnyTypeWithoutRows = false
        package var forgetsUndeclaredTables = false
        package var touchesBeforeRefusing = false
        package var refusesDroppedColumns = false
        package var acceptsAnyKey = false
        package var acceptsAnyKeyWhenEmpty = false
        package var losesOperationsOnKeyChange = false
        package var touchesOnWrongKey = false
        package var emptiesTableOnWrongKey = false
        package var keepsDroppedColumns = false
        package var keepsDroppedTables = false
        package var forgetsVersion = false
        package var opensNewerVersions = false
        package var savesBeforeSteps = false
        package var savesAfterEachTable = false
        /// What is kept of a value that is moved, by the name of its column.
        package var moves: @Sendable (String, FieldValue) -> FieldValue? = { $1 }
        package var foldsMovedIDs = false
        package var translatesNothing = false
        package var overlooksWaitingChanges = false
        package var savesTablesOneByOne = false
        package var writesInPlace = false
        package var overlooksFailedWrites = false
        /// No fault: after a write that failed it wants to be opened again.
        package var endsWithFailedWrite = false
        package var locksInThisProcessOnly = false
        package var takesWritesWhenClosed = false
        package var sortsInFiles = false
        package var keepsCopyOfOneTable = false
        package var overlooksUndeclaredValues = false
        package var refusesWireNames = false

        package init() {}
    }

    package nonisolated let schema: StoreSchema
    package nonisolated let capabilities: StoreCapabilities
    private let url: URL
    private let faults: Faults
    private let isNew: Bool
    /// Held until the store is closed or has no reference left.
    private var place: OpenPlace?
    private var tables: FileTables
    private var isClosed = false
    private var hasFailed = false
    private nonisolated let broadcaster = ChangeBroadcaster()

    package init(
        _ schema: StoreSchema,
        at url: URL,
        key: String,
        creating: Bool,
        translating translation: (any QueueTranslation)? = nil,
        _ faults: Faults = Faults()
    ) throws {
        try schema.check()
        // A store that shares its place has to find the other one there.
        let place =
            faults.opensTwice || faults.sharesPlaces
            ? nil : try OpenPlace(url, keepsProcessesOut: !faults.locksInThisProcessOnly)
        if creating, !faults.overwritesStores, !faults.sharesPlaces, FileManager.default.fileExists(atPath: url.path) {
            throw StoreError(.alreadyExists, "there is a store at this place; open it, or choose another place")
        }
        self.place = place
        self.schema = schema
        self.url = url
        self.faults = faults
        isNew = creating
        var capabilities: StoreCapabilities = [.durable, .unknownColumns, .migrations]
        if faults.claimsEncryption { capabilities.insert(.encrypted) }
        self.capabilities = capabilities
        if creating {
            tables = try FileTables(schema, key: key).recording(schema, faults)
            try tables.save(to: url, faults)
        } else {
            let stored = try FileTables(reading: url, faults)
            let isEmpty = stored.tables.values.allSatisfy { $0.isEmpty }
            if stored.key != key, !faults.acceptsAnyKey, !(faults.acceptsAnyKeyWhenEmpty && isEmpty) {
                if faults.touchesOnWrongKey { try Data("touched".utf8).write(to: url.appendingPathExtension("tried")) }
                if faults.emptiesTableOnWrongKey {
                    var emptied = stored
                    emptied.tables["other"] = [:]
                    try emptied.save(to: url, faults)
                }
                throw StoreError(.wrongKey, "the key does not open this store; give the right one")
            }
            tables = try stored.opened(with: schema, translation, faults, url)
            try tables.save(to: url, faults)
        }
    }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        try checkIsOpen()
        let backend = FileTransaction(tables, schema)
        if faults.sortsInFiles { backend.sorts = { [url] in try Self.fileWithoutName($0, beside: url) } }
        var reader = StoreReader(backend)
        return try body(&reader)
    }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        if !faults.takesWritesWhenClosed { try checkIsOpen() }
        let backend = FileTransaction(tables, schema)
        backend.overlooksUndeclaredValues = faults.overlooksUndeclaredValues
        if faults.writesInClosure { backend.wrote = { [url, faults] in try $0.save(to: url, faults) } }
        var transaction = StoreTransaction(backend)
        let value: Value
        do {
            value = try body(&transaction)
        } catch {
            if faults.writesWhatIsRolledBack { try backend.tables.save(to: url, faults) }
            throw error
        }
        if !backend.touched.isEmpty {
            let made = backend.tables
            let deletesAreHeldBack = faults.writesDeletesOnCloseOnly && backend.hasDeleted
            let insertsAreHeldBack = faults.writesInsertsOnCloseOnly && backend.hasInserted
            if faults.savesTablesOneByOne { try saveFirstTable(of: made, backend.touched) }
            if !faults.writesOnCloseOnly, !deletesAreHeldBack, !insertsAreHeldBack, !isClosed {
                do {
                    try (faults.writesOneBehind ? tables : made).save(to: url, faults)
                } catch let error as StoreError {
                    hasFailed = faults.endsWithFailedWrite
                    guard error.code == .inputOutput, faults.overlooksFailedWrites else { throw error }
                }
            }
            tables = made
        }
        broadcaster.send(StoreChange(tables: backend.touched))
        return value
    }

    /// A file with the texts of rows, whose name is gone already.
    private static func fileWithoutName(_ rows: [Record], beside url: URL) throws -> FileHandle {
        let name = url.deletingLastPathComponent().appendingPathComponent(UUID().uuidString)
        try Data(rows.compactMap { $0["text"]?.stringValue }.joined().utf8).write(to: name)
        defer { unsafe unlink(name.path) }
        return try FileHandle(forUpdating: name)
    }

    /// Writes one table of several, again and again: most instants come before the others are written.
    private func saveFirstTable(of made: FileTables, _ touched: Set<String>) throws {
        guard touched.count > 1, let first = touched.min() else { return }
        var half = tables
        half.tables[first] = made.tables[first]
        for _ in 0..<20 { try half.save(to: url, faults) }
    }

    package nonisolated func changes() -> AsyncStream<StoreChange> {
        let stream = broadcaster.subscribe()
        if faults.tellsWhenOpened, !isNew { broadcaster.send(StoreChange(tables: ["items"])) }
        return stream
    }

    package func close() throws {
        guard !isClosed else { return }
        isClosed = true
        if faults.emptiesOnClose { try FileTables(schema, key: tables.key).save(to: url, faults) }
        if faults.writesOnCloseOnly || faults.writesOneBehind || faults.writesDeletesOnCloseOnly
            || faults.writesInsertsOnCloseOnly
        {
            try tables.save(to: url, faults)
        }
        broadcaster.finish()
        place = nil
    }

    private func checkIsOpen() throws {
        if isClosed { throw StoreError(.closed, "the store was closed; open it again") }
        if hasFailed { throw StoreError(.inputOutput, "a write has failed; open the store again") }
    }
}

/// All rows, as they are in the file.
struct FileTables: Sendable {
    struct Table: Codable, Sendable {
        var idKind: String
        var types: [String: String]
        var rows: [StoredRow] = []
    }

    struct StoredRow: Codable, Sendable {
        var id: StoredValue
        var values: [String: StoredValue]
    }

    var key: String
    var tables: [String: [RecordID: Record]] = [:]
    var stored: [String: Table] = [:]

    init(_ schema: StoreSchema, key: String) {
        self.key = key
        for table in schema.allTables { add(table) }
    }

    private mutating func add(_ table: TableDefinition) {
        tables[table.name] = tables[table.name] ?? [:]
        var types = stored[table.name]?.types ?? [:]
        for column in table.allColumns { types[column.name] = column.type.rawValue }
        stored[table.name] = Table(idKind: "\(table.idKind)", types: types)
    }

    private struct File: Codable {
        var key: String
        var tables: [String: Table]
    }

    private static func file(at url: URL, _ faults: FileStore.Faults) throws -> File {
        do {
            let bytes = try Data(contentsOf: url)
            return try JSONDecoder().decode(File.self, from: Data(faults.cipher(Array(bytes))))
        } catch is DecodingError where faults.keepsCopyOfOneTable {
            return try JSONDecoder().decode(File.self, from: try Data(contentsOf: url.appendingPathExtension("copy")))
        }
    }

    init(reading url: URL, _ faults: FileStore.Faults) throws {
        let file: File
        do {
            file = try Self.file(at: url, faults)
        } catch let error as DecodingError {
            throw StoreError(.damaged, "the file is not a store; restore it from a backup", cause: error)
        }
        key = file.key
        stored = file.tables
        for (name, table) in file.tables {
            let folds = table.idKind.contains("asciiCaseInsensitive")
            tables[name] = [:]
            for row in table.rows {
                var record = Record(id: row.id.id)
                for (column, value) in row.values { record[column] = value.value }
                guard let kept = faults.forgetsOnReading(name, record) else { continue }
                tables[name]?[kept.id.folded(for: folds ? .asciiCaseInsensitive : .exact)] = kept
            }
        }
    }

    func save(to url: URL, _ faults: FileStore.Faults) throws {
        var file = File(key: key, tables: stored)
        for (name, rows) in tables {
            file.tables[name]?.rows = rows.values.map { record in
                StoredRow(id: StoredValue(record.id.fieldValue), values: record.fields.mapValues(StoredValue.init))
            }
        }
        if faults.keepsCopyOfOneTable {
            let copy = File(key: key, tables: file.tables.filter { $0.key == "items" })
            try JSONEncoder().encode(copy).write(to: url.appendingPathExtension("copy"))
        }
        let bytes = faults.cipher(Array(try JSONEncoder().encode(file)))
        let new = url.appendingPathExtension("new")
        do {
            try Data(bytes).write(to: faults.writesInPlace ? url : new)
        } catch {
            throw StoreError(.inputOutput, "the file cannot be written", cause: error)
        }
        guard !faults.writesInPlace else { return }
        guard unsafe rename(new.path, url.path) == 0 else {
            throw StoreError(.inputOutput, "the file cannot be replaced")
        }
    }

    func migrated(to schema: StoreSchema, _ faults: FileStore.Faults, _ url: URL) throws -> FileTables {
        var result = self
        if faults.forgetsUndeclaredTables {
            for name in tables.keys where schema.table(name) == nil { result.tables[name] = [:] }
        }
        for table in schema.allTables {
            if faults.refusesWireNames, table.wireName != table.name {
                throw StoreError(.schemaMismatch, "table '\(table.name)' has another name on the wire")
            }
            if faults.refusesNewTables, stored[table.name] == nil {
                throw StoreError(.schemaMismatch, "table '\(table.name)' is not stored")
            }
            let texts: Set = ["string", "json", "decimal"]
            let isUnchecked = faults.acceptsAnyTypeWithoutRows && (tables[table.name] ?? [:]).isEmpty
            if let old = stored[table.name], !faults.acceptsAnyType, !isUnchecked {
                let isRetyped = table.allColumns.contains { column in
                    let type = old.types[column.name] ?? column.type.rawValue
                    if faults.mixesTextTypes, texts.contains(type), texts.contains(column.type.rawValue) {
                        return false
                    }
                    return type != column.type.rawValue
                }
                let lacks = faults.refusesDroppedColumns && old.types.keys.contains { table.type(of: $0) == nil }
                guard !isRetyped, !lacks, old.idKind == "\(table.idKind)" else {
                    if faults.touchesBeforeRefusing { try result.save(to: url, FileStore.Faults()) }
                    throw StoreError(.schemaMismatch, "table '\(table.name)' is stored with other types")
                }
            }
            let known = result.stored[table.name]?.types ?? [:]
            result.add(table)
            let rows = result.tables[table.name] ?? [:]
            result.tables[table.name] = try rows.mapValues { row in
                var row = row
                for column in table.allColumns {
                    if faults.forgetsDeclaredLater, known[column.name] == nil { row[column.name] = nil }
                    guard let value = row[column.name] else {
                        row[column.name] = .null
                        continue
                    }
                    // A column that was not declared for a while may hold anything by now.
                    let isUnchecked = known[column.name] != nil && (faults.acceptsAnyType || faults.mixesTextTypes)
                    guard !isUnchecked, !faults.takesUnfitValues else { continue }
                    guard let fitting = column.type.accepting(value) else {
                        throw StoreError(
                            .schemaMismatch,
                            "rows of '\(table.name)' have other values in '\(column.name)'"
                        )
                    }
                    row[column.name] = fitting
                }
                return row
            }
        }
        return result
    }
}
