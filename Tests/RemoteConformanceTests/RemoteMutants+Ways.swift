import DatasyncHTTP
import RemoteContract
import SyncContract
import Synchronization

// Faults of values, and of those who write at the same time.
extension RemoteMutant {
    static let ways: [RemoteMutant] = [
        RemoteMutant("cuts instants to seconds in updates", "value.written") {
            $0.updating = { remote, record, table, version, restoring in
                let row = record.mapping { name, value in name == "date" ? value.cutToSeconds : value }
                return try await remote.update(row, in: table, version: version, restoring: restoring)
            }
        },
        RemoteMutant("takes decimal numbers for binary ones in updates", "value.written") {
            $0.updating = { remote, record, table, version, restoring in
                let row = record.mapping { _, value in
                    guard let number = value.decimalValue, let binary = Double(number.text) else { return value }
                    return DecimalText(shortestOf: binary).map(FieldValue.decimal) ?? value
                }
                return try await remote.update(row, in: table, version: version, restoring: restoring)
            }
        },
        RemoteMutant("leaves empty bytes out of inserts", "value.written") {
            $0.inserting = { remote, record, table in
                try await remote.insert(record.mapping { _, value in value == .bytes([]) ? nil : value }, into: table)
            }
        },
        RemoteMutant("takes whole numbers for binary ones where it reads", "value.read") {
            $0.reading = { try await $0.record($1, in: $2)?.mapping { _, value in value.binary } }
        },
        RemoteMutant("leaves JSON out of pages", "value.read") {
            $0.everyPage { page in
                page.records = page.records.map { $0.mapping { _, value in value.jsonValue == nil ? value : nil } }
            }
        },
        RemoteMutant("takes instants before 1970 for that of 1970 in pulls of changes", "value.read") {
            $0.paging = { remote, request in
                var page = try await request.ask(remote)
                guard request.position != .everything else { return page }
                page.records = page.records.map { $0.mapping { _, value in value.since1970 } }
                return page
            }
        },
        RemoteMutant("shows a conflict's row without its bytes", "value.in-conflict") {
            $0.deleting = { remote, id, table, version in
                try await FaultyRemote.changingServerRecord {
                    try await remote.delete(id, from: table, version: version)
                } by: { record in
                    record.mapping { _, value in value.bytesValue == nil ? value : nil }
                }
            }
        },
        RemoteMutant("takes whole numbers of a conflict's row for binary ones", "value.in-conflict") {
            $0.updating = { remote, record, table, version, restoring in
                try await FaultyRemote.changingServerRecord {
                    try await remote.update(record, in: table, version: version, restoring: restoring)
                } by: { record in
                    record.mapping { _, value in value.binary }
                }
            }
        },
        RemoteMutant("takes undeclared numbers for binary ones in pages", "value.undeclared-number") {
            $0.everyPage { page in
                page.records = page.records.map { $0.mapping { name, value in name == "count" ? value.binary : value } }
            }
        },
        RemoteMutant("takes undeclared numbers for binary ones in updates", "value.undeclared-number") {
            $0.updating = { remote, record, table, version, restoring in
                let row = record.mapping { name, value in name == "count" ? value.binary : value }
                return try await remote.update(row, in: table, version: version, restoring: restoring)
            }
        },
        RemoteMutant("cuts stamps to seconds", "value.stamps") {
            $0.inserting = { remote, record, table in
                try await remote.insert(record, into: table)
                    .mapping { name, value in name == "updatedAt" ? value.cutToSeconds : value }
            }
        },
        RemoteMutant("leaves stamps out of pages", "value.stamps", in: .azureMobileApps) {
            $0.everyPage { page in
                page.records = page.records.map { $0.mapping { name, value in name == "updatedAt" ? nil : value } }
            }
        },
        RemoteMutant("leaves the stamp out of a conflict's row", "value.stamps") {
            $0.updating = { remote, record, table, version, restoring in
                try await FaultyRemote.changingServerRecord {
                    try await remote.update(record, in: table, version: version, restoring: restoring)
                } by: { record in
                    record.mapping { name, value in name == "updatedAt" ? nil : value }
                }
            }
        },
        RemoteMutant("sends no createdAt with an update", "value.created-at") {
            $0.updating = { remote, record, table, version, restoring in
                let row = record.mapping { name, value in name == "createdAt" ? nil : value }
                return try await remote.update(row, in: table, version: version, restoring: restoring)
            }
        },
        RemoteMutant("leaves createdAt out of pages", "value.created-at") {
            $0.everyPage { page in
                page.records = page.records.map { $0.mapping { name, value in name == "createdAt" ? nil : value } }
            }
        },
    ]

