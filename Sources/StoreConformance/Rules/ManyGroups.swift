internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let manyGroups: [StoreRule] = [
        rule(
            "aggregate.many-groups",
            "one result without a group, and otherwise one for each value that occurs, ordered by it, null first.",
            in: "StoreReadBackend/aggregate(_:)",
            "Groups 1,500 rows with other texts and numbers in each, by both and by their ids."
        ) { trial in
            let store = try await trial.makeStore()
            let numbers = (0..<1_500).map { FieldValue.int64($0) }
            let texts = (10_000..<11_500).map { FieldValue.string("\($0)") }
            let rows = zip(numbers, texts.reversed())
                .map { number, text in Record(id: .string(text.stringValue ?? ""), ["text": text, "int": number]) }
            try await store.upsert(rows, table: "other")
            for (column, values) in [("text", texts), ("int", numbers), ("id", texts)] {
                let query = Query("other").aggregating(.count, by: column)
                let groups = try await store.aggregate(query)
                let first = zip(groups, values).first { $0 != AggregateGroup(group: $1, values: [1]) }?.0.group
                trial.expect(
                    groups.count == 1_500 && first == nil,
                    shown(query),
                    expected: "1,500 groups of one row, in order",
                    got: "\(groups.count) groups" + (first.map { ", among them \(shown($0))" } ?? "")
                )
            }
        }
    ]
}
