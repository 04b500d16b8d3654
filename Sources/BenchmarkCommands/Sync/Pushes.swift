internal import OfflineSync

extension SyncBench {
    /// Changes that are sent: against a bare loop of the same requests.
    var pushes: [SyncCase] {
        let goal = SyncCase.Goal(elapsed: 1.3, processor: 2)
        return [push("push-one", count: workload.changes, parallel: 1, goal: goal)]
    }

    func push(
        _ name: String,
        _ kind: ServerProcess.Kind = .init(),
        count: Int,
        parallel: Int,
        goal: SyncCase.Goal
    ) -> SyncCase {
        let record = RequestRecord()
        return SyncCase(name: name, unit: "change", count: count, goal: goal) { [self] in
            let server = try await servers.server(kind)
            try await server.reset()
            return try await stores.withStore(StoreSize(waiting: count)) { store in
                let context = try context(store, server, record.transport(), parallel: parallel)
                return try await measured { try expect(try await context.push().pushed == count, "push") }
            }
        } floor: { [self] in
            try await servers.server(kind).reset()
            let requests = record.requests
            try expect(requests.count >= count, "recording of requests")
            return try await measured { try await RequestLoop.send(requests, parallel: parallel) }
        }
    }
}
