import Foundation
package import StoreConformance
import StoreHarnesses
package import SyncContract

/// A store with SQL that breaks one sentence about it: the encrypted store, with a fault between it and its callers.
package struct SQLMutant: Sendable, CustomStringConvertible {
    /// The rule that must name it.
    package let rule: String
    /// What it does wrong.
    package let fault: String
    private let faults: SQLFaults

    package var description: String { "\(rule): \(fault)" }

    package var harness: SQLMutantHarness { SQLMutantHarness(name: fault, faults: faults) }

    private init(_ rule: String, _ fault: String, _ edit: (inout SQLFaults) -> Void) {
        var faults = SQLFaults()
        edit(&faults)
        (self.rule, self.fault, self.faults) = (rule, fault, faults)
    }

    package static let all: [SQLMutant] = [
        SQLMutant("sql.reads-only", "takes a statement that writes, and gives nothing") {
            $0.forgives = { $0.contains("DELETE") || $0.contains("UPDATE") }
        },
        SQLMutant("sql.reads-only", "answers the first of two statements") {
            $0.forgives = { $0.contains("SELECT 2") }
        },
        SQLMutant("sql.reads-only", "calls a statement that writes a fault of its own") { $0.refusal = .internal },
        SQLMutant("sql.sees-declared-columns-only", "shows its system tables") {
            $0.forgives = { $0.contains("MS_") }
        },
        SQLMutant("sql.sees-declared-columns-only", "shows what SQLite says of itself") {
            $0.forgives = { $0.contains("sqlite_master") }
        },
        SQLMutant("sql.sees-declared-columns-only", "shows the numbers of rows") {
            $0.forgives = { $0.contains("rowid") }
        },
        SQLMutant("sql.values-are-bound", "pastes texts between quotes") { $0.pastesValues = true },
        SQLMutant("sql.declared-types", "gives dates as numbers") {
            $0.value = { $0.dateValue.map { .int64($0.milliseconds) } ?? $0 }
        },
        SQLMutant("sql.declared-types", "gives decimals as text") {
            $0.value = { $0.decimalValue.map { .string($0.text) } ?? $0 }
        },
        SQLMutant("sql.declared-types", "gives truth values as numbers") {
            $0.value = { $0.boolValue.map { .int64($0 ? 1 : 0) } ?? $0 }
        },
        SQLMutant("sql.reads-its-writes", "finds no rows by a statement after it has written") {
            $0.readsNothingItHasWritten = true
        },
        SQLMutant("sql.ends-when-cancelled", "runs on when its task was cancelled") { $0.ignoresCancellation = true },
        SQLMutant("sql.star", "shows undeclared values with all columns") {
            $0.row = { row in
                guard row.names.contains("version") else { return row }
                return SQLRow(names: row.names + ["extra"], values: row.values + ["hidden"])
            }
        },
        SQLMutant("sql.functions", "calls functions that give something else each time") {
            $0.forgives = { $0.contains("random(") }
        },
        SQLMutant("sql.functions", "knows no functions of dates") { $0.refuses = { $0.contains("date(") } },
        SQLMutant("sql.tables-that-are-read", "tells of no table that it reads") { $0.tables = { _ in [] } },
        SQLMutant("sql.tables-that-are-read", "tells of one table only") { $0.tables = { Set($0.sorted().prefix(1)) } },
        SQLMutant("sql.live", "tells of no table that a statement reads") { $0.tables = { _ in [] } },
        SQLMutant("sql.ends-while-it-computes", "answers a statement that was cancelled") { $0.answersAtOnce = true },
        SQLMutant("sql.ends-alone", "ends what comes after a statement in a write") { $0.endsWrites = true },
        SQLMutant("sql.decimals", "ignores the collation of decimals") {
            $0.text = { $0.replacingOccurrences(of: " COLLATE decimal", with: "") }
        },
        SQLMutant("sql.decimals", "compares decimals as numbers everywhere") {
            $0.text = { $0.replacingOccurrences(of: "decimal = '10'", with: "decimal COLLATE decimal = '10'") }
        },
        SQLMutant("sql.decimal-sum", "adds decimals as doubles") {
            $0.text = { $0.replacingOccurrences(of: "decimal_sum(", with: "sum(") }
        },
        SQLMutant("sql.ids-and-texts", "compares all ids with case") {
            $0.text = { $0.replacingOccurrences(of: "id = ", with: "id COLLATE BINARY = ") }
        },
        SQLMutant("sql.values-of-every-kind", "binds decimals as doubles") {
            $0.bound = { value in
                value.decimalValue.flatMap { Double($0.text) }.map(FieldValue.double) ?? value
            }
        },
        SQLMutant("sql.fails-while-running", "gives no rows where a function fails") {
            $0.forgives = { $0.contains("ESCAPE") }
        },
        SQLMutant("sql.closure-throws", "ends quietly when the closure throws") { $0.swallowsErrors = true },
        SQLMutant("sql.refused-in-a-write", "drops what was written before a refused statement") {
            $0.dropsRowsWhenRefused = true
        },
    ]
}

