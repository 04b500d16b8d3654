import DurableFiles
import Foundation
import SQLCipherStore
public import SecretMemory
package import SyncContract

extension StoreFile {
    /// Looks at the files of the store without a key, also while the store is open. No file is changed.
    ///
    /// - Returns: What the files say in clear.
    /// - Throws: `StoreError` with code `StoreError.Code.notFound` when there is no store,
    ///   `StoreError.Code.unsupportedFormat` for a file without encryption and for a format of a newer version,
    ///   `StoreError.Code.damaged` for a file that is no store or has lost its beginning, and those of the file
    ///   system.
    public func inspect() async throws -> StoreInspection {
        let files = StoreFiles(url.path)
        return try await CancellableWork.run(at: files.database) { _ in
            guard FileSystem.exists(files.database) else { throw StoreError.noStore(at: files.database) }
            try files.refuseLinks()
            let header = try FileHeader(
                reading: FileSystem.prefix(of: files.database, count: FileHeader.count),
                of: files.database
            )
            let leftovers = (files.leftovers + [files.journal]).filter(FileSystem.exists)
            return StoreInspection(
                format: StoreFormat(header.format),
                databaseSize: Int64(FileSystem.size(of: files.database) ?? 0),
                walSize: Int64(FileSystem.size(of: files.wal) ?? 0),
                isInUse: try LockFile.isHeld(files),
                leftovers: leftovers.map { URL(fileURLWithPath: $0).lastPathComponent }
            )
        }
    }

    /// Says what is in the store.
    ///
    /// Database and WAL are not changed, and no other file either where there is no WAL that was left behind: reading
    /// one takes its index, a file `<name>-shm`, which is removed afterwards.
    ///
    /// - Parameter key: The key, 32 bytes. It is lent.
    /// - Returns: The tables and what else the store says of itself.
    /// - Throws: As said for the type. `StoreError.Code.damaged` also when a log lies beside the database that was not
    ///   written for it: the message says what to do.
    public func inspect(key: SecretBytes) async throws -> StoreContent {
        try await inspect(key: key, systemTables: SystemTables.all)
    }

    /// The same, where further tables are not the app's: those of these names that have all of their columns.
    package func inspect(key: SecretBytes, systemTables: [TableDefinition]) async throws -> StoreContent {
        let path = StoreFiles(url.path).database
        return try await read(key: key) { database, engine in
            let tables = try RememberedTables(database, of: path).layouts
                .map { try Self.table($0, database, systemTables) }
            func rows(_ table: TableDefinition) -> Int { tables.first { $0.name == table.name }?.rows ?? 0 }
            return StoreContent(
                engineVersion: engine,
                layoutVersion: Int(try database.int64("PRAGMA user_version") ?? 0),
                pages: Int(try database.int64("PRAGMA page_count") ?? 0),
                freePages: Int(try database.int64("PRAGMA freelist_count") ?? 0),
                tables: tables,
                pendingOperations: rows(SystemTables.operations),
                operationErrors: rows(SystemTables.operationErrors),
                deltaTokens: try Self.deltaTokens(tables, database)
            )
        }
    }

    /// Lends a connection that reads the store as it lies.
    private func read<Value: Sendable>(
        key: SecretBytes,
        _ body: @escaping @Sendable (Database, EngineVersion) throws -> Value
    ) async throws -> Value {
        let (files, keyIsVerified) = (StoreFiles(url.path), keyIsVerified)
        return try await CancellableWork.run(at: files.database) { work in
            let store = try ClosedStore(files, key: key)
            return try withExtendedLifetime(store) {
                if let log = store.foreignLogs.first {
                    guard try store.keyIsNamed || store.pages().haveAuthenticOne() else {
                        throw StoreError.wrongKey(at: files.database)
                    }
                    throw log.error
                }
                do {
                    let database = try store.openDatabase()
                    database.end(with: work)
                    return try database.transaction(.reading) { try body(database, store.engine) }
                } catch let failure as SQLiteFailure where failure.isDamage {
                    guard !keyIsVerified, !store.keyIsNamed else {
                        throw StoreError.damaged(files.database, cause: failure)
                    }
                    guard try store.pages().haveAuthenticOne() else { throw StoreError.wrongKey(at: files.database) }
                    throw StoreError.damaged(files.database, cause: failure)
                }
            }
        }
    }

    private static func table(
        _ layout: TableLayout,
        _ database: Database,
        _ systemTables: [TableDefinition]
    ) throws -> StoreContent.Table {
        let definition = layout.definition
        let isSystemTable = systemTables.contains { table in
            let columns = Set(layout.columns.map(\.name))
            return table.name == definition.name && table.columns.allSatisfy { columns.contains($0.name) }
        }
        return StoreContent.Table(
            name: definition.name,
            idKind: definition.idKind,
            isSystemTable: isSystemTable,
            rows: Int(try database.int64("SELECT COUNT(*) FROM \(layout.sqlName)") ?? 0),
            columns: layout.columns.enumerated()
                .map { .init(name: $1.name, type: $1.type, isDeclared: $0 < layout.declaredCount) }
        )
    }

    private static func deltaTokens(_ tables: [StoreContent.Table], _ database: Database) throws -> Int {
        let name = SystemTables.configuration.name
        guard tables.contains(where: { $0.name == name }) else { return 0 }
        let sql = "SELECT COUNT(*) FROM \(name.sqlIdentifier) WHERE \"keyType\" = \(SystemTables.deltaTokenKeyType)"
        return Int(try database.int64(sql) ?? 0)
    }
}
