/// A value inside a query: what a literal says or a column holds.
enum ODataValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case decimal(ODataDecimal)
    case string(String)
    /// Units of 100 nanoseconds since 1970.
    case instant(Int64)
    /// The start of a day in UTC, in units of 100 nanoseconds since 1970.
    case day(Int64)
    /// Units of 100 nanoseconds since midnight.
    case time(Int64)
    /// Lower case.
    case guid(String)
    /// An array or object, which no operator applies to.
    case structured

    /// What a column of a declared type holds; of an undeclared one, what it looks like.
    init(_ value: JSONValue, _ type: EmulatedTableDefinition.ColumnType? = nil) {
        switch (type?.kind, value) {
        case (.decimal, .integer(let value)): self = .decimal(ODataDecimal(value))
        case (.decimal, .double(let value)): self = ODataDecimal(value).map(ODataValue.decimal) ?? .null
        case (.date, .string(let text)): self = Timestamp.ticks(isoText: text).map(ODataValue.instant) ?? .null
        case (.day, .string(let text)): self = Timestamp.ticks(isoText: text).map(ODataValue.day) ?? .null
        case (.time, .string(let text)): self = Timestamp.timeOfDayTicks(text).map(ODataValue.time) ?? .null
        case (.uuid, .string(let text)): self = .guid(text.lowercased())
        case (.json, _) where value != .null: self = .structured
        default: self.init(value)
        }
    }

    private init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .double(value)
        case .decimal(let digits): self = ODataDecimal(digits).map(ODataValue.decimal) ?? .null
        case .string(let value): self = .string(value)
        case .array, .object: self = .structured
        }
    }

    var isNull: Bool { self == .null }

    /// The truth of a condition: only `true` is true, null is not.
    var isTrue: Bool { self == .bool(true) }

    // MARK: Views

    var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): value.double
        default: nil
        }
    }

    /// A number's digits; of a binary number, the fewest that read back as it.
    var decimal: ODataDecimal? {
        switch self {
        case .integer(let value): ODataDecimal(value)
        case .double(let value): ODataDecimal(value)
        case .decimal(let value): value
        default: nil
        }
    }

    var text: String? {
        switch self {
        case .string(let text), .guid(let text): text
        default: nil
        }
    }

    var instant: Int64? {
        switch self {
        case .instant(let ticks), .day(let ticks): ticks
        case .string(let text): Timestamp.ticks(isoText: text)
        default: nil
        }
    }

    /// The day of an instant, counted from 1970.
    var day: Int64? {
        instant.map {
            ($0 - (($0 % Timestamp.ticksPerDay) + Timestamp.ticksPerDay) % Timestamp.ticksPerDay)
                / Timestamp.ticksPerDay
        }
    }

    var timeOfDay: Int64? {
        switch self {
        case .time(let ticks): ticks
        case .string(let text): Timestamp.timeOfDayTicks(text)
        default: nil
        }
    }

    // MARK: Order

    enum Order {
        case ascending
        case same
        case descending

        init<Value: Comparable>(_ first: Value, _ second: Value) {
            self = first < second ? .ascending : first == second ? .same : .descending
        }
    }

    /// How two values compare; nil when they do not. Null equals null here and compares with nothing else.
    func order(to other: ODataValue) -> Order? {
        switch (self, other) {
        case (.null, .null): .same
        case (.null, _), (_, .null): nil
        case (.bool(let first), .bool(let second)): Order(first ? 1 : 0, second ? 1 : 0)
        case (.integer(let first), .integer(let second)): Order(first, second)
        case (.double(let first), .double(let second)): first.isNaN || second.isNaN ? nil : Order(first, second)
        case (.double(let first), _) where first.isInfinite: Self.pair(first, other.double).map { Order($0, $1) }
        case (_, .double(let second)) where second.isInfinite: Self.pair(double, second).map { Order($0, $1) }
        case (.integer, .double), (.double, .integer), (.decimal, _), (_, .decimal):
            Self.pair(decimal, other.decimal).map { Order($0.compare(to: $1), 0) }
        case (.string(let first), .string(let second)): Order(RowID(first), RowID(second))
        case (.guid, .guid), (.guid, .string), (.string, .guid):
            Self.pair(text, other.text).map { Order(RowID($0.lowercased()), RowID($1.lowercased())) }
        case (.day, _), (_, .day): Self.pair(day, other.day).map { Order($0, $1) }
        case (.instant, _), (_, .instant): Self.pair(instant, other.instant).map { Order($0, $1) }
        case (.time, _), (_, .time): Self.pair(timeOfDay, other.timeOfDay).map { Order($0, $1) }
        default: nil
        }
    }

    private static func pair<Value>(_ first: Value?, _ second: Value?) -> (Value, Value)? {
        guard let first, let second else { return nil }
        return (first, second)
    }

    /// The order of a sort: nulls at one end, then by value; values that do not compare go by kind.
    func sortOrder(to other: ODataValue, nullsLast: Bool = false) -> Order {
        if nullsLast, isNull != other.isNull { return isNull ? .descending : .ascending }
        return order(to: other) ?? Order(rank, other.rank)
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .integer, .double, .decimal: 2
        case .string, .guid: 3
        case .instant, .day: 4
        case .time: 5
        case .structured: 6
        }
    }
}
