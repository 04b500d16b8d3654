import SyncMachines

// What a step makes of the world.
extension Explorer {
    /// The world after a step, and what is wrong with it; nil when the step is impossible.
    mutating func take(_ step: Step, in world: World) -> (World, Violation)? {
        var next = world
        var violation: Violation?
        switch step {
        case .local(let side, let event):
            if let kind = Self.cost(of: event) {
                // Steps towards quiet cost what is left.
                if next.budget[kind] > 0 { next.budget[kind] -= 1 }
            }
            violation = local(event, side, &next)
        case .arrives(let side):
            let facts = devices.facts[Int(world[side])]
            guard !isLeftOut(facts, side, world) else { return nil }
            violation = arrive(facts.message, side, &next)
        case .fault(let side, let fault):
            next.budget[.faults] -= 1
            violation = take(fault, side, &next)
        case .lateArrives(let index):
            let message = next.arrive(index)
            var server = server(of: next)
            if bounds.showsBefore, message.mayShow {
                // Only the first step of it had left.
                guard server.row.version != ModelServer.lastVersion else { return nil }
                if server.wouldShow(message) { server.show() }
                next.server = server.row
                violation = Violation.none
            } else {
                violation = carryOut(message, &next).1
            }
        case .touched:
            next.budget[.touches] -= 1
            var server = server(of: next)
            guard server.row.version != ModelServer.lastVersion else { return nil }
            server.touch()
            next.server = server.row
            violation = Violation.none
        case .removed:
            next.budget[.removals] -= 1
            var server = server(of: next)
            guard server.row.version != ModelServer.lastVersion else { return nil }
            server.remove()
            next.server = server.row
            violation = Violation.none
        }
        guard let violation else { return nil }
        return (next, violation == .none ? check(next) : violation)
    }

    private func server(of world: World) -> ModelServer {
        ModelServer(
            row: world.server,
            showsTombstones: bounds.showsTombstones,
            restoresInSteps: bounds.restoresInSteps,
            showsBefore: bounds.showsBefore
        )
    }

    private static func cost(of event: DeviceEvent) -> Budget.Kind? {
        switch event.kind {
        case .update, .delete, .insert, .saveEditor: .edits
        case .discard, .undoDelete: .discards
        case .keepMine, .keepMerged, .deleteInstead: .keeps
        default: nil
        }
    }

    private mutating func local(_ event: DeviceEvent, _ side: Side, _ world: inout World) -> Violation? {
        guard let result = devices.handle(event, on: world[side]) else { return nil }
        world[side] = result.device
        world.givenUp.formUnion(result.consequence.givenUp)
        world.givenUp.subtract(result.consequence.leftToServer)
        world.satisfied.formUnion(result.consequence.leftToServer)
        world.satisfied.subtract(result.consequence.revived)
        world.satisfied.formUnion(result.consequence.satisfied)
        return result.consequence.violation
    }

    /// Carries a request out; the answer may be told not to show the row as it is.
    private mutating func arrive(
        _ message: Message,
        _ side: Side,
        _ world: inout World,
        _ taken: ((ModelRow) -> Answer)? = nil
    ) -> Violation? {
        guard world.server.version != ModelServer.lastVersion else { return nil }
        if bounds.showsBefore, !devices.facts[Int(world[side])].mayShow, server(of: world).wouldShow(message) {
            return local(DeviceEvent(.wouldShow), side, &world)
        }
        var (answer, violation) = carryOut(message, &world)
        guard violation == .none else { return violation }
        if let taken {
            guard answer.kind == .taken else { return nil }
            answer = taken(answer.row)
        }
        return local(DeviceEvent(answer), side, &world)
    }

    private func carryOut(_ message: Message, _ world: inout World) -> (Answer, Violation) {
        guard world.server.version != ModelServer.lastVersion else { return (Answer(.hidden), .none) }
        var server = server(of: world)
        let before = server.row
        let answer = server.carryOut(message)
        world.server = server.row
        guard before.version != server.row.version, before.version != nil else { return (answer, .none) }
        let seen = message.history.union(world.givenUp).union(world.satisfied).union(.touch)
        let isUnseen = !before.history.isSubset(of: seen)
        // What is the same as something that the sender wrote may be taken for it.
        let isTakenForOwn = message.values.contains(.of(before))
        return (answer, isUnseen && !isTakenForOwn ? .overwritten : .none)
    }

