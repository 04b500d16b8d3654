import QueryEvaluation
import SyncContract
import Synchronization

/// A condition that SQL calls back for, row by row: what it says is what `QueryEvaluator` says.
///
/// SQL holds its number only. Whoever runs the statement keeps the condition alive; a number whose condition is gone
/// makes the statement fail.
final class RowCondition: Sendable {
    /// What stands for the condition in SQL; no two conditions of this process have the same.
    let number: Int64

    /// The columns whose values it takes, in order.
    let columns: [QueryOperand.Column]

    /// Whether the values come as packed lists: SQLite takes no more than 100 arguments.
    var isPacked: Bool { columns.count > Self.maximumArgumentCount }

    /// How many values are handed over at once.
    static let maximumArgumentCount = 90

    private let predicate: QueryPredicate
    private let evaluator: QueryEvaluator
    private let indexes: [String: Int]

    init(_ predicate: QueryPredicate, _ columns: [QueryOperand.Column], of table: TableDefinition) {
        number = Self.registry.withLock { $0.reserveNumber() }
        self.predicate = predicate
        self.columns = columns
        evaluator = QueryEvaluator(table)
        indexes = Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1.name, $0) })
        Self.registry.withLock { $0.conditions[number] = Entry(condition: self) }
    }

    deinit {
        Self.registry.withLock { $0.conditions[number] = nil }
    }

    /// Whether the condition holds for the values of its columns; nil when they cannot be its columns' values.
    func holds(_ values: [SQLValue]) -> Bool? {
        guard values.count == columns.count else { return nil }
        var isWhole = true
        let holds = evaluator.holds(predicate) { name in
            guard let index = indexes[name], let value = FieldValue(values[index], columns[index].kind) else {
                isWhole = false
                return .null
            }
            return value
        }
        return isWhole ? holds : nil
    }

    // MARK: Finding conditions by their numbers

    private struct Entry {
        weak let condition: RowCondition?
    }

    private struct Registry {
        var conditions: [Int64: Entry] = [:]
        private var lastNumber: Int64 = 0

        mutating func reserveNumber() -> Int64 {
            lastNumber += 1
            return lastNumber
        }
    }

    private static let registry = Mutex(Registry())

    /// The condition with a number, as long as someone keeps it.
    static func find(_ number: Int64) -> RowCondition? {
        registry.withLock { $0.conditions[number]?.condition }
    }
}

extension RowCondition: Hashable {
    /// Compares identity.
    static func == (left: RowCondition, right: RowCondition) -> Bool { left === right }

    /// Hashes what `==` compares.
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

extension FieldValue {
    /// The value that a column of a kind stores in this form; nil when no such column does.
    fileprivate init?(_ stored: SQLValue, _ kind: ColumnType) {
        switch (kind, stored) {
        case (_, .null): self = .null
        case (.bool, .int64(let value)): self = .bool(value != 0)
        case (.int64, .int64(let value)): self = .int64(value)
        case (.date, .int64(let value)): self = .date(Timestamp(milliseconds: value))
        case (.double, .double(let value)): self = .double(value)
        case (.double, .int64(let value)): self = .double(Double(value))
        case (.decimal, .text(let value)):
            guard let decimal = DecimalText(value) else { return nil }
            self = .decimal(decimal)
        case (.string, .text(let value)): self = .string(value)
        case (.json, .text(let value)): self = .json(JSONText(validated: value))
        case (.bytes, .blob(let value)): self = .bytes(value)
        default: return nil
        }
    }
}
