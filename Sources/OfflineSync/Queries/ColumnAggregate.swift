internal import Foundation
internal import ItemCoding
internal import SyncContract

/// What is computed of columns whose types are known, and how the results become values of these types.
struct ColumnAggregate<Result: Sendable>: Sendable {
    let query: AggregateQuery
    let result: @Sendable ([AggregateGroup]) throws -> Result
    /// What gives the result as well, in more memory, where the store says that a sum does not fit its type.
    var substitute: Substitute?

    struct Substitute: Sendable {
        let query: AggregateQuery
        let result: @Sendable ([AggregateGroup]) throws -> Result
    }

    /// The result, of what a closure computes.
    func computed(_ compute: (AggregateQuery) throws -> [AggregateGroup]) throws -> Result {
        let groups: [AggregateGroup]
        do {
            groups = try compute(query)
        } catch let error as StoreError where error.code == .outOfRange {
            guard let substitute else { throw error }
            return try substitute.result(compute(substitute.query))
        }
        return try result(groups)
    }
}

/// Makes results of what a store has computed.
struct AggregateResults: Sendable {
    let table: TableDefinition

    /// A result in its type.
    func value<Value: ColumnValue>(_ field: FieldValue, _ column: String, as type: Value.Type) throws -> Value {
        guard let value = Value(fieldValue: field) else {
            if case .int64 = field, Value.self is any FixedWidthInteger.Type {
                throw StoreError(
                    .outOfRange,
                    "What is computed of column '\(column)' of '\(table.name)' is beyond \(Value.self); ask for it with"
                        + " aggregate(_:), which gives 64 bits."
                )
            }
            throw unfit(column, "\(Value.self)")
        }
        if case .decimal(let exact) = field, case .decimal(let rounded) = value.fieldValue,
            !exact.isNumericallyEqual(to: rounded)
        {
            throw StoreError(
                .outOfRange,
                "What is computed of column '\(column)' of '\(table.name)' has more digits than a Decimal; ask for it"
                    + " with aggregate(_:), which gives its text."
            )
        }
        return value
    }

    /// The values by group. Of groups that are one value of the type, such as a UUID in upper and in lower case and a null
    /// beside the example's value, one is made.
    func values<Group: ColumnValue, Value>(
        _ groups: [AggregateGroup],
        by column: String,
        as type: Group.Type,
        _ value: (FieldValue) throws -> Value
    ) throws -> [Group: Value] {
        var fields: [Group: FieldValue] = [:]
        for group in groups {
            let key = try self.group(group.group, column, as: type)
            fields[key] = try fields[key].map { try added($0, group.values[0], column) } ?? group.values[0]
        }
        return try fields.mapValues(value)
    }

    /// The value that the rows of a group share. A null is the example's value where it is none of the type, as in items.
    private func group<Group: ColumnValue>(_ field: FieldValue, _ column: String, as type: Group.Type) throws -> Group {
        if let group = Group(fieldValue: field) { return group }
        guard field.isNull, let group = table.standIns[column].flatMap(Group.init(fieldValue:)) else {
            throw unfit(column, "\(Group.self)")
        }
        return group
    }

    private func added(_ first: FieldValue, _ second: FieldValue, _ column: String) throws -> FieldValue {
        switch (first, second) {
        case (.int64(let first), .int64(let second)):
            let (sum, overflows) = first.addingReportingOverflow(second)
            guard !overflows else { throw StoreError.sumOutOfRange(column, table) }
            return .int64(sum)
        case (.double(let first), .double(let second)): return .double(first + second)
        case (.decimal(let first), .decimal(let second)):
            var sum = DecimalSum()
            guard sum.add(first.text.utf8), sum.add(second.text.utf8) else {
                throw StoreError.sumOutOfRange(column, table)
            }
            return .decimal(sum.value)
        default: throw unfit(column, "number")
        }
    }

    /// The average of numbers, from their sum and how many there are; nil for none.
    func average<Average: ColumnValue>(_ sum: FieldValue, of count: FieldValue, _ column: String) throws -> Average? {
        guard let count = count.int64Value, count > 0 else { return nil }
        let average: FieldValue =
            switch sum {
            case .int64(let sum): .double(Double(sum) / Double(count))
            case .double(let sum): .double(sum / Double(count))
            case .decimal(let sum): .decimal(sum.divided(by: count, digits: 38))
            default: throw unfit(column, "number")
            }
        guard let result = Average(fieldValue: average) else { throw unfit(column, "\(Average.self)") }
        return result
    }