struct SQLFaults: Sendable {
    /// Whether a statement that was refused gives no rows instead.
    var forgives: @Sendable (String) -> Bool = { _ in false }
    /// What a refusal is called.
    var refusal = StoreError.Code.invalidQuery
    var pastesValues = false
    var value: @Sendable (FieldValue) -> FieldValue = { $0 }
    var ignoresCancellation = false
    var readsNothingItHasWritten = false
    /// Whether a statement is refused that is none to refuse.
    var refuses: @Sendable (String) -> Bool = { _ in false }
    /// The row that is handed out.
    var row: @Sendable (SQLRow) -> SQLRow = { $0 }
    /// The tables that are told as read.
    var tables: @Sendable (Set<String>) -> Set<String> = { $0 }
    /// The SQL that is run, from that between two values.
    var text: @Sendable (String) -> String = { $0 }
    var bound: @Sendable (FieldValue) -> FieldValue = { $0 }
    /// Whether a count of what is made up by the statement itself is guessed.
    var answersAtOnce = false
    /// Whether a write whose task is cancelled is ended after a statement.
    var endsWrites = false
    var swallowsErrors = false
    var dropsRowsWhenRefused = false
}

/// How the kit gets at a mutant with SQL.
package struct SQLMutantHarness: StoreHarness {
    package let name: String
    let faults: SQLFaults

    package func makeStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> SQLMutantStore {
        SQLMutantStore(try await EncryptedStoreHarness().makeStore(schema, at: place), faults) {
            try await EncryptedStoreHarness().closeStore($0)
        }
    }

    package func reopenStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> SQLMutantStore {
        SQLMutantStore(try await EncryptedStoreHarness().reopenStore(schema, at: place), faults) {
            try await EncryptedStoreHarness().closeStore($0)
        }
    }

    package func closeStore(_ store: SQLMutantStore) async throws { try await store.close() }
}

package final class SQLMutantStore: SyncContextDataSource {
    private let base: any SyncContextDataSource
    private let faults: SQLFaults
    private let closing: @Sendable () async throws -> Void

    init<Base: SyncContextDataSource>(
        _ base: Base,
        _ faults: SQLFaults,
        closing: @escaping @Sendable (Base) async throws -> Void
    ) {
        (self.base, self.faults) = (base, faults)
        self.closing = { try await closing(base) }
    }

    func close() async throws { try await closing() }

    package var schema: StoreSchema { base.schema }
    package var capabilities: StoreCapabilities { base.capabilities }
    package func changes() -> AsyncStream<StoreChange> { base.changes() }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        try await shielded { [base, faults] in
            try await base.read { reader in
                var reader = StoreReader(SQLMutantReader(reader.backend, faults))
                return try body(&reader)
            }
        }
    }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        try await shielded { [base, faults] in
            try await base.write { transaction in
                var transaction = StoreTransaction(SQLMutantWriter(transaction.backend, faults))
                return try body(&transaction)
            }
        }
    }

    /// Runs what does not hear of a cancellation.
    private func shielded<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard faults.ignoresCancellation else { return try await body() }
        return try await Task.detached { try await body() }.value
    }
}

