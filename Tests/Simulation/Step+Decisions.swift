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
            let id = device.anyID(&random)
            return { device in
                try await device.givingUp(device.world.settings.key(id)) { try await device.table().revert(id) }
            }
        },
        Step("takes a deletion back", 4) { device, random in
            let id = device.anyID(&random)
            return { device in
                let key = device.world.settings.key(id)
                let witness = ChangeWitness { _, _ in
                    device.world.note("    \(device.name) takes back the deletion of \(key).")
                    device.world.ledger.takeBackDeletion(of: key, by: device.number)
                }
                try await witness.seeing { try await device.table().undoDelete(id) }
            }
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
}

extension Device {
    func settle(_ error: TableOperationError<Record>, _ choice: Choice) async throws {
        if error.isConflict { try await check(error) }
        let resolution: ConflictResolution<Record> =
            switch choice {
            case .mine: .keepMine
            case .merged: .keepMerged(Record(id: .string(error.itemID), ["title": .string(newToken())]))
            case .server: .takeServer
            case .discard: .discard
            case .delete: .deleteInstead
            }
        let key = world.settings.key(error.itemID)
        let witness = ChangeWitness { [self] before, after in
            world.note(
                "    \(name) decides \(choice) about \(error.kind) of \(key), and has \(after.rows.map(\.story))."
            )
            guard let operation = before.operation(key) else {
                return world.fail("\(name) settles an error of \(key), for which nothing waits")
            }
            switch choice {
            case .mine, .merged, .delete:
                world.ledger.change(by: number, from: before, to: after)
                guard error.isConflict, !error.isMissingOnServer else { return }
                world.ledger.keep(after.row(key, world.settings), over: error.serverItem, in: key, by: number)
            case .server, .discard: world.ledger.giveUp(key, operation, by: number)
            }
        }
        try await witness.seeing { try await context.resolve(error, with: resolution) }
    }

    func discard(_ operation: TableOperation) async throws {
        try await givingUp(world.settings.key(operation.itemID)) { try await context.discard(operation) }
    }

    /// Makes a call that gives up what waits for a row.
    fileprivate func givingUp(_ key: String, _ body: () async throws -> Void) async throws {
        let witness = ChangeWitness { [self] before, after in
            guard let stored = before.operation(key) else { return }
            world.note("    \(name) gives up what waits for \(key), and has \(after.rows.map(\.story)).")
            world.ledger.giveUp(key, stored, by: number)
        }
        try await witness.seeing(body)
    }
}
