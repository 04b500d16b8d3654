internal import SQLCipherStore
internal import SyncContract

extension BenchmarkCase {
    /// All rows in pages, into an empty table and over the same rows; as records and as items.
    static func bulkWrites(_ databases: Databases) -> [BenchmarkCase] {
        let count = databases.workload.items.count
        let pages = [("50", 50), ("1000", 1_000), ("all", count)]
        return [false, true]
            .flatMap { isUpdate in
                [Form.records, .items]
                    .flatMap { form in
                        pages.map { bulkWrite(databases, form, isUpdate: isUpdate, name: $0.0, page: $0.1) }
                    }
            }
    }

    /// What rows are given as.
    enum Form: String, Sendable {
        case records
        case items
    }

    private static func bulkWrite(
        _ databases: Databases,
        _ form: Form,
        isUpdate: Bool,
        name: String,
        page: Int
    ) -> BenchmarkCase {
        BenchmarkCase(
            name: "\(isUpdate ? "update" : "insert")-\(form)-\(name)",
            goal: form == .records ? 0.8 : 0.65,
            unit: "rows",
            count: databases.workload.items.count
        ) {
            try await databases.withNewStore { store in
                let workload = databases.workload
                if isUpdate { try await write(workload, .records, page: workload.items.count, to: store) }
                return try await timed { try await write(workload, form, page: page, to: store) }
            }
        } twin: { encryption in
            let arrays = databases.workload.arrays
            return try await databases.withNewTwin(encryption) { twin in
                if isUpdate { try twin.upsert(arrays, page: arrays.count) }
                return try await timed { try twin.upsert(arrays, page: page) }
            }
        }
    }

    private static func write(_ workload: Workload, _ form: Form, page: Int, to store: EncryptedStore) async throws {
        let count = workload.items.count
        for first in stride(from: 0, to: count, by: page) {
            let range = first..<min(first + page, count)
            switch form {
            case .records:
                try await store.write { try $0.upsert(Array(workload.records[range]), into: Workload.table.name) }
            case .items:
                try await store.write { try $0.upsert(Array(workload.items[range]), into: Workload.table.name) }
            }
        }
    }
}
