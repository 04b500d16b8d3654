import DatasyncHTTP
import RemoteConformance
import RemoteContract
import SyncContract
import Testing

/// The adapter with one fault, and the rule that is meant for it.
struct RemoteMutant: Sendable, CustomTestStringConvertible {
    let name: String
    let rule: String
    let dialect: DatasyncDialect
    let change: @Sendable (inout FaultyRemote) -> Void

    init(
        _ name: String,
        _ rule: String,
        in dialect: DatasyncDialect = .datasync,
        _ change: @escaping @Sendable (inout FaultyRemote) -> Void
    ) {
        (self.name, self.rule, self.dialect, self.change) = (name, rule, dialect, change)
    }

    var testDescription: String { name }

    var harness: DatasyncHarness {
        var harness = DatasyncHarness(dialect: dialect)
        harness.wrapping = { base in
            var remote = FaultyRemote(base)
            change(&remote)
            return remote
        }
        return harness
    }

    static let all: [RemoteMutant] = writing + reading + pulling + others + ways + racing + conditions

    private static let writing: [RemoteMutant] = [
        RemoteMutant("answers an insert with what was sent", "insert.returns-row") {
            $0.inserting = { remote, record, table in
                _ = try await remote.insert(record, into: table)
                return record
            }
        },
        RemoteMutant("takes a row under another id for its own", "insert.stored-under-another-id") {
            $0.inserting = { remote, record, table in
                do {
                    return try await remote.insert(record, into: table)
                } catch let error as RemoteError where error.code == .storedUnderAnotherID {
                    return error.serverRecord ?? record
                }
            }
        },
        RemoteMutant("cuts long texts", "insert.every-kind-of-value") {
            $0.inserting = { remote, record, table in
                var record = record
                if let text = record["text"]?.stringValue { record["text"] = .string(String(text.prefix(1_000))) }
                return try await remote.insert(record, into: table)
            }
        },
        RemoteMutant("sends declared columns only", "insert.undeclared-columns") {
            $0.inserting = { try await $0.insert($1.selecting($2.columns.map(\.name)), into: $2) }
        },
        RemoteMutant("sends columns of the device under inserts", "insert.no-local-columns") {
            $0.inserting = { try await $0.insert($1, into: $2.withoutLocality) }
        },
        RemoteMutant("takes a taken id for an insert that was made before", "conflict.insert-of-taken-id") {
            $0.inserting = { remote, record, table in
                do {
                    return try await remote.insert(record, into: table)
                } catch let error as RemoteError where error.serverRecord?.isDeleted == false {
                    return error.serverRecord ?? record
                }
            }
        },
        RemoteMutant("restores over a tombstone on its own", "conflict.insert-over-tombstone") {
            $0.inserting = { remote, record, table in
                do {
                    return try await remote.insert(record, into: table)
                } catch let error as RemoteError where error.serverRecord?.isDeleted == true {
                    let version = error.serverRecord?.version
                    return try await remote.update(record, in: table, version: version, restoring: true)
                }
            }
        },
        RemoteMutant("says not found of a taken id that is hidden", "conflict.insert-over-hidden-row") {
            $0.inserting = { remote, record, table in
                do {
                    return try await remote.insert(record, into: table)
                } catch let error as RemoteError
                    where [.conflict, .refused].contains(error.code) && error.serverRecord == nil
                {
                    throw RemoteError(.notFound, "There is no such row.")
                }
            }
        },
        RemoteMutant("inserts again when the answer is lost", "failure.answer-lost") {
            $0.inserting = { remote, record, table in
                do {
                    return try await remote.insert(record, into: table)
                } catch let error as RemoteError where error.code == .unreachable {
                    return try await remote.insert(record, into: table)
                }
            }
        },
        RemoteMutant("updates without the version", "conflict.update-of-other-version") {
            $0.updating = { try await $0.update($1, in: $2, version: nil, restoring: $4) }
        },
        RemoteMutant("takes the version from the record", "update.version-of-the-call") {
            $0.updating = { try await $0.update($1, in: $2, version: $1.version ?? $3, restoring: $4) }
        },
        RemoteMutant("asks for a version it does not have", "update.without-version") {
            $0.updating = { try await $0.update($1, in: $2, version: $3 ?? "none", restoring: $4) }
        },
        RemoteMutant("answers an update with the version it was based on", "update.returns-row") {
            $0.updating = { remote, record, table, version, restoring in
                var row = try await remote.update(record, in: table, version: version, restoring: restoring)
                row["version"] = version.map(FieldValue.string)
                return row
            }
        },
        RemoteMutant("leaves nulls out", "update.null-clears", in: .azureMobileApps) {
            $0.updating = { remote, record, table, version, restoring in
                let row = Record(id: record.id, record.fields.filter { !$0.value.isNull })
                return try await remote.update(row, in: table, version: version, restoring: restoring)
            }
        },
        RemoteMutant("sends declared columns only under updates", "update.keeps-undeclared-columns") {
            $0.updating = {
                try await $0.update($1.selecting($2.columns.map(\.name)), in: $2, version: $3, restoring: $4)
            }
        },
        RemoteMutant("creates a row that an update does not find", "update.unknown-row") {
            $0.updating = { remote, record, table, version, restoring in
                do {
                    return try await remote.update(record, in: table, version: version, restoring: restoring)
                } catch let error as RemoteError where error.code == .notFound {
                    return try await remote.insert(record, into: table)
                }
            }
        },
        RemoteMutant("brings deleted rows back unasked", "conflict.update-of-tombstone") {
            $0.updating = { remote, record, table, version, _ in
                try await remote.update(record, in: table, version: version, restoring: true)
            }
        },
        RemoteMutant("never brings deleted rows back", "restore.under-tombstone-version") {
            $0.updating = { remote, record, table, version, _ in
                try await remote.update(record, in: table, version: version, restoring: false)
            }
        },
        RemoteMutant("brings rows back whatever their tombstone is", "restore.other-tombstone") {
            $0.updating = { try await $0.update($1, in: $2, version: $4 ? nil : $3, restoring: $4) }
        },
        RemoteMutant("forgets the server's row of a conflict", "conflict.update-of-other-version") {
            $0.updating = { remote, record, table, version, restoring in
                do {
                    return try await remote.update(record, in: table, version: version, restoring: restoring)
                } catch let error as RemoteError {
                    throw RemoteError(error.code, error.message, status: error.status)
                }
            }
        },
        RemoteMutant("puts the row's text into the message", "conflict.update-of-other-version") {
            $0.updating = { remote, record, table, version, restoring in
                do {
                    return try await remote.update(record, in: table, version: version, restoring: restoring)
                } catch let error as RemoteError {
                    let text = error.serverRecord?["text"]?.stringValue ?? record["text"]?.stringValue ?? ""
                    throw RemoteError(
                        error.code,
                        "Not \(text)",
                        serverRecord: error.serverRecord,
                        cause: ShownRow(record)
                    )
                }
            }
        },
        RemoteMutant("says nothing of whole rows that are replaced", "update.replaces-as-declared") {
            $0.replacing = false
        },
        RemoteMutant(
            "says that rows are replaced which are merged",
            "update.replaces-as-declared",
            in: .azureMobileApps
        ) {
            $0.replacing = true
        },
        RemoteMutant("deletes without the version", "conflict.delete-of-other-version") {
            $0.deleting = { remote, id, table, _ in try await remote.delete(id, from: table, version: nil) }
        },
        RemoteMutant("confirms whatever is not refused", "delete.absent-table") {
            $0.deleting = { remote, id, table, version in
                try await remote.delete(id, from: table, version: version)
                return .confirmed
            }
        },
        RemoteMutant("confirms the deletion of hidden rows", "delete.hidden-row") {
            $0.deleting = { remote, id, table, version in
                try await remote.delete(id, from: table, version: version)
                return .confirmed
            }
        },
        RemoteMutant("fails on what is deleted already", "delete.again") {
            $0.deleting = { remote, id, table, version in
                if try await remote.record(id, in: table)?.isDeleted == true {
                    throw RemoteError(.notFound, "There is no such row.")
                }
                return try await remote.delete(id, from: table, version: version)
            }
        },
        RemoteMutant("fails on what is not there", "delete.unknown-row") {
            $0.deleting = { remote, id, table, version in
                let answer = try await remote.delete(id, from: table, version: version)
                if answer != .confirmed { throw RemoteError(.notFound, "There is no such row.") }
                return answer
            }
        },
        RemoteMutant("writes no tombstone where there is no row", "tombstone.stops-late-insert") {
            $0.tombstone = { remote, record, table, version in
                try await remote.delete(record.id.stringValue ?? "", from: table, version: version)
                return nil
            }
        },
        RemoteMutant("leaves a tombstone as it is", "tombstone.stops-late-restore") {
            $0.tombstone = { remote, record, table, version in
                guard version != nil else { return try await remote.writeTombstone(record, in: table, version: nil) }
                return try await remote.record(record.id.stringValue ?? "", in: table)
            }
        },
        RemoteMutant("writes tombstones over anything", "tombstone.taken-id") {
            $0.tombstone = { remote, record, table, version in
                do {
                    return try await remote.writeTombstone(record, in: table, version: version)
                } catch let error as RemoteError where error.code == .conflict {
                    try await remote.delete(record.id.stringValue ?? "", from: table, version: nil)
                    return nil
                }
            }
        },
    ]
}

extension TableDefinition {
    /// The table with every column sent.
    var withoutLocality: TableDefinition {
        TableDefinition(
            name,
            columns: columns.map { ColumnDefinition($0.name, $0.type) },
            systemProperties: systemProperties
        )
    }
}

/// An error that shows what nobody should read.
struct ShownRow: Error, CustomStringConvertible {
    let description: String

    init(_ record: Record) { description = "\(record.fields)" }
}
