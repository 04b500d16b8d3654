import SyncMachines

// Everything that can happen next.
extension Explorer {
    /// Calls for every step that may be possible.
    func forEachStep(in world: World, _ body: (Step) -> Void) {
        if world.late.0 != 0 { body(.lateArrives(0)) }
        if world.late.1 != 0 { body(.lateArrives(1)) }
        for side in bounds.sides {
            let facts = devices.facts[Int(world[side])]
            network(side, facts, world, body)
            engine(side, facts, world, body)
            person(side, facts, world, body)
        }
        guard world.server.version != nil, !world.server.isDeleted else { return }
        if world.budget[.touches] > 0 { body(.touched) }
        if world.budget[.removals] > 0 { body(.removed) }
    }

    private func network(_ side: Side, _ facts: DeviceTable.Facts, _ world: World, _ body: (Step) -> Void) {
        let mayFail = world.budget[.faults] > 0
        switch facts.slot {
        case .free:
            if mayFail, facts.isReading || facts.isMidPush { body(.fault(side, .dies)) }
        case .ready:
            body(.arrives(side))
            guard mayFail else { return }
            body(.fault(side, .lost))
            body(.fault(side, .notDone))
            body(.fault(side, .failed))
            body(.fault(side, .diesBefore))
            guard facts.message.writes else { return }
            body(.fault(side, .refused))
            body(.fault(side, .refusedByGateway))
            if bounds.showsBefore, facts.message.mayShow {
                guard facts.mayShow else { return }
                body(.fault(side, .shownOnly))
                body(.fault(side, .shownAndRefused))
                body(.fault(side, .shownAndDies))
                guard world.hasRoomForLate else { return }
                body(.fault(side, .shownAndLate))
                // The step that shows it, alone.
                body(.fault(side, .late))
                body(.fault(side, .diesAndLate))
                return
            }
            body(.fault(side, .again))
            if facts.message.makesVersion {
                body(.fault(side, .answeredWithoutRow))
                body(.fault(side, .answeredWithoutVersion))
            }
            guard world.hasRoomForLate else { return }
            body(.fault(side, .late))
            body(.fault(side, .refusedByGatewayAndLate))
            body(.fault(side, .twice))
            body(.fault(side, .diesAndLate))
        case .again: body(.arrives(side))
        case .answered:
            body(.local(side, DeviceEvent(.record)))
            guard mayFail else { return }
            body(.fault(side, .answerLost))
            body(.fault(side, .failedAfter))
            body(.fault(side, .diesAfter))
        }
    }

    private func engine(_ side: Side, _ facts: DeviceTable.Facts, _ world: World, _ body: (Step) -> Void) {
        if facts.slot == .free, facts.change == .pending { body(.local(side, DeviceEvent(.prepare))) }
        if facts.isReading {
            body(.local(side, DeviceEvent(.applyPage)))
        } else {
            if facts.token < world.server.version ?? 0 {
                body(.local(side, DeviceEvent(.requestPage, row: world.server)))
            }
            if facts.needsRow { body(.local(side, DeviceEvent(.lookUpRow, row: world.server))) }
        }
    }

    private func person(_ side: Side, _ facts: DeviceTable.Facts, _ world: World, _ body: (Step) -> Void) {
        decisions(side, facts, world, body)
        if world.budget[.discards] > 0, facts.change != nil {
            body(.local(side, DeviceEvent(.discard)))
            if facts.isDeletion { body(.local(side, DeviceEvent(.undoDelete))) }
        }
        if bounds.hasEditor, side == .a, !facts.isHeldInEditor, world.budget[.edits] > 0 {
            body(.local(side, DeviceEvent(.openEditor)))
        }
        guard world.budget[.edits] > 0 else { return }
        for content in 0..<bounds.contents {
            if let row = facts.row {
                if facts.isHeldInEditor { body(.local(side, DeviceEvent(.saveEditor, content: content))) }
                if ModelRow(bits: row).content != content { body(.local(side, DeviceEvent(.update, content: content))) }
            } else {
                body(.local(side, DeviceEvent(.insert, content: content)))
            }
        }
        if facts.row != nil { body(.local(side, DeviceEvent(.delete))) }
    }

    private func decisions(_ side: Side, _ facts: DeviceTable.Facts, _ world: World, _ body: (Step) -> Void) {
        guard facts.change == .conflicted || facts.change == .parked else { return }
        body(.local(side, DeviceEvent(.takeServer)))
        if facts.change == .parked { body(.local(side, DeviceEvent(.retry))) }
        guard world.budget[.keeps] > 0 else { return }
        if facts.change == .conflicted { body(.local(side, DeviceEvent(.keepMine))) }
        if !facts.isDeletion { body(.local(side, DeviceEvent(.deleteInstead))) }
        for content in 0..<bounds.contents { body(.local(side, DeviceEvent(.keepMerged, content: content))) }
    }

    /// What is done next where everything works and nobody edits: the way to quiet. Nil when nothing is left to do.
    func quietStep(in world: World) -> Step? {
        if world.late.1 != 0 { return .lateArrives(1) }
        for side in bounds.sides {
            let facts = devices.facts[Int(world[side])]
            switch facts.slot {
            case .ready, .again: return .arrives(side)
            case .answered: return .local(side, DeviceEvent(.record))
            case .free: break
            }
            if facts.isReading { return .local(side, DeviceEvent(.applyPage)) }
            switch facts.change {
            case .pending: return .local(side, DeviceEvent(.prepare))
            case .conflicted: return .local(side, DeviceEvent(.takeServer))
            case .parked: return .local(side, DeviceEvent(.retry))
            case nil: break
            }
            if facts.needsRow { return .local(side, DeviceEvent(.lookUpRow, row: world.server)) }
            if facts.token < world.server.version ?? 0 {
                return .local(side, DeviceEvent(.requestPage, row: world.server))
            }
        }
        return nil
    }
}
