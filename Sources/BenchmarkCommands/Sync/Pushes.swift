internal import OfflineSync
internal import SyncContract

extension SyncBench {
    /// Changes that are sent, at once and with a network that takes its time: against a bare loop of the same requests.
    var pushes: [SyncCase] {
        let (count, late) = (workload.changes, ServerProcess.Kind(delayMilliseconds: 20))
        return [
            push("push-one", count: count, parallel: 1),
            push("push-eight", count: count, parallel: 8),
            push("push-groups", count: count, parallel: 1, at: StoreSize(waiting: count, group: 10)),
            push("push-one-v2", .init(protocolNumber: 2), count: count, parallel: 1),
            // A change takes 20 ms or more: fewer will do.
            push("push-one-late", late, count: max(count / 20, 10), parallel: 1),
            push("push-eight-late", late, count: max(count / 5, 10), parallel: 8),
        ]
    }

    /// A push of so many changes of a store's, by default of all that wait.
    func push(
        _ name: String,
        _ kind: ServerProcess.Kind = .init(),
        count: Int,
        parallel: Int,
        at size: StoreSize? = nil
    ) -> SyncCase {
        let (record, size) = (RequestRecord(), size ?? StoreSize(waiting: count))
        return SyncCase(
            name: name,
            unit: "change",
            count: count,
            goal: .init(elapsed: 1.3, processor: 2),
            record: record
        ) { [self] in
            let server = try await servers.server(kind)
            try await server.reset()
            return try await stores.withStore(size) { store in
                let transport = record.transport(limit: count < size.waiting ? count : nil)
                let context = try context(store, server, transport, parallel: parallel)
                let cost = try await measured {
                    do {
                        try expect(try await context.push().pushed == count, "push")
                    } catch let error as SyncError where count < size.waiting && error.code == .pushAbortedNetwork {
                        // As it should.
                    }
                }
                try expect(try await context.status().pending == size.waiting - count, "push")
                return cost
            }
        } floor: { [self] in
            try await servers.server(kind).reset()
            let requests = record.requests
            try expect(requests.count >= count, "recording of requests")
            return try await measured { try await RequestLoop.send(requests, parallel: parallel) }
        }
    }

    /// How much longer a change takes, one at a time and late, than it should when eight of them travel at a time.
    static func lateCheck(_ results: [SyncMeasurement]) -> GrowthCheck? {
        guard let one = results.first(where: { $0.name == "push-one-late" }),
            let eight = results.first(where: { $0.name == "push-eight-late" })
        else { return nil }
        return GrowthCheck(
            "a change, 20 ms late, 8 at a time, to one at a time",
            eight.elapsed.microseconds / one.elapsed.microseconds,
            limit: 1 / 6,
            "times"
        )
    }
}
