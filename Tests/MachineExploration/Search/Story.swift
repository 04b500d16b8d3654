import SyncMachines

// A path in words.
extension Explorer {
    /// Tells what happened, one step a line.
    mutating func story(_ path: [World], _ last: Step?) -> [String] {
        var lines: [String] = []
        for (before, after) in zip(path, path.dropFirst()) {
            lines.append(step(from: before, to: after).map { describe($0, in: before) } ?? "(no step leads here)")
        }
        if let last, let world = path.last { lines.append(describe(last, in: world)) }
        return lines
    }

    private mutating func step(from before: World, to after: World) -> Step? {
        var steps: [Step] = []
        forEachStep(in: before) { steps.append($0) }
        if let quiet = quietStep(in: before) { steps.append(quiet) }
        for step in steps where take(step, in: before)?.0 == after { return step }
        return nil
    }

    private mutating func describe(_ step: Step, in world: World) -> String {
        let after = take(step, in: world)?.0 ?? world
        switch step {
        case .local(let side, let event):
            return "\(side.name) \(describe(event, side, world, after))"
        case .arrives(let side):
            let message = devices.facts[Int(world[side])].message
            return "\(side.name)'s \(describe(message)) arrives: \(describe(change: world, after))"
        case .fault(let side, let fault):
            let message = devices.facts[Int(world[side])].message
            return "\(side.name)'s \(describe(message)) \(describe(fault)): \(describe(change: world, after))"
        case .lateArrives(let index):
            let message = Message(bits: index == 0 ? world.late.0 : world.late.1)
            return "late, \(message.device.name)'s \(describe(message)) arrives: \(describe(change: world, after))"
        case .removed:
            return "a third party deletes the row: \(describe(change: world, after))"
        case .touched:
            return "a third party changes a column that the app does not declare: \(describe(change: world, after))"
        }
    }

    private func describe(_ event: DeviceEvent, _ side: Side, _ before: World, _ after: World) -> String {
        let content = Self.name(event.content)
        switch event.kind {
        case .update: return "changes the row to \(content)"
        case .delete: return "deletes the row"
        case .insert: return "inserts the row with \(content)"
        case .discard: return "discards its change"
        case .keepMine: return "keeps its own"
        case .keepMerged: return "decides for \(content)"
        case .deleteInstead: return "decides to delete the row instead"
        case .takeServer: return "takes the server's"
        case .undoDelete: return "takes the deletion back"
        case .retry: return "wants the refused change sent again"
        case .openEditor: return "opens the row in an editor"
        case .saveEditor: return "saves \(content) from the editor"
        case .prepare:
            let message = devices.facts[Int(after[side])].message
            return "stores and sends \(describe(message))"
        case .sendAgain, .answered, .noAnswer, .notDone, .failed, .refused, .refusedByGateway, .wouldShow, .die: break
        case .record:
            guard case .answered(_, let message, let answer) = devices.devices[Int(before[side])].slot else { break }
            return "records the answer to \(describe(message)), \(describe(answer)): \(describe(device: side, after))"
        case .requestPage: return "reads a page of a pull: \(Self.name(event.row))"
        case .lookUpRow: return "reads the row by its id: \(Self.name(event.row))"
        case .applyPage: return "applies what it has read: \(describe(device: side, after))"
        }
        return "goes on"
    }

    private func describe(_ message: Message) -> String {
        let match = message.version.map { " if v\($0)" } ?? ""
        return switch message.kind {
        case .insert: "POST \(Self.name(message.content))"
        case .update: "PUT \(Self.name(message.content))\(match)"
        case .restore: "restoring PUT \(Self.name(message.content))\(match)"
        case .delete: "DELETE\(match)"
        case .newTombstone: "POST of a tombstone"
        case .tombstone: "PUT of the tombstone\(match)"
        case .fill: "PATCH of the tombstone to \(Self.name(message.content))\(match)"
        case .lookUp: "GET"
        }
    }

    private func describe(_ answer: Answer) -> String {
        switch answer.kind {
        case .taken: "taken, \(Self.name(answer.row))"
        case .takenUnseen: "taken"
        case .takenUnversioned: "taken, \(Self.name(answer.row.content)) without a version"
        case .shown: "not taken, \(Self.name(answer.row))"
        case .absent: "there is no such row"
        case .hidden: "gone"
        }
    }

    private func describe(_ fault: Fault) -> String {
        switch fault {
        case .lost: "is lost, no answer"
        case .late: "is on its way for long, no answer"
        case .notDone: "was not done (429)"
        case .failed: "is answered 500 and was not done"
        case .refused: "is refused (400)"
        case .refusedByGateway: "is refused (403)"
        case .refusedByGatewayAndLate: "is refused (403), and a copy is on its way"
        case .twice: "arrives, and a copy is on its way"
        case .again: "arrives, and its answer is lost, but a copy follows that will be answered"
        case .diesBefore: "is not sent, the device dies"
        case .diesAndLate: "is sent, the device dies"
        case .answeredWithoutRow: "is carried out, and the answer does not show the row"
        case .answeredWithoutVersion: "is carried out, and the answer lacks the version"
        case .answerLost: "was carried out, and its answer is lost"
        case .failedAfter: "was carried out, and is answered 500"
        case .diesAfter: "was answered, and the device dies before it records the answer"
        case .shownOnly: "shows the tombstone as it was, and the next step is lost"
        case .shownAndRefused: "shows the tombstone as it was, and the next step is refused (400)"
        case .shownAndLate: "shows the tombstone as it was, and the next step is on its way for long"
        case .shownAndDies: "shows the tombstone as it was, and the device dies"
        case .dies: "(the device dies)"
        }
    }

    private func describe(change before: World, _ after: World) -> String {
        "the server \(before.server == after.server ? "keeps" : "has") \(Self.name(after.server))"
    }

    private func describe(device side: Side, _ world: World) -> String {
        let device = devices.devices[Int(world[side])]
        let row = device.row.map { "\(Self.name($0.content))\($0.version.map { " v\($0)" } ?? "")" } ?? "no row"
        guard let change = device.machine.change else { return "it has \(row), nothing waits" }
        let undo = change.isUndo ? "undoing " : ""
        let base = change.baseVersion.map { "v\($0)" } ?? "none"
        return "it has \(row), \(undo)\(change.kind) waits (\(change.state), base \(base), \(change.sent.count) sent)"
    }

    private static func name(_ content: UInt8) -> String { ["a", "b", "c", "a deletion"][Int(content & 3)] }

    private static func name(_ row: ModelRow) -> String {
        guard let version = row.version else { return "nothing" }
        return row.isDeleted ? "a tombstone v\(version)" : "\(name(row.content)) v\(version)"
    }
}
