internal import RemoteContract
internal import SyncContract

/// The server of a simulation: rows with all that was ever written to them.
///
/// Used on the thread of its simulation only.
final class SimulatedServer {
    let settings: WorldSettings
    /// All rows that there ever were.
    private(set) var history: [RowKey: ServerRow] = [:]
    /// The time in milliseconds, which may be set back.
    var clock: Int64 = 1_700_000_000_000
    private var lastSequence = 0
    /// How often it was set up anew. Cursors say of which time they are.
    private(set) var epoch = 1

    /// Called before each write of a device: what is there, what takes its place, and who writes.
    var willWrite: (_ key: RowKey, _ old: ServerVersion?, _ new: ServerContent, _ author: Int) -> Void = { _, _, _, _ in
    }

    init(_ settings: WorldSettings) { self.settings = settings }

    /// A row that is there, a tombstone included.
    func row(_ key: RowKey) -> ServerRow? {
        guard let row = history[key], !row.isGone else { return nil }
        return row
    }

    private func row(_ id: String, _ table: String) -> ServerRow? { row(settings.key(id, in: table)) }

    /// Whether rows were removed without a trace.
    var hasRemovedRows: Bool { history.values.contains { !$0.removals.isEmpty } }

    /// What a request of a device does, and what is answered. The stamp says when the change began: others may have
    /// written since.
    func answer(
        _ request: ServerRequest,
        in table: String,
        from author: Int,
        stamp: Int64
    ) throws(RemoteError) -> ServerAnswer {
        func write(_ content: ServerContent, to id: String) -> Record {
            self.write(content, to: id, in: table, author, stamp)
        }
        switch request {
        case .insert(let record), .tombstone(let record, version: nil, _):
            let id = record.id.stringValue ?? ""
            if let row = row(id, table) { throw conflict(row, status: 409) }
            return .record(write(content(record, over: nil, deletion: request.deletion), to: id))
        case .tombstone(let record, let version, _):
            let row = try existing(record.id.stringValue ?? "", table, version)
            let deletion = row.current.content.deletion ?? request.deletion
            return .record(write(content(record, over: row.current.content, deletion: deletion), to: row.id))
        case .update(let record, let version, let restores):
            let row = try existing(record.id.stringValue ?? "", table, version)
            let current = row.current
            guard current.content.deletion == nil || restores else { throw conflict(row, status: 410) }
            let deletion: String? = restores && settings.restoresInTwoSteps ? current.content.deletion : nil
            return .record(write(content(record, over: current.content, deletion: deletion), to: row.id))
        case .undelete(let id, let version):
            let row = try existing(id, table, version)
            var content = row.current.content
            content.deletion = nil
            return .record(write(content, to: row.id))
        case .delete(let id, let version, let deletion):
            guard let row = row(id, table) else { return .deletion(.unconfirmed(status: 404)) }
            guard row.current.content.deletion == nil else { return .deletion(.unconfirmed(status: 410)) }
            guard version == nil || version == row.current.number else { throw conflict(row, status: 412) }
            var content = row.current.content
            content.deletion = deletion
            if settings.deletesForGood {
                let key = settings.key(row.id, in: table)
                willWrite(key, row.current, content, author)
                remove(key, by: author)
            } else {
                _ = write(content, to: row.id)
            }
            return .deletion(.confirmed)
        case .record(let id): return .found(row(id, table).map { record($0) })
        case .confirm: return .confirmed
        case .page(let position, let pageSize): return .page(try page(of: table, at: position, pageSize))
        }
    }

    private func existing(_ id: String, _ table: String, _ version: String?) throws(RemoteError) -> ServerRow {
        guard let row = row(id, table) else { throw RemoteError(.notFound, "there is no such row", status: 404) }
        guard version == nil || version == row.current.number else { throw conflict(row, status: 412) }
        return row
    }

    private func conflict(_ row: ServerRow, status: Int) -> RemoteError {
        // That an id is taken is no news about what has it.
        let isGone = row.current.content.deletion != nil && status != 409
        return RemoteError(
            .conflict,
            "there is another version",
            status: isGone ? 410 : status,
            serverRecord: record(row)
        )
    }

    private func content(_ record: Record, over old: ServerContent?, deletion: String?) -> ServerContent {
        var content = settings.replacesWholeRows ? nil : old
        for name in WorldSettings.columns {
            if let value = record[name] {
                content = content ?? ServerContent(values: [:])
                content?.values[name] = value.stringValue
            }
        }
        var result = content ?? ServerContent(values: [:])
        if let list = record["list"] { result.list = list.stringValue }
        if let extra = record["extra"] { result.extra = extra.stringValue }
        if record["title"] != nil { result.isUnfit = false }
        // Who does not know a column does not touch it.
        result.others = old?.others ?? [:]
        for name in ["spare", "grade"] {
            if let value = record[name] { result.others.updateValue(value.stringValue, forKey: name) }
        }
        result.deletion = deletion
        return result
    }

    /// Writes without a request: somebody at the server.
    func write(_ content: ServerContent, to id: String, in table: String) {
        _ = write(content, to: id, in: table, nil, clock)
    }

    /// Removes a row without a trace.
    func remove(_ key: RowKey, by author: Int? = nil) {
        history[key]?.isGone = true
        history[key]?.remover = author
        history[key]?.removals.append(lastSequence)
    }

    /// How much it has written.
    var writeCount: Int { lastSequence }

    /// How much it has written to a row.
    func writeCount(of key: RowKey) -> Int { history[key]?.history.count ?? 0 }

