internal import OfflineSync
internal import SeededNumbers
internal import SyncContract

/// The end of a run: the network heals, every app does what is left to do, and everything has to come to rest.
extension World {
    func comeToRest() {
        note("The network heals.")
        finish()
        for device in devices { alone(device, "looks at its queue") { try await $0.checkStatus() } }
        var random = SeededGenerator(seed: settings.seed &+ 1)
        let (now, later) = (lateRequests.filter { _ in random.chance(1, of: 2) }, lateRequests)
        lateRequests = []
        for message in now { arriveLate(message) }
        settle(&random)
        // Whatever still arrives finds that everything is decided.
        for message in later where !now.contains(where: { $0 === message }) { arriveLate(message) }
        let count = writes
        settle(&random)
        if writes != count { fail("the server is written to although nothing waited") }
        for device in devices { alone(device, "looks at the end") { try await $0.checkEnd() } }
        for failure in ledger.losses() { fail(failure) }
    }

    /// How many writes there were.
    private var writes: Int { server.history.values.reduce(0) { $0 + $1.history.count } }

    /// Lets every device push, settle and pull until nothing is left to do.
    private func settle(_ random: inout SeededGenerator) {
        for round in 0..<16 {
            var isQuiet = true
            for device in devices {
                // Who always insists never ends when somebody else does, too.
                let choices = round < 4 ? Choice.allCases : [.server]
                let choice = random.pick(choices)
                alone(device, "tidies up") { device in
                    if try await !device.tidyUp(choice) { device.isBusy = true }
                }
                isQuiet = isQuiet && !device.isBusy
                device.isBusy = false
            }
            if isQuiet { return }
        }
        fail("it does not come to rest")
    }

    /// Lets a device do something while nobody else does anything.
    private func alone(_ device: Device, _ name: String, _ body: @escaping @Sendable (Device) async throws -> Void) {
        device.begin(name, body)
        finish()
    }
}

extension Device {
    /// Pushes, settles and pulls. Returns whether there was nothing to do.
    fileprivate func tidyUp(_ choice: Choice) async throws -> Bool {
        var wasIdle = true
        if hasHeardOfReset || world.settings.losesHistory {
            try await bringEverythingAnew(world.settings.tables, isAsked: false, discards: false)
        }
        do {
            let report = try await context.push()
            wasIdle = report.pushed == 0
        } catch let error as SyncError {
            world.fail("\(name) cannot push although the network is well: \(error)")
        }
        for error in try await context.operationErrors() {
            wasIdle = false
            do {
                try await settle(error, choice)
            } catch let stale as SyncError where stale.code == .operationChanged {
                // Another decision has deleted a row that its row refers to. It is sent as it is now, and asked about then.
            }
        }
        var changes = 0
        for table in world.settings.tables {
            let options = PullOptions(reconciles: hasPurged || world.server.hasRemovedRows)
            // Both names under which it was pulled before have to lead to the same.
            let report: PullReport
            do {
                report =
                    if number % 2 == 0 {
                        try await context.pull(Query(table), queryID: "all", options: options)
                    } else {
                        try await context.pull(Query(table), options: options)
                    }
            } catch let error as SyncError where error.code == .historyLost && world.settings.losesHistory {
                hasHeardOfReset = true
                return false
            }
            changes += report.received + report.deleted
            if options.reconciles { checkSetAside(report, of: table) }
        }
        let isEmpty = try await context.operations().isEmpty
        return wasIdle && changes == 0 && isEmpty
    }

    /// Compares what the app is told with what waits.
    fileprivate func checkStatus() async throws {
        let status = try await context.status()
        let operations = try await context.operations()
        let errors = try await context.operationErrors()
        let counts = [status.pending, status.conflicts, status.failed]
        let expected = [TableOperation.State.pending, .conflicted, .failed]
            .map { state in operations.filter { $0.state == state }.count }
        if counts != expected { world.fail("\(name) is told of \(counts), and \(expected) wait") }
        for operation in operations {
            let own = errors.filter { $0.operationID == operation.id }
            if own.count > 1 || own.first.map({ $0.isConflict && operation.state != .conflicted }) ?? false {
                world.fail("\(name) is told of an error of \(operation.itemID) that is out of date")
            }
            if own.isEmpty, operation.state != .pending {
                world.fail("\(name) has \(operation.state) for \(operation.itemID) and no reason for it")
            }
        }
        let setAside = try await context.setAsideRows().count
        if status.setAside != setAside { world.fail("\(name) is told of \(status.setAside) rows of \(setAside)") }
        try await checkQueue()
    }

    private func checkQueue() async throws {
        let findings = try await world.executor.waitingElsewhere { try await store.verifyQueue() }
        for finding in findings { world.fail("\(name)'s queue is not sound: \(finding)") }
    }

    /// Compares a device at rest with the server.
    fileprivate func checkEnd() async throws {
        try await checkQueue()
        let operations = try await context.operations()
        if !operations.isEmpty { world.fail("\(name) still has \(operations.map(\.itemID)) waiting") }
        var rows: [RowKey: Record] = [:]
        for table in try tables() {
            for row in try await table.read(Query(table.name)).records {
                let key = world.settings.key(row.id.stringValue ?? "", in: table.name)
                if rows.updateValue(life.names.fromDevice(row), forKey: key) != nil {
                    world.fail("\(name) has a row twice")
                }
            }
        }
        try await checkSetAside()
        for key in world.server.history.keys.sorted() {
            let local = rows[key]
            if world.server.isUnfit(key) {
                checkOlder(local, key)
                continue
            }
            let theirs = world.server.row(key)
                .flatMap { $0.current.content.deletion == nil ? world.server.record($0) : nil }
            if let kept = keptLocal[key], kept == local.map(Self.values) { continue }
            var shown = theirs
            // What the server has never shown keeps its value.
            if shown != nil, shown?["list"] == nil { shown?["list"] = local?["list"] }
            if local.map(Self.content) != shown.map(Self.content) {
                world.fail(
                    "\(name) has \(local?.story ?? "no \(key)"), and the server has"
                        + " \(theirs?.story ?? "it deleted")"
                )
            }
        }
        for key in rows.keys.sorted() where world.server.history[key] == nil && keptLocal[key] == nil {
            world.fail("\(name) has \(key), which the server has not")
        }
    }

    static func values(_ row: Record) -> [String?] { WorldSettings.columns.map { row[$0]?.stringValue } }

    private static func content(_ row: Record) -> [String?] {
        (WorldSettings.columns + ["list", "version", "extra"]).map { row[$0]?.stringValue }
    }
}
