internal import SQLCipherStore
internal import SyncContract

extension BenchmarkCase {
    /// An item and its operation in one transaction, one after the other.
    static func transactions(_ databases: Databases) -> [BenchmarkCase] {
        [transaction(databases, .normal, "normal"), transaction(databases, .full, "full")]
    }

    private static func transaction(
        _ databases: Databases,
        _ durability: EncryptedStoreOptions.Durability,
        _ name: String
    ) -> BenchmarkCase {
        // A durable commit waits for the disk: fewer will do.
        let count = min(databases.workload.items.count, durability == .full ? 1_000 : 3_000)
        return BenchmarkCase(name: "transaction-\(name)", goal: 0.9, unit: "transactions", count: count) {
            try await databases.withNewStore(durability: durability) { store in
                let workload = databases.workload
                return try await timed {
                    for index in 0..<count {
                        let (item, operation) = (workload.records[index], workload.operations[index])
                        try await store.write { transaction in
                            try transaction.upsert([item], into: Workload.table.name)
                            try transaction.upsert([operation], into: SystemTables.operations.name)
                        }
                    }
                }
            }
        } twin: { encryption in
            let arrays = databases.workload.arrays
            return try await databases.withNewTwin(encryption, durability: durability) { twin in
                try await timed { try twin.writeWithOperations(arrays, count: count) }
            }
        }
    }
}