    static let racing: [RemoteMutant] = [
        RemoteMutant("looks, compares and updates without the version", "conflict.change-between-requests") {
            $0.updating = lookingFirst
        },
        RemoteMutant("looks, compares and deletes without the version", "conflict.change-between-requests") {
            $0.deleting = { remote, id, table, version in
                try await found(id, by: remote, in: table, under: version)
                return try await remote.delete(id, from: table, version: nil)
            }
        },
        RemoteMutant("looks for the id and writes over whatever has it", "conflict.change-between-requests") {
            $0.inserting = { remote, record, table in
                if let row = try await remote.record(record.id.stringValue ?? "", in: table) {
                    throw RemoteError(.conflict, "The id is taken.", serverRecord: row)
                }
                do {
                    return try await remote.insert(record, into: table)
                } catch let error as RemoteError where error.code == .conflict {
                    return try await remote.update(record, in: table, version: nil, restoring: true)
                }
            }
        },
        RemoteMutant("looks, compares and updates, and is overtaken meanwhile", "conflict.two-at-once") {
            $0.updating = lookingFirst
        },
        RemoteMutant("takes a conflict for its own change", "conflict.two-at-once") {
            $0.inserting = { remote, record, table in
                do {
                    return try await remote.insert(record, into: table)
                } catch let error as RemoteError where error.serverRecord?.isDeleted == false {
                    return error.serverRecord ?? record
                }
            }
        },
        RemoteMutant("keeps what it inserts in one place", "update.in-parallel") {
            let place = Place()
            $0.inserting = { remote, record, table in
                place.record.withLock { $0 = record }
                await others()
                return try await remote.insert(place.record.withLock { $0 } ?? record, into: table)
            }
        },
        RemoteMutant("keeps the answer to an update in one place", "update.in-parallel") {
            let place = Place()
            $0.updating = { remote, record, table, version, restoring in
                let row = try await remote.update(record, in: table, version: version, restoring: restoring)
                place.record.withLock { $0 = row }
                await others()
                return place.record.withLock { $0 } ?? row
            }
        },
        RemoteMutant("inserts again when the server fails", "failure.sent-once") {
            $0.inserting = { remote, record, table in
                try await again(on: .serverFailure) { try await remote.insert(record, into: table) }
            }
        },
        RemoteMutant("updates again when it is asked to come later", "failure.sent-once") {
            $0.updating = { remote, record, table, version, restoring in
                try await again(on: .throttled) {
                    try await remote.update(record, in: table, version: version, restoring: restoring)
                }
            }
        },
        RemoteMutant("deletes again when the request is lost", "failure.sent-once") {
            $0.deleting = { remote, id, table, version in
                try await again(on: .unreachable) { try await remote.delete(id, from: table, version: version) }
            }
        },
        RemoteMutant("updates again without the version when it is refused", "failure.sent-once") {
            $0.updating = { remote, record, table, version, restoring in
                do {
                    return try await remote.update(record, in: table, version: version, restoring: restoring)
                } catch let error as RemoteError where error.code == .refused {
                    return try await remote.update(record, in: table, version: nil, restoring: restoring)
                }
            }
        },
        RemoteMutant("leaves a tombstone's content as it was", "tombstone.has-the-content", in: .azureMobileApps) {
            $0.tombstone = { remote, record, table, version in
                guard version != nil else { return try await remote.writeTombstone(record, in: table, version: nil) }
                let old = try await remote.record(record.id.stringValue ?? "", in: table) ?? record
                return try await remote.writeTombstone(old, in: table, version: version)
            }
        },
        RemoteMutant("leaves versions out of a batch's deletions", "batch.answers") {
            $0.everyOperation { operation in
                guard case .delete(let id, let table, _) = operation else { return operation }
                return .delete(id, from: table, version: nil)
            }
        },
        RemoteMutant("brings deleted rows back in a batch unasked", "batch.answers") {
            $0.everyOperation { operation in
                guard case .update(let record, let table, let version, _) = operation else { return operation }
                return .update(record, in: table, version: version, restoring: true)
            }
        },
        RemoteMutant("brings no rows back in a batch", "batch.answers") {
            $0.everyOperation { operation in
                guard case .update(let record, let table, let version, _) = operation else { return operation }
                return .update(record, in: table, version: version, restoring: false)
            }
        },
        RemoteMutant("brings rows back in a batch whatever their tombstone is", "batch.answers") {
            $0.everyOperation { operation in
                guard case .update(let record, let table, _, true) = operation else { return operation }
                return .update(record, in: table, version: nil, restoring: true)
            }
        },
    ]