    /// The average of whole numbers whose sum may pass 64 bits, from how often there is each of them.
    func average<Average: ColumnValue>(_ counts: [AggregateGroup], _ column: String) throws -> Average? {
        var (sum, count) = (WholeSum(), 0 as Int64)
        for group in counts {
            guard let value = group.group.int64Value, let times = group.values[0].int64Value else { continue }
            sum.add(value, times: times)
            count += times
        }
        guard count > 0 else { return nil }
        guard let result = Average(fieldValue: .double(sum.rounded / Double(count))) else {
            throw unfit(column, "\(Average.self)")
        }
        return result
    }

    private func unfit(_ column: String, _ type: String) -> SyncError {
        SyncError(
            .invalidItem,
            "Column '\(column)' of '\(table.name)' has a value that is no \(type); make the property optional, give the table"
                + " an example, or correct the rows, which read(onUndecodable:) names."
        )
    }
}

extension SyncTable {
    /// What is computed of one column.
    func aggregate<Value: Sendable>(
        _ rows: Query,
        _ aggregate: Aggregate,
        _ column: String,
        _ result: @escaping @Sendable (AggregateResults, FieldValue) throws -> Value
    ) -> ColumnAggregate<Value> {
        let results = AggregateResults(table: definition)
        return ColumnAggregate(query: AggregateQuery(rows, [aggregate])) { try result(results, $0[0].values[0]) }
    }

    /// The same for each value of another column.
    func aggregate<Group: ColumnValue, Value: Sendable>(
        _ rows: Query,
        _ aggregate: Aggregate,
        by group: Column<Group>,
        _ result: @escaping @Sendable (AggregateResults, FieldValue) throws -> Value
    ) -> ColumnAggregate<[Group: Value]> {
        let results = AggregateResults(table: definition)
        return ColumnAggregate(query: AggregateQuery(rows, [aggregate], by: group.name)) { groups in
            try results.values(groups, by: group.name, as: Group.self) { try result(results, $0) }
        }
    }
}

extension TableQuery {
    func sum<Item, Number: NumericColumnValue>(_ column: Column<Number>) -> ColumnAggregate<Number.Base>
    where Table == SyncTable<Item> {
        let name = column.name
        return table.aggregate(source, .sum(of: name), name) { try $0.value($1, name, as: Number.Base.self) }
    }

    func extreme<Item, Value: ColumnValue>(
        _ aggregate: Aggregate,
        of column: Column<Value>
    ) -> ColumnAggregate<Value.Base?> where Table == SyncTable<Item> {
        let name = column.name
        return table.aggregate(source, aggregate, name) {
            $1.isNull ? nil : try $0.value($1, name, as: Value.Base.self)
        }
    }

    func average<Item, Number: NumericColumnValue>(_ column: Column<Number>) -> ColumnAggregate<Number.Average?>
    where Table == SyncTable<Item> {
        let (name, results) = (column.name, AggregateResults(table: table.definition))
        var average = ColumnAggregate(query: AggregateQuery(source, [.sum(of: name), .valueCount(of: name)])) {
            groups in
            try results.average(groups[0].values[0], of: groups[0].values[1], name) as Number.Average?
        }
        if table.definition.kind(of: name) == .int64 {
            average.substitute = .init(query: AggregateQuery(source, [.count], by: name)) {
                try results.average($0, name)
            }
        }
        return average
    }

    func count<Item, Group: ColumnValue>(by group: Column<Group>) -> ColumnAggregate<[Group: Int]>
    where Table == SyncTable<Item> {
        table.aggregate(source, .count, by: group) { try $0.value($1, group.name, as: Int.self) }
    }

    func sum<Item, Number: NumericColumnValue, Group: ColumnValue>(
        _ column: Column<Number>,
        by group: Column<Group>
    ) -> ColumnAggregate<[Group: Number.Base]> where Table == SyncTable<Item> {
        let name = column.name
        return table.aggregate(source, .sum(of: name), by: group) { try $0.value($1, name, as: Number.Base.self) }
    }
}
