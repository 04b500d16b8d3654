internal import RemoteContract
internal import SyncContract

/// Prints queries as OData text, not yet percent-encoded, in the words of a dialect.
struct ODataPrinter: Sendable {
    private let dialect: DatasyncDialect

    /// Whether `contains` looks for text in text, and not `substringof`.
    private let knowsContains: Bool

    /// The columns that are of another type there than text, where servers of the dialect have one.
    private let textForms: [String: TextForm]

    init(_ dialect: DatasyncDialect, _ table: TableDefinition? = nil, knowsContains: Bool = false) {
        self.dialect = dialect
        self.knowsContains = knowsContains || dialect == .datasync
        let columns = dialect == .datasync ? table?.columns ?? [] : []
        textForms = Dictionary(columns.filter { $0.textForm != .text }.map { ($0.name, $0.textForm) }) { first, _ in
            first
        }
    }

    /// The value of `$filter`; nil for all rows.
    func filter(_ query: Query) throws(RemoteError) -> String? {
        guard !query.includesSyncStates else { throw Self.localOnly("the sync state of a row") }
        guard let predicate = query.predicate else { return nil }
        let normalized = try Self.normalized(predicate)
        // Under protocol 2 the database's logic rules; servers of protocol 3 have two values.
        return try text(dialect == .azureMobileApps ? normalized.forThreeValuedLogic : normalized)
    }

    private static func normalized(_ predicate: QueryPredicate) throws(RemoteError) -> QueryPredicate {
        do throws(StoreError) {
            return try predicate.normalized()
        } catch {
            throw .invalidRequest(error.message)
        }
    }

    /// The value of `$orderby`; nil without an order. Ascending is not written: it is what a bare name means. A column that
    /// was named before decides nothing any more, and servers fail over it.
    func order(_ query: Query) throws(RemoteError) -> String? {
        var seen: Set<String> = []
        let entries = try query.order.filter { seen.insert($0.column.lowercased()).inserted }
            .map { (entry) throws(RemoteError) in
                guard !entry.isFolded else { throw Self.localOnly("an order by folded text") }
                return try name(entry.column) + (entry.direction == .descending ? " desc" : "")
            }
        return entries.isEmpty ? nil : entries.joined(separator: ",")
    }

    /// The value of `$skip`; nil when nothing is left out.
    func skip(_ query: Query) throws(RemoteError) -> String? {
        guard query.offset >= 0 else {
            throw .invalidRequest("A query of '\(query.table)' has a negative offset; use 0 or more.")
        }
        return query.offset > 0 ? String(query.offset) : nil
    }

    /// The value of `$top`; nil without a limit.
    func top(_ query: Query) throws(RemoteError) -> String? {
        guard query.limit ?? 0 >= 0 else {
            throw .invalidRequest("A query of '\(query.table)' has a negative limit; use 0 or more.")
        }
        return query.limit.map(String.init)
    }

    /// The value of `$select`: the named columns and the id, without which a row is of no use; nil for all columns.
    func selection(_ query: Query) throws(RemoteError) -> String? {
        guard let selection = query.selection else { return nil }
        return try Set(selection + ["id"]).sorted().map(name).joined(separator: ",")
    }

    private func text(_ predicate: QueryPredicate) throws(RemoteError) -> String {
        switch predicate {
        case .constant(let value): return Self.constant(value)
        case .all(let parts): return try joined(parts, " and ", ifEmpty: true)
        case .any(let parts): return try joined(gathered(parts), " or ", ifEmpty: false)
        case .not(let part): return "not(\(try text(part)))"
        case .isAnyOf(let expression, let values): return try text(expression, isAnyOf: values)
        case .match(let subject, let match, let pattern): return try text(subject, match, pattern)
        case .words: throw Self.localOnly("a search for words")
        case .comparison(let left, let comparison, let right):
            // Never true, but servers disagree about it once it is negated.
            if comparison.isOrdering, left.kind == .null || right.kind == .null { return Self.constant(false) }
            return "(\(try text(left, besides: right)) \(comparison.word) \(try text(right, besides: left)))"
        }
    }

    private func joined(
        _ parts: [QueryPredicate],
        _ separator: String,
        ifEmpty empty: Bool
    ) throws(RemoteError) -> String {
        switch parts.count {
        case 0: return Self.constant(empty)
        case 1: return try text(parts[0])
        default: return "(" + (try parts.map(text)).joined(separator: separator) + ")"
        }
    }

    private func text(_ expression: QueryExpression, isAnyOf values: [FieldValue]) throws(RemoteError) -> String {
        // A list counts as one node where a chain counts five for every value, and servers bound the number of nodes.
        let listed =
            dialect == .datasync && textForm(of: expression) == .text ? values.filter(ODataLiteral.isSafeInList) : []
        guard listed.count > 1 else {
            return try joined(values.map { .comparison(expression, .equal, .value($0)) }, " or ", ifEmpty: false)
        }
        let literals = try listed.map { (value) throws(RemoteError) in try ODataLiteral.text(value, in: dialect) }
        let list = "(\(try text(expression)) in (\(literals.joined(separator: ","))))"
        let others = values.filter { !ODataLiteral.isSafeInList($0) }
        return others.isEmpty ? list : "(\(list) or \(try text(expression, isAnyOf: others)))"
    }