    static let conditions: [RemoteMutant] = [
        RemoteMutant("goes by the first of two conditions", "page.predicate") {
            $0.everyCondition { if case .any(let parts) = $0 { parts[0] } else { $0 } }
        },
        RemoteMutant("leaves brackets out", "page.predicate") {
            // `(a or b) and c` becomes `a or b and c`.
            $0.everyCondition { predicate in
                guard case .all(let parts) = predicate, case .any(let alternatives)? = parts.first, parts.count == 2
                else {
                    return predicate
                }
                return .any(alternatives.dropLast() + [.all([alternatives[alternatives.count - 1], parts[1]])])
            }
        },
        RemoteMutant("leaves not out", "page.predicate") {
            $0.everyCondition { if case .not(let other) = $0 { other } else { $0 } }
        },
        RemoteMutant("finds no nulls", "page.predicate") {
            $0.everyCondition { predicate in
                guard case .comparison(_, .equal, .value(.null)) = predicate else { return predicate }
                return .constant(false)
            }
        },
        RemoteMutant("doubles quotes", "page.predicate") {
            $0.everyCondition { predicate in
                guard case .comparison(let column, let comparison, .value(.string(let text))) = predicate else {
                    return predicate
                }
                return .comparison(column, comparison, .value(.string(text.replacing("'", with: "''"))))
            }
        },
        RemoteMutant("cuts instants in conditions to seconds", "page.predicate") {
            $0.everyCondition { predicate in
                guard case .comparison(let column, let comparison, .value(let value)) = predicate else {
                    return predicate
                }
                return .comparison(column, comparison, .value(value.cutToSeconds))
            }
        },
        RemoteMutant("leaves the cursor out beside an or", "pull.condition-and-cursor") {
            $0.paging = { remote, request in
                var request = request
                if case .any? = request.query.predicate, case .changes = request.position {
                    request.position = .changes(since: nil)
                }
                return try await request.ask(remote)
            }
        },
        RemoteMutant("leaves the condition out beside a cursor", "pull.condition-and-cursor") {
            $0.paging = { remote, request in
                var request = request
                if case .changes(.some) = request.position { request.query.predicate = nil }
                return try await request.ask(remote)
            }
        },
        RemoteMutant("leaves deleted rows out where there is a condition", "pull.condition-and-deletion") {
            $0.paging = { remote, request in
                var page = try await request.ask(remote)
                if request.query.predicate != nil { page.records.removeAll(where: \.isDeleted) }
                return page
            }
        },
    ]

    /// Looks for the row, compares versions and writes without a condition.
    private static let lookingFirst: FaultyRemote.Update = { remote, record, table, version, restoring in
        try await found(record.id.stringValue ?? "", by: remote, in: table, under: version)
        await others()
        return try await remote.update(record, in: table, version: nil, restoring: restoring)
    }

    private static func found(
        _ id: String,
        by remote: any SyncRemote,
        in table: TableDefinition,
        under version: String?
    ) async throws {
        guard let row = try await remote.record(id, in: table) else {
            throw RemoteError(.notFound, "There is no such row.")
        }
        if let version, row.version != version {
            throw RemoteError(.conflict, "The version is another one.", serverRecord: row)
        }
    }

    /// Lets others come in between.
    private static func others() async {
        for _ in 0..<200 { await Task.yield() }
    }

    private static func again<Answer>(
        on code: RemoteError.Code,
        _ call: () async throws -> Answer
    ) async throws -> Answer {
        do {
            return try await call()
        } catch let error as RemoteError where error.code == code {
            return try await call()
        }
    }
}

/// One place for all calls.
private final class Place: Sendable {
    let record = Mutex<Record?>(nil)
}

extension FaultyRemote {
    /// Changes the row of a conflict.
    static func changingServerRecord<Answer>(
        of call: () async throws -> Answer,
        by change: (Record) -> Record
    ) async throws -> Answer {
        do {
            return try await call()
        } catch let error as RemoteError where error.code == .conflict {
            let row = error.serverRecord.map(change)
            throw RemoteError(.conflict, error.message, status: error.status, serverRecord: row, cause: error.cause)
        }
    }

    /// Takes batches and changes the operations in them.
    fileprivate mutating func everyOperation(_ change: @escaping @Sendable (RemoteOperation) -> RemoteOperation) {
        batchSize = 20
        sending = { try await $0.send($1.map(change)) }
    }

    /// Changes the condition of every pull.
    fileprivate mutating func everyCondition(_ change: @escaping @Sendable (QueryPredicate) -> QueryPredicate) {
        paging = { remote, request in
            var request = request
            request.query.predicate = request.query.predicate.map(change)
            return try await request.ask(remote)
        }
    }
}

extension Record {
    /// The record with other values, and without those that become nil.
    fileprivate func mapping(_ change: (String, FieldValue) -> FieldValue?) -> Record {
        var result = self
        for (name, value) in fields { result[name] = change(name, value) }
        return result
    }
}

extension FieldValue {
    fileprivate var cutToSeconds: FieldValue {
        guard let instant = dateValue else { return self }
        let seconds = Double(instant.milliseconds) / 1_000
        return .date(Timestamp(milliseconds: Int64(seconds.rounded(.down)) * 1_000))
    }

    fileprivate var since1970: FieldValue {
        guard let instant = dateValue, instant.milliseconds < 0 else { return self }
        return .date(Timestamp(milliseconds: 0))
    }

    /// A whole number as far as a binary one holds it.
    fileprivate var binary: FieldValue {
        int64Value.map { .int64(Int64(exactly: Double($0)) ?? 0) } ?? self
    }
}
