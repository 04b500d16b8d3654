internal import OfflineSync
internal import SeededNumbers
internal import SyncContract

/// What apps remove from the device without a word to the server.
extension Step {
    static let purges: [Step] = [
        Step("purges", 2) { device, random in
            let resets = random.chance(1, of: 2)
            let table = random.pick(device.world.settings.tables)
            return { device in
                try await device.purging { _, _ in
                    device.forget(table)
                    if resets { device.expectEverything(of: table) } else { device.hasPurged = true }
                } body: {
                    try await device.context.purge(Query(table), resettingDeltaTokens: resets)
                }
            }
        },
        Step("purges by force", 1) { device, random in
            let table = random.pick(device.world.settings.tables)
            return { device in
                try await device.purging { _, _ in
                    device.forget(table)
                    device.expectEverything(of: table)
                    device.world.ledger.giveUpEverything(of: device.rows(of: table), on: device.number)
                } body: {
                    _ = try await device.context.forcePurge(table)
                }
            }
        },
        Step("purges some rows", 6) { device, random in
            let condition = PurgeCondition(device, &random)
            return { try await $0.purge(condition) }
        }
        .played(where: \.purgesSome),
    ]
}

/// Which rows are purged, and how.
struct PurgeCondition {
    let table: String
    /// Titles begin with a device's name, in the order of the alphabet.
    private let bound: String
    private let takesFirst: Bool
    let isForced: Bool
    let resets: Bool

    init(_ device: Device, _ random: inout SeededGenerator) {
        table = random.pick(device.world.settings.tables)
        bound = random.pick(["B", "C", "D", "T"])
        takesFirst = random.chance(2, of: 3)
        isForced = random.chance(1, of: 3)
        resets = random.chance(1, of: 6)
    }

    func query(_ names: ColumnNames) -> Query {
        let title = Column(names.local["title"] ?? "title")
        let bound = FieldValue.string(bound)
        return Query(table).filtered(by: takesFirst ? title < bound : title >= bound)
    }

    func contains(_ key: RowKey, _ row: Record) -> Bool {
        guard key.table == table, let title = row["title"]?.stringValue else { return false }
        return takesFirst == (title < bound)
    }
}

/// A row that was purged, while the progress of pulls was kept.
struct PurgedRow {
    let version: String
    let updatedAt: Timestamp?
    /// The pulls that had brought what there was.
    let pulled: Set<PulledTable>
}

extension Device {
    /// How rows are pulled that are not asked for again: under a name, or without one; nil while everything is.
    @TaskLocal static var pullsNamed: Bool?

    /// Makes a pull that brings only what has changed, unless the options say otherwise.
    func pulling<Value>(
        named isNamed: Bool = false,
        _ options: PullOptions = PullOptions(),
        _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await Self.$pullsNamed.withValue(options.reconciles ? nil : isNamed, operation: body)
    }

    func purging(
        _ see: @escaping @Sendable (StoreSnapshot, StoreSnapshot) -> Void,
        body: () async throws -> Void
    ) async throws {
        try await ChangeWitness(see).seeing(body)
    }

    func rows(of table: String) -> Set<RowKey> { Set(world.settings.rows.filter { $0.table == table }) }

    /// Rows that leave the device without a word to the server: their ids may be chosen again.
    func forget(_ table: String) { forgotten.formUnion(rows(of: table)) }

    /// Whatever was purged of a table comes again.
    func expectEverything(of table: String) { for key in rows(of: table) { purgedRows[key] = nil } }

    /// Purges the rows of a condition, with their changes when it is forced.
    fileprivate func purge(_ condition: PurgeCondition) async throws {
        try await purging { [self] before, after in
            let purged = before.rows.filter { condition.contains($0.key, $0.value) }
            world.note("    \(name) purges \(purged.keys.sorted()), and has \(after.story).")
            if after.rows != before.rows.filter({ purged[$0.key] == nil }) {
                world.fail("\(name) purges some rows, and has others than those that are left")
            }
            for key in world.settings.rows {
                let isGivenUp = purged[key] != nil && before.operations[key] != nil
                if isGivenUp, !condition.isForced { world.fail("\(name) purges \(key), for which a change waits") }
                if Self.withoutMark(after.operations[key])
                    != (isGivenUp ? nil : Self.withoutMark(before.operations[key]))
                {
                    world.fail("\(name) purges some rows, and what waits for \(key) is not what it should be")
                }
            }
            world.ledger.giveUpEverything(of: Set(purged.keys), on: number)
            forgotten.formUnion(purged.keys)
            hasPurged = true
            if condition.resets { return expectEverything(of: condition.table) }
            for (key, row) in purged {
                guard let version = row.version else { continue }
                purgedRows[key] = PurgedRow(version: version, updatedAt: row.updatedAt, pulled: before.pulled)
            }
        } body: {
            let resets: Bool? = condition.resets ? true : nil
            if condition.isForced {
                _ = try await context.forcePurge(condition.query(life.names), resettingDeltaTokens: resets)
            } else {
                try await context.purge(condition.query(life.names), resettingDeltaTokens: resets)
            }
        }
    }

    /// An operation without the mark of the highest number, which moves when the last one goes.
    private static func withoutMark(_ operation: Record?) -> Record? {
        var operation = operation
        operation?["highest"] = nil
        return operation
    }

    /// Whether rows were purged that no pull may bring as they were.
    var watchesPurged: Bool { !purgedRows.isEmpty }

    /// What was purged stays away from pulls that had brought it, until it changes.
    func checkPurged(_ before: StoreSnapshot, _ after: StoreSnapshot) {
        for (key, purged) in purgedRows {
            guard before.operations[key] == nil, after.operations[key] == nil else {
                purgedRows[key] = nil
                continue
            }
            guard let row = after.rows[key] else { continue }
            purgedRows[key] = nil
            guard let isNamed = Self.pullsNamed, row.version == purged.version, row.updatedAt == purged.updatedAt,
                purged.pulled.contains(PulledTable(table: key.table, isNamed: isNamed))
            else { continue }
            world.fail("\(name) has purged \(key), and a pull brings it as it was")
        }
    }
}
