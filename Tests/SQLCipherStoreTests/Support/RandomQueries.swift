import SyncContract

/// Random rows and queries over the tables of ``TableDefinition/items``, with values that meet each other often.
struct RandomQueries {
    var generator: SeededGenerator

    static let columns = ["id", "bool", "int", "double", "decimal", "text", "date", "bytes", "json", "version"]

    static let texts = [
        "", "a", "A", "b", "B", "ab", "Ab", "aB", "é", "e\u{301}", "É", "a\0b", "a\0c", "A\0B", "z", "_", "[", "Z",
        "日本", "😀", "%", "'", "\"", "a%b", "ß", "\u{FEFF}a", "10", "9", "1e1",
    ]
    static let integers: [Int64] = [
        0, 1, -1, 2, 10, .max, .min, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1, 1 << 60, 9_007_199_254_740_993, 100,
    ]
    static let doubles: [Double] = [
        0, -0.0, 1, -1, 0.1, 0.30000000000000004, 1e300, -1e300, .infinity, -.infinity, .leastNonzeroMagnitude,
        9_007_199_254_740_992,
        0x1p60, 2, 10, 1e-7, 9.223372036854775807e18, .leastNormalMagnitude,
    ]
    static let decimals = [
        "0", "-0", "0.0", "1", "1.0", "1.00", "1e0", "10", "1e1", "0.1", "0.10", "-1", "-1.5", "9007199254740993",
        "123456789012345678901234567890.123456789", "1e400", "-1e400", "0.30000000000000004", "1e-400",
        "9223372036854775807", "9223372036854775808", "1152921504606846976", "2.50",
    ]
    static let dates: [Int64] = [0, 1, -1, 1_700_000_000_000, 253_402_300_799_999, .min, .max]
    static let blobs: [[UInt8]] = [[], [0], [0, 0], [1], [255], [97], [97, 0, 98]]
    static let jsons = ["null", "1", "{}", "[1, 2]", "{\"a\":\"b\"}", "\"x\""]

    mutating func pick<T>(_ values: [T]) -> T { values.randomElement(using: &generator)! }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    mutating func value(_ type: ColumnType) -> FieldValue {
        switch type {
        case .bool: .bool(chance(50))
        case .int64: .int64(pick(Self.integers))
        case .double: .double(pick(Self.doubles))
        case .decimal: .decimal(DecimalText(pick(Self.decimals))!)
        case .string: .string(pick(Self.texts))
        case .date: .date(Timestamp(milliseconds: pick(Self.dates)))
        case .bytes: .bytes(pick(Self.blobs))
        case .json: .json(JSONText(pick(Self.jsons))!)
        }
    }

    mutating func record(_ id: RecordID, _ table: TableDefinition) -> Record {
        var record = Record(id: id)
        for column in table.allColumns { record[column.name] = chance(20) ? .null : value(column.type) }
        return record
    }

    mutating func expression(_ table: TableDefinition, mostlyColumn: Bool) -> QueryExpression {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<8: .lowercased(expression(table, mostlyColumn: mostlyColumn))
        case 8..<16: .uppercased(expression(table, mostlyColumn: mostlyColumn))
        case 16..<(mostlyColumn ? 85 : 35): .column(pick(Self.columns))
        case 16..<40 where chance(10): .value(.double(.nan))
        default: .value(anyValue())
        }
    }

    mutating func anyValue() -> FieldValue { chance(10) ? .null : value(pick(ColumnType.allCases)) }

    /// A value that the other side of a comparison with the column can equal, most of the time.
    mutating func value(for expression: QueryExpression, _ table: TableDefinition) -> QueryExpression {
        guard chance(70), case .column(let name) = expression else {
            return self.expression(table, mostlyColumn: false)
        }
        guard let type = table.type(of: name) else { return .value(.string(pick(Self.texts))) }
        let numeric: [ColumnType] = [.int64, .double, .decimal]
        return .value(value(numeric.contains(type) ? pick(numeric) : type))
    }

    mutating func predicate(_ table: TableDefinition, depth: Int) -> QueryPredicate {
        let branch = depth > 0 ? Int.random(in: 0..<100, using: &generator) : 100
        switch branch {
        case 0..<15: return .not(predicate(table, depth: depth - 1))
        case 15..<35: return .all(parts(table, depth))
        case 35..<55: return .any(parts(table, depth))
        default: return leaf(table)
        }
    }

    private mutating func parts(_ table: TableDefinition, _ depth: Int) -> [QueryPredicate] {
        (0..<Int.random(in: 0...4, using: &generator)).map { _ in predicate(table, depth: depth - 1) }
    }

    private mutating func leaf(_ table: TableDefinition) -> QueryPredicate {
        let left = expression(table, mostlyColumn: true)
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<3: return .constant(chance(50))
        case 3..<20: return .match(left, pick(QueryMatch.allCases), expression(table, mostlyColumn: false))
        case 20..<40:
            let values = (0..<Int.random(in: 0...5, using: &generator))
                .map { _ -> FieldValue in
                    if case .value(let value) = value(for: left, table) { value } else { .null }
                }
            return .isAnyOf(left, values)
        default:
            let right = value(for: left, table)
            return chance(80)
                ? .comparison(left, pick(QueryComparison.allCases), right)
                : .comparison(right, pick(QueryComparison.allCases), left)
        }
    }

    mutating func query(_ table: TableDefinition) -> Query {
        var query = Query(table.name)
        if chance(90) { query.predicate = predicate(table, depth: 4) }
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            query = query.ordered(by: pick(Self.columns), chance(50) ? .ascending : .descending)
        }
        if chance(30) { query.limit = Int.random(in: 0...20, using: &generator) }
        if chance(30) { query.offset = Int.random(in: 0...10, using: &generator) }
        if chance(30) { query.selection = [pick(Self.columns), pick(Self.columns)] }
        return query
    }
}
