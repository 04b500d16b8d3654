internal import OfflineSync
internal import SeededNumbers
internal import SyncContract

/// What users decide about what the server did not take.
extension ChosenDevice {
    func settleAny() async throws {
        let errors = try await context.operationErrors()
        guard !errors.isEmpty else { return }
        try await settle(world.random.pick(errors), world.random.pick(Choice.allCases))
    }

    /// Settles everything, in some way or in this one. Returns whether there was something.
    func settleAll(_ choice: Choice?) async throws -> Bool {
        let errors = try await context.operationErrors()
        for error in errors {
            // The deletion of a list changes the items that refer to it, and what is told of them is out of date.
            guard try await context.operationErrors().contains(where: { $0.id == error.id }) else { continue }
            try await settle(error, choice ?? world.random.pick(Choice.allCases))
        }
        return !errors.isEmpty
    }

    private func settle(_ error: TableOperationError<Record>, _ choice: Choice) async throws {
        guard let decision = try await decision(about: error, choice) else { return }
        do {
            try await context.resolve(error, with: decision)
        } catch let stale as SyncError where stale.code == .operationChanged {
            // Another decision has led to the deletion of its row.
        }
    }

    /// Chooses how an error is settled, and takes note of it when that is in force.
    func decision(
        about error: TableOperationError<Record>,
        _ wanted: Choice
    ) async throws -> ConflictResolution<Record>? {
        var choice = wanted
        if choice == .delete, try await !world.mayDelete(error.itemID, of: error.table, self) { choice = .mine }
        let key = RowKey(table: error.table, id: error.itemID)
        guard let origin = origins[key] else {
            world.fail("\(name) knows nothing of \(key)")
            return nil
        }
        let place = place(origin)
        if error.isMissingOnServer, world.settings.deletesForGood, world.ledger.maker(of: origin) != number,
            ![.delete, .discard].contains(choice)
        {
            choice = .server
        }
        let row = try await rows(error.table).first { $0.id == .string(error.itemID) }
        let text = row?["text"]?.stringValue
        let mine = error.kind == .delete ? world.ledger.deletion(at: place) : text
        let merged = world.newText()
        world.note("\(name) decides \(choice) about \(error.kind) of \(origin): \(error.message)")
        life.decided(error.id) { [self, choice] before, after in
            world.note("    That is in force.")
            let ledger = world.ledger
            func goOver(_ token: String?) {
                guard let token else { return }
                if let theirs = error.serverItem { return ledger.decide(token, over: theirs, by: number) }
                guard error.isMissingOnServer, world.settings.deletesForGood else { return }
                ledger.decide(token, overNothingOf: origin, by: number)
            }
            switch choice {
            case .mine: goOver(mine)
            case .merged:
                if error.kind == .delete { ledger.giveUpDeletion(at: place) }
                ledger.edit(merged, at: place, over: mine)
                goOver(merged)
            case .server, .discard: ledger.giveUp(at: place)
            case .local:
                goOver(text ?? mine)
                ledger.keep(text, at: place)
            case .delete:
                noteWhatFollowed(on: error.itemID, from: before, to: after)
                goOver(ledger.delete(at: place, over: mine))
            }
        }
        switch choice {
        case .mine: return .keepMine
        case .merged:
            var item = Record(id: .string(error.itemID), ["text": .string(merged)])
            // There may be no row that it is merged over.
            if error.item?["origin"]?.stringValue == nil { item["origin"] = .string(origin) }
            return .keepMerged(item)
        case .server: return .takeServer
        case .discard: return .discard
        case .local: return .keepLocal(nil)
        case .delete: return .deleteInstead
        }
    }
}

extension ChosenDevice {
    /// Takes note of what became of the items that referred to a list when it was decided to delete that.
    private func noteWhatFollowed(on list: String, from before: [Record], to after: [Record]) {
        for item in before where item["list"]?.stringValue == list {
            guard let origin = item["origin"]?.stringValue else { continue }
            if after.contains(where: { $0.id == item.id }) {
                world.ledger.clear(at: place(origin))
            } else {
                world.ledger.delete(at: place(origin), over: item["text"]?.stringValue)
            }
        }
    }
}

/// Has a say in the pushes of a device.
final class ChosenDelegate: SyncContextDelegate, @unchecked Sendable {
    private unowned let device: ChosenDevice

    init(_ device: ChosenDevice) { self.device = device }

    private var world: ChosenIDs { device.world }

    func syncContext(
        _ context: SyncContext,
        resolve error: TableOperationError<Record>
    ) async throws -> ConflictResolution<Record>? {
        try await device.look()
        if world.settings.hasDelegates, world.random.chance(1, of: 2) {
            return try await device.decision(about: error, world.random.pick(Choice.allCases))
        }
        guard error.isConflict else { return nil }
        switch policyKind {
        case .clientWins: _ = try await device.decision(about: error, .mine)
        case .serverWins: _ = try await device.decision(about: error, .server)
        case .store, .merge: break
        }
        return nil
    }

    private var policyKind: WorldSettings.Policy {
        let policies = world.settings.policies
        return policies[device.number % policies.count]
    }

    var policy: ConflictPolicy<Record> {
        switch policyKind {
        case .store: .store
        case .clientWins: .clientWins
        case .serverWins: .serverWins
        case .merge:
            .merge { [unowned self] error in
                guard world.random.chance(4, of: 5) else { return nil }
                return try await device.decision(about: error, world.random.pick(Choice.allCases))
            }
        }
    }
}
