internal import OfflineSync
internal import SyncContract

extension SyncBench {
    /// Insertions of items through the queue, one by one and in groups: against the twin's item and operation in one
    /// transaction, and in groups.
    var localChanges: [SyncCase] {
        [
            localChange("change-each", count: workload.changes, group: nil),
            localChange("change-group", count: workload.changes, group: 1_000),
        ]
    }

    /// Insertions into a store of a size.
    func localChange(_ name: String, count: Int, group: Int?, at size: StoreSize = StoreSize()) -> SyncCase {
        let items = Lazy { ItemSource.first(count, .new) }
        let arrays = Lazy { SyncArrays(items.value, operation: size.waiting + 1) }
        // Of the twin's speed.
        let goal = group == nil ? 0.7 : 0.6
        return SyncCase(
            name: name,
            unit: "change",
            count: count,
            goal: .init(elapsed: 1 / goal, processor: 1 / goal)
        ) { [self] in
            let items = items.value
            return try await stores.withStore(size) { store in
                let context = context(store)
                let table = try context.table(SyncWorkload.table().name, of: Workload.Item.self)
                guard let group else {
                    return try await measured { for item in items { try await table.insert(item) } }
                }
                let groups = stride(from: 0, to: count, by: group).map { Array(items[$0..<min($0 + group, count)]) }
                return try await measured {
                    for items in groups { try await context.write { try $0.insert(contentsOf: items, into: table) } }
                }
            }
        } floor: { [self] in
            let arrays = arrays.value
            return try await stores.withTwin(size) { twin in
                try await measured { try twin.change(arrays, page: group ?? 1) }
            }
        }
    }
}
