internal import ItemCoding
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
                if isUpdate { try await store.write { try $0.upsert(workload.records, into: Workload.table.name) } }
                // Cutting the pages is not work of the store's.
                switch form {
                case .records:
                    let pages = cut(workload.records, into: page)
                    return try await timed {
                        for page in pages { try await store.write { try $0.upsert(page, into: Workload.table.name) } }
                    }
                case .items:
                    let pages = cut(workload.items, into: page)
                    return try await timed {
                        for page in pages { try await store.write { try $0.upsert(page, into: Workload.table.name) } }
                    }
                }
            }
        } twin: { encryption in
            let arrays = databases.workload.arrays
            return try await databases.withNewTwin(encryption) { twin in
                if isUpdate { try twin.upsert(arrays, page: arrays.count) }
                return try await timed { try twin.upsert(arrays, page: page) }
            }
        }
    }

    private static func cut<Row>(_ rows: [Row], into page: Int) -> [[Row]] {
        stride(from: 0, to: rows.count, by: page).map { Array(rows[$0..<min($0 + page, rows.count)]) }
    }
}
