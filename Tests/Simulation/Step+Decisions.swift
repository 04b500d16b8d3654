internal import OfflineSync
internal import SeededNumbers
internal import SyncContract

/// What users decide.
extension Step {
    static let decisions: [Step] = [
        Step("settles an error", 12) { _, random in
            let choice = Choice.allCases[random.below(Choice.allCases.count)]
            let number = random.below(8)
            return { device in
                let errors = try await device.context.operationErrors()
                guard !errors.isEmpty else { return }
                try await device.settle(errors[number % errors.count], choice)
            }
        },
        Step("discards a change", 3) { _, random in
            let number = random.below(8)
            return { device in
                let operations = try await device.context.operations()
                guard !operations.isEmpty else { return }
                try await device.discard(operations[number % operations.count])
            }
        },
        Step("reverts a row", 2) { device, random in
            let row = device.anyRow(&random)
            return { device in
                try await device.givingUp(device.world.key(row)) { try await device.table(row.table).revert(row.id) }
            }
        },
        Step("takes a deletion back", 4) { device, random in
            let row = device.anyRow(&random)
            return { device in
                let key = device.world.key(row)
                let witness = ChangeWitness { _, after in
                    device.world.note("    \(device.name) takes back the deletion of \(key), and has \(after.story).")
                    device.world.ledger.takeBackDeletion(of: key, by: device.number, after.rows[key])
                    device.world.ledger.noteCircles(of: device.number, after)
                }
                try await witness.seeing { try await device.table(row.table).undoDelete(row.id) }
            }
        },
        Step("tries again what was refused", 2) { _, _ in
            { device in try await ChangeWitness { _, _ in }.seeing { _ = try await device.context.retryRefused() } }
        },
    ]
}

/// How a user settles an error.
enum Choice: CaseIterable {
    case mine
    case merged
    case server
    case discard
    case delete
    case local
}

extension Device {
    func settle(_ error: TableOperationError<Record>, _ choice: Choice) async throws {
        if error.isConflict { try await check(error) }
        let resolution = resolution(of: error, choice)
        let witness = ChangeWitness { [self] before, after in
            decided(Decision(error: error, choice: choice), from: before, to: after)
        }
        try await witness.seeing { try await context.resolve(error, with: resolution) }
    }

    func resolution(of error: TableOperationError<Record>, _ choice: Choice) -> ConflictResolution<Record> {
        let item = error.item.map(life.names.fromDevice)
        switch choice {
        case .mine: return .keepMine
        case .merged:
            var merged = Record(id: .string(error.itemID), ["title": .string(newToken())])
            // There may be no row that it is merged over.
            if item?["note"]?.stringValue == nil { merged["note"] = .string(newToken()) }
            return .keepMerged(life.names.onDevice(merged))
        case .server: return .takeServer
        case .discard: return .discard
        case .delete: return .deleteInstead
        case .local:
            guard world.settings.keepsOtherValues else { return .keepLocal(nil) }
            var other = Record(id: .string(error.itemID), ["title": .string(newToken())])
            // There may be no row that it is written into.
            if item?["note"]?.stringValue == nil { other["note"] = .string(newToken()) }
            return .keepLocal(life.names.onDevice(other))
        }
    }

    /// Takes note of a decision at the instant from which on it is in force.
    func decided(_ decision: Decision, from before: StoreSnapshot, to after: StoreSnapshot) {
        let (error, choice) = (decision.error, decision.choice)
        let serverItem = error.serverItem.map(life.names.fromDevice)
        if decision.isAutomatic != (before.newestDecision != after.newestDecision) {
            world.fail("\(name) settles an error of \(error.itemID), and the journal is not what it should be")
        }
        let key = world.key(RowKey(table: error.table, id: error.itemID))
        world.note("    \(name) decides \(choice) about \(error.kind) of \(key), and has \(after.story).")
        guard let operation = before.operations[key] else {
            return world.fail("\(name) settles an error of \(key), for which nothing waits")
        }
        if operation.isTakingBackByDeletion, after.operations[key] == nil { world.ledger.leaveUndone(key, by: number) }
        switch choice {
        case .mine, .merged, .delete:
            world.ledger.change(by: number, from: before, to: after)
            // A deletion that has content again may refer to rows that wait.
            world.ledger.noteCircles(of: number, after)
            let waits = after.operations[key].map { !$0.isTakingBack } ?? false
            if operation.isTakingBack, waits, after.rows[key] == nil { world.ledger.wantDeletion(of: key, by: number) }
            guard error.isConflict, !error.isMissingOnServer else { return }
            let isMerged = choice == .merged
            world.ledger.keep(after.rows[key], over: serverItem, in: key, by: number, isMerged: isMerged)
        case .local:
            if after.operations[key] != nil { world.fail("\(name) drops a change of \(key), and it waits") }
            let rows = [before.rows[key], after.rows[key]].map { $0.map(Self.values) }
            if world.settings.keepsOtherValues {
                world.ledger.change(by: number, from: before, to: after)
            } else if rows[0] != rows[1] {
                world.fail("\(name) keeps \(key) as it is, and it changes")
            }
            keptLocal[key] = .some(rows[1])
            keptOverNothing[key] = error.isMissingOnServer ? world.server.writeCount(of: key) : nil
            world.ledger.drop(key, by: number)
            // What was not shown is gone over by nothing that comes later.
            if let serverItem { world.ledger.keep(after.rows[key], over: serverItem, in: key, by: number) }
        case .server, .discard: world.ledger.giveUp(key, operation, before.rows[key], by: number)
        }
    }

    /// Takes note of what is here no longer: nothing is kept of it.
    func noteRemoved(_ after: StoreSnapshot) {
        for key in keptOverNothing.keys where after.rows[key] == nil { keptOverNothing[key] = nil }
    }

    func discard(_ operation: TableOperation) async throws {
        let key = world.key(RowKey(table: operation.table, id: operation.itemID))
        try await givingUp(key) { try await context.discard(operation) }
    }

    /// Makes a call that gives up what waits for a row.
    fileprivate func givingUp(_ key: RowKey, _ body: () async throws -> Void) async throws {
        let witness = ChangeWitness { [self] before, after in
            guard let stored = before.operations[key] else { return }
            world.note("    \(name) gives up what waits for \(key), and has \(after.story).")
            if stored.isTakingBackByDeletion, after.operations[key] == nil {
                world.ledger.leaveUndone(key, by: number)
            }
            world.ledger.giveUp(key, stored, before.rows[key], by: number)
        }
        try await witness.seeing(body)
    }
}
