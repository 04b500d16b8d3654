internal import ConformanceRunner
internal import SyncContract

/// Random rows and queries over ``TableDefinition/items``, with values that meet each other often.
struct RandomRows {
    var random: SeededRandom

    init(_ random: SeededRandom) { self.random = random }

    private static let columns = ["id"] + TableDefinition.items.allColumns.map(\.name)

    private static let texts = [
        "", "a", "A", "b", "B", "ab", "Ab", "aB", "é", "e\u{301}", "É", "a\0b", "a\0c", "A\0B", "z", "_", "[", "Z",
        "日本", "😀", "%", "'", "\"", "a%b", "ß", "\u{FEFF}a", "10", "9", "1e1",
    ]
    private static let integers: [Int64] = [
        0, 1, -1, 2, 10, .max, .min, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1, 1 << 60, 100,
    ]
    private static let doubles: [Double] = [
        0, -0.0, 1, -1, 0.1, 0.30000000000000004, 1e300, -1e300, .infinity, -.infinity, .leastNonzeroMagnitude,
        9_007_199_254_740_992, 0x1p60, 2, 10, 1e-7, 9.223372036854775807e18, .leastNormalMagnitude,
    ]
    private static let decimals = [
        "0", "-0", "0.0", "1", "1.0", "1.00", "1e0", "10", "1e1", "0.1", "0.10", "-1", "-1.5", "9007199254740993",
        "123456789012345678901234567890.123456789", "1e400", "-1e400", "0.30000000000000004", "1e-400",
        "9223372036854775807", "9223372036854775808", "1152921504606846976", "2.50",
    ]
    private static let dates: [Int64] = [0, 1, -1, 1_700_000_000_000, 253_402_300_799_999, .min, .max]
    private static let blobs: [[UInt8]] = [[], [0], [0, 0], [1], [255], [97], [97, 0, 98]]
    private static let jsons = ["null", "1", "{}", "[1, 2]", "{\"a\":\"b\"}", "\"x\""]

    mutating func value(_ type: ColumnType) -> FieldValue {
        switch type {
        case .bool: .bool(random.chance(50))
        case .int64: .int64(random.pick(Self.integers))
        case .double: .double(random.pick(Self.doubles))
        case .decimal: .decimal(random.pick(Self.decimals))
        case .string: .string(random.pick(Self.texts))
        case .date: .date(random.pick(Self.dates))
        case .bytes: .bytes(random.pick(Self.blobs))
        case .json: .json(random.pick(Self.jsons))
        }
    }

    /// A record with all columns, or with some of them.
    mutating func record(_ id: RecordID, _ table: TableDefinition, columnsIn percent: Int = 100) -> Record {
        var record = Record(id: id)
        for column in table.allColumns where random.chance(percent) {
            record[column.name] = random.chance(20) ? .null : value(column.type)
        }
        return record
    }

    mutating func query(_ table: TableDefinition) -> Query {
        var query = Query(table.name)
        if random.chance(90) { query.predicate = predicate(table, depth: 4) }
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            query = query.ordered(by: random.pick(Self.columns), random.chance(50) ? .ascending : .descending)
        }
        if random.chance(30) { query.limit = Int.random(in: 0...20, using: &random) }
        if random.chance(30) { query.offset = Int.random(in: 0...10, using: &random) }
        if random.chance(30) { query.selection = [random.pick(Self.columns), random.pick(Self.columns)] }
        return query
    }

    mutating func predicate(_ table: TableDefinition, depth: Int) -> QueryPredicate {
        switch depth > 0 ? Int.random(in: 0..<100, using: &random) : 100 {
        case 0..<15: return .not(predicate(table, depth: depth - 1))
        case 15..<35: return .all(parts(table, depth))
        case 35..<55: return .any(parts(table, depth))
        default: return leaf(table)
        }
    }

    private mutating func parts(_ table: TableDefinition, _ depth: Int) -> [QueryPredicate] {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in predicate(table, depth: depth - 1) }
    }

    private mutating func leaf(_ table: TableDefinition) -> QueryPredicate {
        let left = expression(table, mostlyColumn: true)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<3: return .constant(random.chance(50))
        case 3..<20: return .match(left, random.pick(QueryMatch.allCases), expression(table, mostlyColumn: false))
        case 20..<40:
            let values = (0..<Int.random(in: 0...5, using: &random))
                .map { _ -> FieldValue in
                    if case .value(let value) = value(for: left, table) { value } else { .null }
                }
            return .isAnyOf(left, values)
        default:
            let right = value(for: left, table)
            return random.chance(80)
                ? .comparison(left, random.pick(QueryComparison.allCases), right)
                : .comparison(right, random.pick(QueryComparison.allCases), left)
        }
    }

    private mutating func expression(_ table: TableDefinition, mostlyColumn: Bool) -> QueryExpression {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<8: .lowercased(expression(table, mostlyColumn: mostlyColumn))
        case 8..<16: .uppercased(expression(table, mostlyColumn: mostlyColumn))
        case 16..<(mostlyColumn ? 85 : 35): .column(random.pick(Self.columns))
        case 16..<40 where random.chance(10): .value(.double(.nan))
        default: .value(random.chance(10) ? .null : value(random.pick(ColumnType.allCases)))
        }
    }

    /// A value that the other side of a comparison with the column can equal, most of the time.
    private mutating func value(for expression: QueryExpression, _ table: TableDefinition) -> QueryExpression {
        guard random.chance(70), case .column(let name) = expression else {
            return self.expression(table, mostlyColumn: false)
        }
        guard let type = table.type(of: name) else { return .value(.string(random.pick(Self.texts))) }
        let numeric: [ColumnType] = [.int64, .double, .decimal]
        return .value(value(numeric.contains(type) ? random.pick(numeric) : type))
    }
}
