internal import QueryEvaluation
internal import SeededNumbers
package import SyncContract

/// Random rows and queries over a table.
package struct RandomQueries {
    private var generator: SeededGenerator
    private let table: TableDefinition
    private let pool: ValuePool
    /// The types that the pool has values of.
    private let types: [ColumnType]
    private let columns: [String]

    /// The rows that queries are made for: what an expression has for one of them is a value worth comparing it with.
    package var rows: [Record] = []

    package init(_ table: TableDefinition, _ pool: ValuePool, seed: UInt64) {
        self.table = table
        self.pool = pool
        generator = SeededGenerator(seed: seed)
        let types = ColumnType.allCases.filter {
            $0 == .bytes ? !pool.blobs.isEmpty : $0 == .json ? !pool.jsons.isEmpty : true
        }
        self.types = types
        columns = ["id"] + table.allColumns.filter { types.contains($0.type) }.map(\.name)
    }

    // MARK: Rows

    /// A value of a type, never null.
    package mutating func value(_ type: ColumnType) -> FieldValue {
        switch type {
        case .bool: .bool(chance(50))
        case .int64: .int64(pick(pool.integers))
        case .double: .double(pick(pool.doubles))
        case .decimal: .decimal(DecimalText(pick(pool.decimals))!)
        case .string: .string(pick(pool.texts))
        case .date: .date(Timestamp(milliseconds: pick(pool.dates)))
        case .bytes: .bytes(pick(pool.blobs))
        case .json: .json(JSONText(pick(pool.jsons))!)
        }
    }

    /// A text of the pool.
    package mutating func text() -> String { pick(pool.texts) }

    /// A row with a value or a null in every column that the pool has values for.
    package mutating func record(_ id: RecordID) -> Record {
        var record = Record(id: id)
        for column in table.columns + table.systemProperties.columns where types.contains(column.type) {
            record[column.name] = chance(20) ? .null : value(column.type)
        }
        return record
    }

    // MARK: Queries

    /// A query with any of what queries can have.
    package mutating func query(depth: Int = 4) -> Query {
        var query = Query(table.name)
        if chance(95) { query.predicate = predicate(depth: depth) }
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            let column = pick(columns)
            let isText = column == "id" || table.type(of: column) == .string
            let isFolded = pool.isLocal && isText && chance(50)
            query = query.ordered(by: column, chance(50) ? .ascending : .descending, folded: isFolded)
        }
        if chance(30) { query.limit = Int.random(in: 0...20, using: &generator) }
        if chance(30) { query.offset = Int.random(in: 0...10, using: &generator) }
        if chance(10) { query.offset = 100_000 }
        if chance(30) { query.selection = [pick(columns), pick(columns)] }
        return query
    }

    private mutating func predicate(depth: Int) -> QueryPredicate {
        let branch = depth > 0 ? Int.random(in: 0..<100, using: &generator) : 100
        switch branch {
        case 0..<15: return .not(predicate(depth: depth - 1))
        case 15..<35: return .all(parts(depth))
        case 35..<55: return .any(parts(depth))
        default: return leaf()
        }
    }

    private mutating func parts(_ depth: Int) -> [QueryPredicate] {
        (0..<Int.random(in: 0...4, using: &generator)).map { _ in predicate(depth: depth - 1) }
    }

    private mutating func leaf() -> QueryPredicate {
        let kind = pick(Kind.allCases)
        let left = expression(kind, depth: chance(60) ? 0 : 3)
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<3: return .constant(chance(50))
        case 3..<6 where pool.isLocal:
            return .words(
                text() + " " + text(),
                chance(50) ? .prefixes : .wholeWords,
                in: [column(.text), column(.text)]
            )
        case 3..<20:
            return .match(
                expression(.text, depth: chance(60) ? 0 : 2),
                pick(QueryMatch.allCases),
                chance(70) ? .value(.string(text())) : expression(.text, depth: 2)
            )
        case 20..<40:
            let values = (0..<Int.random(in: 0...5, using: &generator))
                .map { _ -> FieldValue in
                    if case .value(let value) = counterpart(of: left, kind) { value } else { literal(kind) }
                }
            return .isAnyOf(left, values)
        default:
            let right = counterpart(of: left, kind)
            return chance(80)
                ? .comparison(left, pick(QueryComparison.allCases), right)
                : .comparison(right, pick(QueryComparison.allCases), left)
        }
    }

    /// What to compare an expression with.
    private mutating func counterpart(of left: QueryExpression, _ kind: Kind) -> QueryExpression {
        if chance(40), let row = rows.randomElement(using: &generator) {
            return .value(left.value { row[$0] ?? .null })
        }
        return chance(60) ? .value(literal(kind)) : expression(kind, depth: chance(50) ? 0 : 2)
    }

    // MARK: Expressions

    private enum Kind: CaseIterable {
        case number, text, date, other

        var types: [ColumnType] {
            switch self {
            case .number: [.int64, .double, .decimal]
            case .text: [.string]
            case .date: [.date]
            case .other: [.bool, .bytes, .json]
            }
        }
    }

    /// An expression that mostly has values of the kind.
    private mutating func expression(_ kind: Kind, depth: Int) -> QueryExpression {
        let kind = chance(4) ? pick(Kind.allCases) : kind
        guard depth > 0, chance(80) else {
            return chance(70) ? .column(column(kind)) : .value(literal(kind))
        }
        switch kind {
        case .number: return number(depth: depth - 1)
        case .text: return text(depth: depth - 1)
        case .date, .other: return .column(column(kind))
        }
    }

    private mutating func number(depth: Int) -> QueryExpression {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<55:
            let symbols: [QueryOperator] = [.add, .subtract, .multiply, .divide, .remainder]
            return .operation(expression(.number, depth: depth), pick(symbols), expression(.number, depth: depth))
        case 55..<70:
            return .function(pick([.rounded, .floor, .ceiling]), expression(.number, depth: depth))
        case 70..<80: return .function(.length, expression(.text, depth: depth))
        case 80..<90:
            return .operation(expression(.text, depth: depth), .position, expression(.text, depth: depth))
        default:
            return .function(pick([.year, .month, .day, .hour, .minute, .second]), expression(.date, depth: depth))
        }
    }

    private mutating func text(depth: Int) -> QueryExpression {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<45:
            let functions: [QueryFunction] = [.lowercased, .uppercased, .trimmed] + (pool.isLocal ? [.folded] : [])
            return .function(pick(functions), expression(.text, depth: depth))
        case 45..<65:
            return .operation(expression(.text, depth: depth), .concatenate, expression(.text, depth: depth))
        default:
            return .substring(
                expression(.text, depth: depth),
                from: position(depth: depth),
                count: chance(60) ? position(depth: depth) : nil
            )
        }
    }

    private mutating func position(depth: Int) -> QueryExpression {
        chance(70) ? .value(.int64(Int64.random(in: -1...4, using: &generator))) : expression(.number, depth: depth)
    }

    private mutating func column(_ kind: Kind) -> String {
        let fitting = columns.filter { kind.types.contains(table.type(of: $0) ?? .string) }
        return fitting.isEmpty ? pick(columns) : pick(fitting)
    }

    /// Mostly a value of the kind; now and then a null or what a store would refuse to keep.
    private mutating func literal(_ kind: Kind) -> FieldValue {
        if chance(8) { return .null }
        if pool.isLocal, chance(2) { return .double(.nan) }
        let fitting = kind.types.filter(types.contains)
        return value(fitting.isEmpty || chance(4) ? pick(types) : pick(fitting))
    }

    // MARK: Chance

    /// One of the values.
    package mutating func pick<Value>(_ values: [Value]) -> Value { values.randomElement(using: &generator)! }

    /// True in so many of a hundred cases.
    package mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
}
