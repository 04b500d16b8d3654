internal import SeededNumbers

/// What happens to devices and to the server.
extension Step {
    static let fates: [Step] = [
        Step("is killed", 4) { world, random in
            let device = random.pick(world.devices)
            world.note("\(device.name) is killed and started again.")
            device.kill()
        },
        Step("gets a new version", 4) { world, random in
            let device = random.pick(world.devices)
            world.note("\(device.name) is killed, and started in a new version.")
            device.update()
        }
        .played(where: \.migrates),
        Step("is interrupted", 3) { world, random in
            let steps = world.devices.flatMap { device in device.running.map { (device, $0) } }
            guard !steps.isEmpty else { return }
            let (device, step) = random.pick(steps)
            world.note("\(device.name) cancels what \(step.name).")
            step.task?.cancel()
        },
        Step("arrives late", 6) { world, random in
            guard !world.lateRequests.isEmpty else { return }
            world.arriveLate(world.lateRequests.remove(at: random.below(world.lateRequests.count)))
        },
        Step("writes at the server", 4) { world, random in world.writeAtServer(&random) },
        Step("sets the clock back", 2) { world, random in
            world.setClockBack(by: Int64(random.below(60)))
            world.note("The server's clock is set back.")
        },
    ]
}

extension World {
    /// Somebody at the server changes a row, brings one back, or deletes one.
    fileprivate func writeAtServer(_ random: inout SeededGenerator) {
        let id = random.pick(settings.ids)
        let table = settings.tables.count > 1 ? random.pick(settings.tables) : settings.tables[0]
        let key = settings.key(id, in: table)
        if settings.removesForGood, server.row(key) != nil, random.chance(1, of: 3) {
            server.remove(key)
            return note("Somebody at the server removes \(key) without a trace.")
        }
        let old = server.row(key)?.current.content
        let token = "Server\(moveCount)"
        var content = old ?? ServerContent(values: [:])
        if let old, old.deletion == nil, random.chance(1, of: 5) {
            if settings.deletesForGood {
                server.remove(key)
                return note("Somebody at the server deletes \(key).")
            }
            content.deletion = "†\(token)"
        } else {
            content.deletion = nil
            let columns = old == nil ? WorldSettings.columns : [random.pick(WorldSettings.columns)]
            for column in columns { content.values[column] = "\(token)\(column)" }
            if columns.contains("title") { content.isUnfit = false }
            if random.chance(1, of: 3) { content.extra = token }
        }
        ledger.writeAtServer(content.tokens.filter { $0.contains(token) }, in: key, over: old)
        server.write(content, to: server.row(key)?.id ?? id, in: table)
        note("Somebody writes at the server: \(table)/\(server.row(key).map { server.record($0).story } ?? "")")
    }
}
