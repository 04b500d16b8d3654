internal import OfflineSync
internal import SeededNumbers
internal import SyncContract

/// A server that has lost its history, and apps that bring everything anew.
extension Step {
    static let resets: [Step] = [
        Step("loses its history", 2) { world, random in
            let place = max(0, world.server.writeCount - random.below(12))
            world.server.goBack(to: place)
            world.note("The server is set up anew, as it was at \(place).")
        },
        Step("brings everything anew", 8) { device, random in
            let isAsked = random.chance(1, of: 6)
            let discards = random.chance(1, of: 3)
            let tables = device.world.settings.tables.filter { _ in random.chance(5, of: 6) }
            return { try await $0.bringEverythingAnew(tables, isAsked: isAsked, discards: discards) }
        },
    ]
    .map { $0.played(where: \.losesHistory) }
}

extension Device {
    /// Brings everything anew when the server has said that it lost its history, when the app asks for it, or when it has
    /// begun before.
    func bringEverythingAnew(_ tables: [String], isAsked: Bool, discards: Bool) async throws {
        var stage = try await context.resetStage()
        if stage == .none || stage == .wanted, isAsked || hasHeardOfReset {
            try await context.requestReset()
            stage = .wanted
        }
        guard stage != .none else { return }
        keptOverNothing = [:]
        purgedRows = [:]
        if case .done = stage {
        } else {
            hasHeardOfReset = false
            let changed = SwitchedOver()
            let witness = ChangeWitness { [self] before, after in
                guard before.resetStage == "begun", after.resetStage?.hasPrefix("{") ?? false else { return }
                changed.before = before
                changed.after = after
                // Versions from before say nothing any more: what it saves would be a conflict.
                editor = nil
                if discards { giveUpEverything(before) }
            }
            let report = try await witness.seeing {
                try await context.reset(
                    onto: tables.map { FreshPull(Query($0), queryID: "all") },
                    discardsChanges: discards
                )
            }
            world.note("    \(name) has everything anew: \(report), and has \(changed.after?.story ?? [])")
            check(report, changed, discards: discards)
        }
        try await context.endReset()
    }

    private func giveUpEverything(_ before: StoreSnapshot) {
        for (key, operation) in before.operations.sorted(by: { $0.key < $1.key }) {
            world.ledger.giveUp(key, operation, before.rows[key], by: number)
        }
    }

    /// Every change that waited counts once, and what counts as waiting does.
    private func check(_ report: ResetReport, _ changed: SwitchedOver, discards: Bool) {
        guard let before = changed.before, let after = changed.after else {
            return world.fail("\(name) has everything anew, and was never told")
        }
        let waited = before.operations.values.filter { !$0.isTakingBack }.count
        let waits = after.operations.values.filter { !$0.isTakingBack }.count
        let sum = report.recovered + report.settled + report.conflicts + report.discarded
        let isTrue =
            report.waiting == waited && sum == waited && report.recovered + report.conflicts == waits
            && (discards ? report.discarded == waited : report.discarded == 0)
        if !isTrue { world.fail("\(name) had \(waited) changes waiting and has \(waits), and is told of \(report)") }
    }
}

/// The state before and after fresh rows have taken the place of the others. Used on the thread of its simulation only.
private final class SwitchedOver: @unchecked Sendable {
    var before: StoreSnapshot?
    var after: StoreSnapshot?
}

extension Record {
    /// Whether it is an operation that takes back what was given up.
    var isTakingBack: Bool {
        self["properties"]?.bytesValue.map { String(decoding: $0, as: UTF8.self) }?.contains("\"undo\":true") ?? false
    }

    /// Whether it takes one back by deleting what that may have made.
    var isTakingBackByDeletion: Bool {
        let properties = self["properties"]?.bytesValue.map { String(decoding: $0, as: UTF8.self) }
        return isTakingBack && (properties?.hasPrefix("{\"type\":2") ?? false)
    }
}
