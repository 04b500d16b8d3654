internal import OfflineSync
internal import SyncContract

extension SyncBench {
    /// Insertions of items through the queue, one by one and in groups: against the twin's item and operation in one
    /// transaction, and in groups.
    var localChanges: [SyncCase] {
        let group = min(1_000, workload.changes)
        return [
            localChange("change-each", at: StoreSize(), group: nil, goal: .init(elapsed: 1 / 0.7, processor: 1 / 0.7)),
            localChange(
                "change-group",
                at: StoreSize(),
                group: group,
                goal: .init(elapsed: 1 / 0.6, processor: 1 / 0.6)
            ),
        ]
    }

    func localChange(_ name: String, at size: StoreSize, group: Int?, goal: SyncCase.Goal) -> SyncCase {
        let items = SyncWorkload.newItems(workload.changes)
        let arrays = TwinArrays(items, table: SyncWorkload.table().name, firstOperation: size.waiting + 1)
        return SyncCase(name: name, unit: "change", count: items.count, goal: goal) { [self] in
            try await stores.withStore(size) { store in
                let context = context(store)
                let table = try context.table(SyncWorkload.table().name, of: Workload.Item.self)
                guard let group else {
                    return try await measured { for item in items { try await table.insert(item) } }
                }
                let groups = stride(from: 0, to: items.count, by: group)
                    .map { Array(items[$0..<min($0 + group, items.count)]) }
                return try await measured {
                    for items in groups { try await context.write { try $0.insert(contentsOf: items, into: table) } }
                }
            }
        } floor: { [self] in
            try await stores.withTwin(size) { twin in
                try await measured { try twin.change(arrays, page: group ?? 1) }
            }
        }
    }
}
