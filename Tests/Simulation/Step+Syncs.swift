internal import OfflineSync
internal import SeededNumbers
internal import SyncContract

/// What apps do with the server.
extension Step {
    static let syncs: [Step] = [
        Step("pushes", 22) { _, random in
            let losesWay = random.chance(1, of: 12)
            return { device in try await device.losingWay(losesWay) { _ = try await device.push() } }
        },
        Step("pulls", 18) { _, random in
            let losesWay = random.chance(1, of: 12)
            return { device in try await device.losingWay(losesWay) { try await device.pull() } }
        },
        Step("pulls everything", 3) { _, _ in
            { device in _ = try await device.context.pull(Query(WorldSettings.table), options: .init(reconciles: true)) }
        },
        Step("purges", 2) { _, random in
            let resets = random.chance(1, of: 2)
            return { device in
                try await device.purging { before, _ in
                    device.forget(before)
                    if !resets { device.hasPurged = true }
                } body: {
                    try await device.context.purge(Query(WorldSettings.table), resettingDeltaTokens: resets)
                }
            }
        },
        Step("purges by force", 1) { _, _ in
            { device in
                try await device.purging { before, _ in
                    device.forget(before)
                    device.world.ledger.giveUpEverything(on: device.number)
                } body: {
                    _ = try await device.context.forcePurge(WorldSettings.table)
                }
            }
        },
    ]
}

extension Device {
    func push() async throws {
        let report = try await context.push()
        for error in report.conflicts { try await check(error) }
    }

    func pull() async throws {
        let report = try await context.pull(Query(WorldSettings.table), queryID: "all")
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

    func purging(
        _ see: @escaping @Sendable (StoreSnapshot, StoreSnapshot) -> Void,
        body: () async throws -> Void
    ) async throws {
        try await ChangeWitness(see).seeing(body)
    }

    /// Rows that leave the device without a word to the server: their ids may be chosen again.
    func forget(_ snapshot: StoreSnapshot) {
        forgotten.formUnion(world.settings.ids.map(world.settings.key))
    }

    /// Looks at a conflict: it must not be one with this device's own writes.
    func check(_ error: TableOperationError<Record>) async throws {
        let key = world.settings.key(error.itemID)
        guard let row = world.server.row(key), let shown = row.version(error.serverItem?.version),
            !forgotten.contains(key), !isHalfRestored(shown),
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