    /// Is set up anew from what it had at some time: what came since is gone, and nothing tells of it but the cursors.
    func goBack(to place: Int) {
        epoch += 1
        for key in history.keys.sorted() {
            guard let row = history[key], !row.isGone else { continue }
            guard let then = row.history.last(where: { $0.sequence <= place }) else {
                remove(key)
                continue
            }
            guard then.sequence != row.current.sequence else { continue }
            lastSequence += 1
            history[key]?.removals.append(lastSequence - 1)
            history[key]?.history
                .append(
                    ServerVersion(
                        number: then.number,
                        content: then.content,
                        author: nil,
                        stamp: then.stamp,
                        sequence: lastSequence,
                        fraction: then.fraction
                    )
                )
        }
    }

    private func write(
        _ content: ServerContent,
        to id: String,
        in table: String,
        _ author: Int?,
        _ stamp: Int64
    ) -> Record {
        let key = settings.key(id, in: table)
        var row = history[key] ?? ServerRow(id: id, created: stamp, history: [])
        if let author { willWrite(key, row.isGone ? nil : row.history.last, content, author) }
        row.isGone = false
        lastSequence += 1
        let number = settings.countsVersionsPerRow ? row.history.count + 1 : lastSequence
        row.history.append(
            ServerVersion(
                number: "v\(number)",
                content: content,
                author: author,
                stamp: stamp,
                sequence: lastSequence,
                fraction: lastSequence
            )
        )
        history[key] = row
        return record(row)
    }

    /// The row as the server shows it.
    func record(_ row: ServerRow) -> Record {
        let current = row.current
        var record = Record(id: .string(row.id))
        for name in WorldSettings.columns {
            if let value = current.content.values[name] {
                record[name] = .string(value)
            } else if !settings.leavesOutNulls {
                record[name] = .null
            }
        }
        if let list = current.content.list {
            record["list"] = .string(list)
        } else if settings.hasReferences, !settings.leavesOutNulls {
            record["list"] = .null
        }
        if let extra = current.content.extra { record["extra"] = .string(extra) }
        if current.content.isUnfit {
            record["title"] = nil
            if current.content.deletion == nil { record[Record.unfitMark] = .bool(true) }
        }
        for name in settings.migrates ? ["spare", "grade"] : [] {
            let filled = name == "grade" && settings.fillsOnServer ? WorldSettings.grade : nil
            if let value = current.content.others[name] ?? filled {
                record[name] = .string(value)
            } else if !settings.leavesOutNulls {
                record[name] = .null
            }
        }
        record["createdAt"] = .date(Timestamp(milliseconds: row.created))
        record["updatedAt"] = .date(stamp(current.stamp, current.fraction))
        record["version"] = .string(current.number)
        record["deleted"] = .bool(current.content.deletion != nil)
        return record
    }

    private func stamp(_ milliseconds: Int64, _ fraction: Int) -> Timestamp {
        let whole = Timestamp(milliseconds: milliseconds)
        guard settings.stampsAreFiner else { return whole }
        return Timestamp("\(whole.text.dropLast())\(1_000 + fraction % 9_000)Z") ?? whole
    }
}

/// What a device asks of the server.
enum ServerRequest {
    case insert(Record)
    case update(Record, version: String?, restores: Bool)
    case undelete(String, version: String?)
    case delete(String, version: String?, deletion: String)
    /// Makes a row as a deleted one, or changes a tombstone, which stays one.
    case tombstone(Record, version: String?, deletion: String)
    case record(String)
    case confirm
    case page(PullPosition, pageSize: Int?)

    /// The deletion that it carries.
    var deletion: String? {
        switch self {
        case .delete(_, _, let deletion), .tombstone(_, _, let deletion): deletion
        default: nil
        }
    }

    /// The row that it carries.
    var row: Record? {
        switch self {
        case .insert(let row), .update(let row, _, _), .tombstone(let row, _, _): row
        case .undelete, .delete, .record, .confirm, .page: nil
        }
    }

    func changingRow(_ change: (Record) -> Record) -> ServerRequest {
        switch self {
        case .insert(let row): .insert(change(row))
        case .update(let row, let version, let restores): .update(change(row), version: version, restores: restores)
        case .tombstone(let row, let version, let deletion):
            .tombstone(change(row), version: version, deletion: deletion)
        case .undelete, .delete, .record, .confirm, .page: self
        }
    }

    /// The id of the row that it is about.
    var id: String? {
        switch self {
        case .insert(let record), .update(let record, _, _), .tombstone(let record, _, _): record.id.stringValue
        case .undelete(let id, _), .delete(let id, _, _), .record(let id): id
        case .confirm, .page: nil
        }
    }

    /// The version that it is based on; nil when it names none.
    var version: String? {
        switch self {
        case .update(_, let version, _), .undelete(_, let version), .delete(_, let version, _),
            .tombstone(_, let version, _):
            version
        case .insert, .record, .confirm, .page: nil
        }
    }

    /// Whether it makes a row.
    var makesRow: Bool {
        switch self {
        case .insert, .tombstone(_, version: nil, _): true
        case .update, .undelete, .delete, .tombstone, .record, .confirm, .page: false
        }
    }

    /// Whether it may change a row.
    var writes: Bool {
        switch self {
        case .insert, .update, .undelete, .delete, .tombstone: true
        case .record, .confirm, .page: false
        }
    }
}

/// What the server answers when it does not refuse.
enum ServerAnswer {
    case record(Record)
    case deletion(RemoteDeletion)
    case found(Record?)
    case confirmed
    case page(PullPage)

    func changingRows(_ change: (Record) -> Record) -> ServerAnswer {
        switch self {
        case .record(let row): return .record(change(row))
        case .found(let row): return .found(row.map(change))
        case .page(var page):
            page.records = page.records.map(change)
            return .page(page)
        case .deletion, .confirmed: return self
        }
    }
}