    private mutating func take(_ fault: Fault, _ side: Side, _ world: inout World) -> Violation? {
        let message = devices.facts[Int(world[side])].message
        if fault.isLate { world.delay(message) }
        if fault.isAfterShowing {
            var server = server(of: world)
            guard server.row.version != ModelServer.lastVersion, server.wouldShow(message) else { return nil }
            server.show()
            world.server = server.row
        }
        switch fault {
        case .lost, .late, .answerLost: return local(DeviceEvent(.noAnswer), side, &world)
        case .notDone: return local(DeviceEvent(.notDone), side, &world)
        case .failed, .failedAfter: return local(DeviceEvent(.failed), side, &world)
        case .refused:
            // A content that is refused in a row which is made as a deleted one is refused in the row as well, however late. What
            // is refused because of other rows is refused as by a gateway.
            if message.kind == .newTombstone { world.forgetLateInserts(of: message.content) }
            return local(DeviceEvent(.refused), side, &world)
        case .refusedByGateway, .refusedByGatewayAndLate: return local(DeviceEvent(.refusedByGateway), side, &world)
        case .twice: return arrive(message, side, &world)
        case .answeredWithoutRow: return arrive(message, side, &world) { _ in Answer(.takenUnseen) }
        case .answeredWithoutVersion: return arrive(message, side, &world) { Answer(.takenUnversioned, $0) }
        case .again:
            let (_, violation) = carryOut(message, &world)
            guard violation == .none else { return violation }
            return local(DeviceEvent(.sendAgain), side, &world)
        case .shownOnly: return local(DeviceEvent(.noAnswer), side, &world)
        case .shownAndRefused: return local(DeviceEvent(.refusedByGateway), side, &world)
        case .shownAndLate:
            world.delay(message.following(world.server.version))
            return local(DeviceEvent(.noAnswer), side, &world)
        case .diesBefore, .diesAndLate, .diesAfter, .shownAndDies, .dies: return local(DeviceEvent(.die), side, &world)
        }
    }

    /// One thing is left out: a request is carried out, its answer is lost on the way, the other device puts back what was
    /// there before, and a second copy of the same request is what gets the answer. The row then looks as if nobody had
    /// changed anything that the app knows of, nothing was sent before this attempt, and the change is based on it: the
    /// other device's change is gone. It is the price of not calling every touch of an undeclared column a conflict.
    private func isLeftOut(_ facts: DeviceTable.Facts, _ side: Side, _ world: World) -> Bool {
        guard facts.slot == .again, case .again(let sent, _) = devices.devices[Int(world[side])].slot,
            !sent.wasSentBefore, let base = devices.devices[Int(world[side])].machine.change?.base
        else { return false }
        return !world.server.isDeleted && world.server.content == base.content
            && !Edits.all(of: side).contains(Edits(tip: world.server.tip))
    }

    // MARK: Properties

    /// Whether every acknowledged edit is somewhere, and nothing is where it was given up.
    private func check(_ world: World) -> Violation {
        let a = devices.facts[Int(world.a)]
        let b = devices.facts[Int(world.b)]
        let somewhere = world.server.history.union(world.givenUp).union(world.satisfied).union(a.pending)
            .union(b.pending)
        guard a.edits.union(b.edits).isSubset(of: somewhere) else { return .vanished }
        let tip = Edits(tip: world.server.tip)
        if !tip.isEmpty, tip.isSubset(of: world.givenUp) {
            let author = Edits.all(of: .a).contains(tip) ? a : b
            let value = author.row.map { ModelRow(bits: $0).value } ?? ModelRow.deletion
            if author.change == nil, value != world.server.value { return .returned }
        }
        return .none
    }

    /// What is wrong where nothing is left to do.
    func checkQuiet(_ world: World) -> Violation {
        for side in bounds.sides {
            let facts = devices.facts[Int(world[side])]
            guard facts.change == nil else { return .stuck }
            let row = facts.row.map { ModelRow(bits: $0) }
            let isLive = world.server.version != nil && !world.server.isDeleted
            let hasContent = row?.content == (isLive ? world.server.content : nil)
            guard hasContent, row == nil || row?.version == world.server.version else { return .different }
        }
        return .none
    }
}
