internal import OfflineSync
internal import SeededNumbers
internal import SyncContract

/// What apps do with the server.
extension Step {
    static let syncs: [Step] = [
        Step("pushes", 20) { _, random in
            let losesWay = random.chance(1, of: 12)
            return { device in try await device.losingWay(losesWay) { try await device.push() } }
        },
        Step("pushes a table", 3) { device, random in
            let table = random.pick(device.world.settings.tables)
            return { device in try await device.push(table) }
        },
        Step("pulls", 12) { _, random in
            let losesWay = random.chance(1, of: 12)
            return { device in try await device.losingWay(losesWay) { try await device.pull() } }
        },
        Step("pulls tables", 8) { device, random in
            let tables = device.world.settings.tables.filter { _ in random.chance(3, of: 4) }
            let options = PullOptions(
                order: random.pick([nil, nil, .pullFirst, .pullFirst, .pullOnly]),
                reconciles: random.chance(1, of: 8),
                pageSize: random.pick([nil, nil, 1, 2]),
                maximumRows: random.pick([nil, nil, nil, 1, 2])
            )
            return { device in try await device.pull(tables, options) }
        },
        Step("syncs", 4) { _, _ in
            { device in
                let report = try await device.pulling { try await device.context.sync() }
                for error in report.push.conflicts { try await device.check(error) }
            }
        },
        Step("pulls everything", 3) { device, random in
            let table = random.pick(device.world.settings.tables)
            return { device in _ = try await device.context.pull(Query(table), options: .init(reconciles: true)) }
        },
    ]
}

extension Device {
    /// Pushes everything, or the changes of one table.
    func push(_ table: String? = nil) async throws {
        let report =
            if let table { try await context.push(Query(table)) } else { try await context.push() }
        for error in report.conflicts { try await check(error) }
    }

    /// Pulls table after table, each under a name.
    func pull() async throws {
        for table in world.settings.tables {
            try await check(
                try await pulling(named: true) { try await context.pull(Query(table), queryID: "all") }
            )
        }
    }

    /// Pulls several tables in one call.
    func pull(_ tables: [String], _ options: PullOptions) async throws {
        switch tables.count {
        case 0: break
        case 1:
            try await check(try await pulling(options) { try await context.pull(Query(tables[0]), options: options) })
        default:
            try await check(
                try await pulling(options) {
                    try await context.pull(Query(tables[0]), Query(tables[1]), options: options)
                }
            )
        }
    }

    private func check(_ report: PullReport) async throws {
        for error in report.push?.conflicts ?? [] { try await check(error) }
    }

    /// Does something while the address may lead to another place.
    func losingWay(_ losesWay: Bool, _ body: () async throws -> Void) async throws {
        let life = life
        guard losesWay, running.count == 1 else { return try await body() }
        life.isLostOnTheWay = true
        defer { life.isLostOnTheWay = false }
        try await body()
    }

    /// Looks at a conflict: it must not be one with this device's own writes.
    func check(_ error: TableOperationError<Record>) async throws {
        let key = world.key(RowKey(table: error.table, id: error.itemID))
        try await checkRemoved(error, key)
        try await checkKept(error, key)
        // After a row was removed without a trace, a late request may make it anew.
        guard let row = world.server.row(key), row.removals.isEmpty, let shown = row.version(error.serverItem?.version),
            !forgotten.contains(key), !isKeptDeleted(key), !isHalfRestored(shown),
            let operation = try await operation(error), operation.state == .conflicted
        else { return }
        let base = operation.baseVersion == nil ? 0 : row.version(operation.baseVersion)?.sequence
        guard let base else { return }
        let since = row.history.filter { $0.sequence > base && $0.sequence <= shown.sequence }
        guard !since.isEmpty, since.allSatisfy({ $0.author == number }) else { return }
        world.fail(
            "\(name) has a conflict with itself: its \(error.kind) of \(key) @\(operation.baseVersion ?? "-") meets"
                + " \(shown.number), which it wrote itself"
        )
    }

    /// Looks at a conflict with a row that the server has not: it must not be this device that has deleted it.
    private func checkRemoved(_ error: TableOperationError<Record>, _ key: RowKey) async throws {
        guard error.isMissingOnServer, let row = world.server.history[key], row.isGone, row.remover == number,
            !forgotten.contains(key), !isKeptDeleted(key), let operation = try await operation(error),
            operation.state == .conflicted, let base = row.version(operation.baseVersion)?.sequence,
            row.history.allSatisfy({ $0.sequence <= base || $0.author == number })
        else { return }
        world.fail("\(name) has a conflict with itself: its \(error.kind) of \(key) meets its own deletion")
    }

    /// Looks at a conflict with a row that the server has not: what was kept over nothing is not told of again.
    private func checkKept(_ error: TableOperationError<Record>, _ key: RowKey) async throws {
        guard error.isMissingOnServer, let count = keptOverNothing[key], count == world.server.writeCount(of: key),
            !forgotten.contains(key), try await operation(error)?.state == .conflicted
        else { return }
        world.fail("\(name) has kept \(key) over nothing, and is told again that the server has nothing")
    }

    /// Whether the row was left deleted here, whatever the server has: one that is made anew meets it.
    private func isKeptDeleted(_ key: RowKey) -> Bool { keptLocal[key].map { $0 == nil } ?? false }

    /// Whether a restore of this device has ended between its two requests. What it leaves looks as if somebody had
    /// deleted the row again after it.
    private func isHalfRestored(_ version: ServerVersion) -> Bool {
        world.settings.restoresInTwoSteps && version.content.deletion != nil && version.author == number
            && version.content.values.values.contains { world.ledger.edits[$0]?.place.device == number }
    }

    /// The operation of an error, by a look past the scheduler.
    private func operation(_ error: TableOperationError<Record>) async throws -> TableOperation? {
        let context = SyncContext(store: store, remote: NoRemote())
        return try await world.executor.waitingElsewhere { try await context.operations() }
            .first { $0.id == error.operationID }
    }
}
