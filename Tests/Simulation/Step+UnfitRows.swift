internal import OfflineSync
internal import RemoteContract
internal import SeededNumbers
internal import SyncContract

/// Rows of the server that have a value in some column which the tables here cannot have there.
extension Step {
    static let unfitRows: [Step] = [
        Step("spoils a row", 8) { world, random in world.spoil(&random) },
        Step("asks again for what was set aside", 3) { _, _ in
            { device in _ = try await device.context.retrySetAsideRows() }
        },
    ]
    .map { $0.played(where: \.hasUnfitRows) }
}

extension World {
    /// Somebody at the server writes what does not fit, or what fits again.
    fileprivate func spoil(_ random: inout SeededGenerator) {
        let rows = settings.rows.filter { server.row($0)?.current.content.deletion == nil && server.row($0) != nil }
        guard !rows.isEmpty else { return }
        let key = random.pick(rows)
        guard let row = server.row(key) else { return }
        let token = "Server\(moveCount)"
        var content = row.current.content
        content.isUnfit = !content.isUnfit || random.chance(1, of: 3)
        content.values["title"] = token
        ledger.writeAtServer([token], in: key, over: row.current.content)
        server.write(content, to: row.id, in: key.table)
        note("Somebody writes \(token), which \(content.isUnfit ? "does not fit" : "fits"), at the server into \(key).")
    }
}

extension SimulatedServer {
    /// Whether a row is there that no device can have.
    func isUnfit(_ key: RowKey) -> Bool {
        guard let content = row(key)?.current.content else { return false }
        return content.isUnfit && content.deletion == nil
    }
}

extension Record {
    /// What the server says beside a row whose title does not fit. The way to the device ends there.
    static let unfitMark = "doesNotFit"

    var isUnfit: Bool { self[Self.unfitMark] != nil }
}

extension SimulatedRemote {
    /// An answer without what does not fit.
    func fitting(_ answer: ServerAnswer) throws -> ServerAnswer {
        switch answer {
        case .record(let row) where row.isUnfit: throw unfit(row, isNamed: world.settings.namesNewVersions)
        case .found(let row?) where row.isUnfit: throw unfit(row, isNamed: true)
        case .page(var page):
            page.setAside = page.records.filter(\.isUnfit)
                .map { SetAsideRow(id: $0.id.stringValue ?? "", reason: "its title is a number") }
            page.records.removeAll(where: \.isUnfit)
            return .page(page)
        case .record, .deletion, .found, .confirmed: return answer
        }
    }

    func unfit(_ row: Record, isNamed: Bool) -> RemoteError {
        var shown = Record(id: row.id)
        if isNamed { shown["version"] = row["version"] }
        return RemoteError(.unfitRow, "its title is a number", status: 200, serverRecord: shown)
    }
}

/// What is promised about such rows: they are named, everything else comes, and what is here stays as it is.
extension Device {
    /// Rows leave the device because the server has deleted them, not because they cannot be had.
    func checkNothingVanishes(_ before: StoreSnapshot, _ after: StoreSnapshot) {
        guard world.settings.hasUnfitRows else { return }
        for (key, row) in before.rows where after.rows[key] == nil && before.operations[key] == nil {
            guard let there = world.server.row(key), there.removals.isEmpty, let known = there.version(row.version),
                !there.history.contains(where: { $0.sequence > known.sequence && $0.content.deletion != nil })
            else { continue }
            world.fail("\(name) had \(row.story) and has it no more, and nobody has deleted it")
        }
    }

    /// A pull of everything names each row that cannot be had.
    func checkSetAside(_ report: PullReport, of table: String) {
        let named = Set(report.setAside.map { world.settings.key($0.id, in: $0.table) })
        for key in world.settings.rows where key.table == table && world.server.isUnfit(key) && !named.contains(key) {
            world.fail("\(name) pulls everything, and is not told that \(key) does not fit")
        }
    }

    /// Compares what a device at rest has set aside with what does not fit, also after it has asked again.
    func checkSetAside() async throws {
        guard world.settings.hasUnfitRows else { return }
        for _ in 0..<2 {
            let rows = try await context.setAsideRows()
            let named = Set(rows.map { world.settings.key($0.id, in: $0.table) })
            let unfit = Set(world.settings.rows.filter(world.server.isUnfit))
            if named.count != rows.count { world.fail("\(name) has set a row aside twice") }
            if named != unfit {
                world.fail("\(name) has set \(named.sorted()) aside, and \(unfit.sorted()) do not fit")
            }
            _ = try await context.retrySetAsideRows()
        }
    }

    /// What a device has of a row that it cannot be shown is what was there before, or what it has written itself.
    func checkOlder(_ local: Record?, _ key: RowKey) {
        guard let local else { return }
        let written = world.server.history[key]?.history.flatMap { $0.content.tokens } ?? []
        for token in Self.values(local).compactMap(\.self) {
            if written.contains(token) || token.hasPrefix(name) { continue }
            world.fail("\(name) has \(token) in \(key), which nobody has written there")
        }
    }
}
