#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

package import SyncContract

/// What a session remembers beyond its process, in the rows of `MS_TableConfig`: what is suspended, when everything of a
/// pull was last here, and with which pull the next sync begins.
extension SyncContext {
    /// The text that a session keeps about what is suspended; empty when there is none.
    package func storedSuspension() async throws -> String {
        try await store.read { try ConfigurationTable.value(.sessionSuspension, &$0) ?? "" }
    }

    /// Keeps that text; an empty one is removed.
    package func storeSuspension(_ text: String) async throws {
        try await uncancelled { [store] in
            try await store.write {
                try ConfigurationTable.setValue(text.isEmpty ? nil : text, .sessionSuspension, &$0)
            }
        }
    }

    /// With which pull the next sync within a time begins; nil for none in particular.
    package func storedFirstPull() async throws -> Int? {
        try await store.read { try ConfigurationTable.value(.firstPull, &$0).flatMap { Int($0) } }
    }

    /// Keeps that; nil is removed.
    package func storeFirstPull(_ index: Int?) async throws {
        try await uncancelled { [store] in
            try await store.write { try ConfigurationTable.setValue(index.map { "\($0)" }, .firstPull, &$0) }
        }
    }

    /// When everything of a pull was last here; nil when it never was, or when its rows were purged since.
    package func lastCompletePull(of source: any SyncSource, _ name: PullName) async throws -> Date? {
        let (key, fingerprint) = try name.keys(of: source, in: syncedTable(source.source.table, "pulled"))
        let table = source.source.table
        let row = try await store.read { try ConfigurationTable.row(.completePull, table, key, &$0) }
        guard let row, row["query"]?.stringValue ?? "" == fingerprint,
            let milliseconds = row["value"]?.stringValue.flatMap({ Int64($0) })
        else { return nil }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    /// Remembers when everything of a pull was here.
    package func storeCompletePull(of source: any SyncSource, _ name: PullName, at date: Date) async throws {
        try await store.write { try self.storeCompletePull(of: source, name, at: date, &$0) }
    }

    /// The same within a transaction.
    package func storeCompletePull(
        of source: any SyncSource,
        _ name: PullName,
        at date: Date,
        _ transaction: inout StoreTransaction
    ) throws {
        let (key, fingerprint) = try name.keys(of: source, in: syncedTable(source.source.table, "pulled"))
        let value = String(Int64(date.timeIntervalSince1970 * 1_000))
        try ConfigurationTable.set(
            .completePull,
            source.source.table,
            key,
            ["value": .string(value), "query": .string(fingerprint)],
            &transaction
        )
    }
}

/// The name under which the progress of a pull is kept: its own, or what its query and parameters give.
package struct PullName: Sendable, Hashable {
    package var queryID: String?
    package var parameters: [String: String]

    package init(queryID: String? = nil, parameters: [String: String] = [:]) {
        self.queryID = queryID
        self.parameters = parameters
    }

    fileprivate func keys(
        of source: any SyncSource,
        in table: TableDefinition
    ) throws -> (key: String, fingerprint: String) {
        let fingerprint = try PullRunner.fingerprint(of: source.source, in: table, parameters)
        return (try queryID ?? PullRunner.defaultQueryID(of: source.source, in: table, parameters), fingerprint)
    }
}