private class SQLMutantReader: StoreReadBackend {
    private let base: any StoreReadBackend
    private let faults: SQLFaults

    init(_ base: any StoreReadBackend, _ faults: SQLFaults) { (self.base, self.faults) = (base, faults) }

    var answersSyncStates: Bool { base.answersSyncStates }

    func definition(of table: String) throws -> TableDefinition { try base.definition(of: table) }
    func record(_ id: RecordID, in table: String) throws -> Record? { try base.record(id, in: table) }
    func forEach(_ query: Query, _ body: (Record) throws -> Void) throws { try base.forEach(query, body) }
    func count(_ query: Query) throws -> Int { try base.count(query) }
    func aggregate(_ query: AggregateQuery) throws -> [AggregateGroup] { try base.aggregate(query) }

    func forEach(_ query: SQLQuery, _ body: (SQLRow) throws -> Void) throws -> Set<String> {
        let query = faults.pastesValues ? pasted(query) : edited(query)
        if faults.refuses(query.text) { throw StoreError(.invalidQuery, "this statement is not taken") }
        if faults.answersAtOnce, query.text.contains("RECURSIVE") {
            try body(SQLRow(names: ["n"], values: [5]))
            return []
        }
        do {
            return faults.tables(
                try base.forEach(query) {
                    try body(faults.row(SQLRow(names: $0.names, values: $0.values.map(faults.value))))
                }
            )
        } catch let error as StoreError where error.code == .invalidQuery {
            if faults.forgives(query.text) { return [] }
            throw StoreError(faults.refusal, error.message)
        } catch  where faults.swallowsErrors {
            return []
        }
    }

    private func edited(_ query: SQLQuery) -> SQLQuery {
        var edited = SQLQuery.StringInterpolation(literalCapacity: 0, interpolationCount: 0)
        edited.parts = query.parts.map { part in
            switch part {
            case .text(let text): .text(faults.text(text))
            case .name: part
            case .value(let value): .value(faults.bound(value))
            }
        }
        return SQLQuery(stringInterpolation: edited)
    }

    private func pasted(_ query: SQLQuery) -> SQLQuery {
        let text = query.parts.map { part in
            switch part {
            case .text(let text): text
            case .name(let name): "\"\(name)\""
            case .value(let value): value.stringValue.map { "'\($0)'" } ?? "\(value)"
            }
        }
        return SQLQuery(stringLiteral: text.joined())
    }
}

private final class SQLMutantWriter: SQLMutantReader, StoreWriteBackend {
    private let base: any StoreWriteBackend
    private let faults: SQLFaults
    private var hasWritten = false
    private var hasRunStatement = false

    init(_ base: any StoreWriteBackend, _ faults: SQLFaults) {
        (self.base, self.faults) = (base, faults)
        super.init(base, faults)
    }

    override func forEach(_ query: SQLQuery, _ body: (SQLRow) throws -> Void) throws -> Set<String> {
        hasRunStatement = true
        guard !faults.readsNothingItHasWritten || !hasWritten else { return [] }
        do {
            return try super.forEach(query, body)
        } catch let error as StoreError where error.code == .invalidQuery && faults.dropsRowsWhenRefused {
            _ = try base.delete(Query("items"))
            throw error
        }
    }

    func upsert(_ records: [Record], into table: String) throws {
        if faults.endsWrites, hasRunStatement { try Task.checkCancellation() }
        hasWritten = true
        try base.upsert(records, into: table)
    }
    func insert(_ record: Record, into table: String) throws -> Bool { try base.insert(record, into: table) }
    func delete(_ ids: [RecordID], from table: String) throws -> Int { try base.delete(ids, from: table) }
    func delete(_ query: Query) throws -> Int { try base.delete(query) }
}