    /// The parts of a chain with every equality of one expression that can stand in a list as one list.
    private func gathered(_ parts: [QueryPredicate]) -> [QueryPredicate] {
        guard dialect == .datasync else { return parts }
        var values: [QueryExpression: [FieldValue]] = [:]
        for (expression, value) in parts.compactMap(\.listableEquality) where textForm(of: expression) == .text {
            values[expression, default: []].append(value)
        }
        return parts.compactMap { part in
            guard let (expression, _) = part.listableEquality, let all = values[expression], all.count != 1 else {
                return part
            }
            // The list stands where the first of them stood.
            values[expression] = []
            return all.isEmpty ? nil : .isAnyOf(expression, all)
        }
    }

    private func text(
        _ subject: QueryExpression,
        _ match: QueryMatch,
        _ pattern: QueryExpression
    ) throws(RemoteError) -> String {
        // What is not text contains none. Servers would refuse the types instead.
        guard subject.mayBe(.text), pattern.mayBe(.text) else { return Self.constant(false) }
        let subject = try text(subject)
        let pattern = try text(pattern)
        switch match {
        case .contains where knowsContains: return "contains(\(subject),\(pattern))"
        case .contains: return "substringof(\(pattern),\(subject))"
        case .startsWith: return "startswith(\(subject),\(pattern))"
        case .endsWith: return "endswith(\(subject),\(pattern))"
        }
    }

    /// What an expression's text is to the server.
    private func textForm(of expression: QueryExpression) -> TextForm {
        if case .column(let name) = expression { textForms[name] ?? .text } else { .text }
    }

    /// An expression that is held against another one: a text beside a column that the server has as another type is a
    /// literal of that type.
    private func text(_ expression: QueryExpression, besides other: QueryExpression) throws(RemoteError) -> String {
        guard case .value(.string(let value)) = expression, case .column(let column) = other,
            let form = textForms[column]
        else { return try text(expression) }
        switch form {
        case .text: return try text(expression)
        case .day: if let day = Day(value) { return "cast(\(day.text),Edm.Date)" }
        case .timeOfDay: if let time = TimeOfDay(value) { return "cast(\(time.text),Edm.TimeOfDay)" }
        }
        throw .invalidRequest(
            "A query compares column '\(column)', which holds \(form == .day ? "days" : "times of day"), with a text that is"
                + " none; compare it with one."
        )
    }

    private func text(_ expression: QueryExpression) throws(RemoteError) -> String {
        // What cannot have a value for any row. Servers would refuse the types instead.
        if expression.kind == .null { return "null" }
        switch expression {
        case .column(let column): return try name(column)
        case .value(let value): return try ODataLiteral.text(value, in: dialect)
        case .function(let function, let operand):
            guard let word = function.word else { throw Self.localOnly("folded text") }
            return "\(word)(\(try text(operand)))"
        case .operation(let left, let symbol, let right):
            let (left, right) = (try text(left), try text(right))
            return symbol.isFunction ? "\(symbol.word)(\(left),\(right))" : "(\(left) \(symbol.word) \(right))"
        case .substring(let subject, let start, let count):
            let arguments = [subject, start] + (count.map { [$0] } ?? [])
            return "substring(\(try arguments.map(text).joined(separator: ",")))"
        }
    }

    private static func localOnly(_ what: String) -> RemoteError {
        .invalidRequest(
            "\(what) is known to the local store only; read without it from the server, then search locally."
        )
    }

    /// A column's name. It stands in the query unquoted, so it must not be able to say anything else.
    private func name(_ column: String) throws(RemoteError) -> String {
        guard column != SyncStateTerm.name else { throw Self.localOnly("the sync state of a row") }
        let isName = column.utf8.allSatisfy {
            (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95
        }
        guard isName, let first = column.utf8.first, !(48...57).contains(first) else {
            throw .invalidRequest(
                "'\(column)' cannot be a column in a query: use a letter or underscore, then letters, digits and"
                    + " underscores."
            )
        }
        return column
    }

    private static func constant(_ value: Bool) -> String { value ? "(1 eq 1)" : "(1 eq 0)" }
}

extension QueryPredicate {
    fileprivate var listableEquality: (QueryExpression, FieldValue)? {
        guard case .comparison(let expression, .equal, .value(let value)) = self, ODataLiteral.isSafeInList(value)
        else {
            return nil
        }
        return (expression, value)
    }
}

extension QueryComparison {
    fileprivate var word: String {
        switch self {
        case .equal: "eq"
        case .notEqual: "ne"
        case .less: "lt"
        case .lessOrEqual: "le"
        case .greater: "gt"
        case .greaterOrEqual: "ge"
        }
    }

    fileprivate var isOrdering: Bool { self != .equal && self != .notEqual }
}
