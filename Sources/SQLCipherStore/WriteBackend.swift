import ItemCoding
import SyncContract

/// A transaction that writes.
final class WriteBackend: ReadBackend, ItemWriteBackend {
    /// The tables in which a row was written or deleted.
    private(set) var touchedTables: Set<String> = []

    /// The first failure of a call that may have left its work half done: the transaction must not be committed, even
    /// when the closure went on.
    private var failure: (any Error)?

    func upsert(_ records: [Record], into table: String) throws {
        try writing(to: table) { writer, database, hasWritten in
            try writer.upsert(records, in: database, hasWritten: &hasWritten)
        }
    }

    func upsert<Item: Encodable & Identifiable>(items: [Item], into table: String) throws where Item.ID == String {
        try writing(to: table) { writer, database, hasWritten in
            try writer.upsert(items: items, in: database, hasWritten: &hasWritten)
        }
    }

    private func writing(to table: String, _ body: (RowWriter, Database, inout Bool) throws -> Void) throws {
        var hasWritten = false
        do {
            try reportingFailures { try body(access(to: table).writer, database(), &hasWritten) }
            if hasWritten { touchedTables.insert(table) }
        } catch {
            if hasWritten { touchedTables.insert(table) }
            // What was refused before anything was written leaves nothing half done.
            if hasWritten || !Self.isRefusal(error) { failure = failure ?? error }
            throw error
        }
    }

    func delete(_ ids: [RecordID], from table: String) throws -> Int {
        let layout = try catalog.layout(of: table)
        for id in ids { try layout.check(id) }
        return try deleting(from: table) { database in
            var count = 0
            try database.withStatement("DELETE FROM \(layout.sqlName) WHERE \"id\" = ?1") { statement in
                for id in ids {
                    try statement.bind(SQLValue(id), at: 1)
                    try statement.run()
                    count += database.changes
                }
            }
            return count
        }
    }

    func delete(_ query: Query) throws -> Int {
        let compiled = try QueryCompiler.delete(query, catalog.layout(of: query.table))
        return try deleting(from: query.table) { database in
            try database.withStatement(compiled) { statement in
                try statement.run()
                return database.changes
            }
        }
    }

    /// Refuses to go on to the commit when a call failed half-way.
    func checkForCommit() throws {
        if let failure { throw failure }
    }

    private func deleting(from table: String, _ body: (Database) throws -> Int) throws -> Int {
        do {
            let count = try reportingFailures { try body(database()) }
            if count > 0 { touchedTables.insert(table) }
            return count
        } catch {
            if !Self.isRefusal(error) { failure = failure ?? error }
            throw error
        }
    }

    private static func isRefusal(_ error: any Error) -> Bool {
        // What an item throws is not a failure of the store's.
        guard let error = error as? StoreError else { return true }
        return [.invalidRecord, .invalidItem, .tableNotFound, .invalidQuery].contains(error.code)
    }
}
