import SyncContract

/// Keeps the compiled queries of one table on one connection, so that a query which is asked again with other values is
/// bound and run, and nothing else.
final class QueryPlans {
    private struct Plan {
        let statement: CachedStatement
        let reader: RowReader
    }

    private let layout: TableLayout
    private var plans: [Query: Plan] = [:]

    /// How many are kept. An app that makes up more shapes than that begins again.
    private static let capacity = 16

    init(_ layout: TableLayout) { self.layout = layout }

    /// Hands the rows of a query to a closure, in order.
    func forEach(_ query: Query, in database: Database, _ body: (Record) throws -> Void) throws {
        guard let shaped = ShapedQuery(query, layout), let plan = try plans[shaped.shape] ?? makePlan(query, shaped)
        else {
            let (compiled, reader) = try compile(query)
            return try database.withStatement(compiled) { try Self.read($0, reader, body) }
        }
        try plan.statement.use(in: database) { statement in
            try statement.bind(shaped.values)
            try Self.read(statement, plan.reader, body)
        }
    }

    private static func read(_ statement: Statement, _ reader: RowReader, _ body: (Record) throws -> Void) throws {
        while try statement.step() { try body(reader.record(statement)) }
    }

    /// Nil for a query that SQL alone does not answer: its statement keeps a condition, which is none of the values.
    private func makePlan(_ query: Query, _ shaped: ShapedQuery) throws -> Plan? {
        let (compiled, reader) = try compile(query)
        guard compiled.rowConditions.isEmpty else { return nil }
        assert(compiled.bindings == shaped.values, "a shape has the values of its query")
        let plan = Plan(statement: CachedStatement(compiled.sql), reader: reader)
        if plans.count == Self.capacity { plans = [:] }
        plans[shaped.shape] = plan
        return plan
    }

    private func compile(_ query: Query) throws(StoreError) -> (CompiledQuery, RowReader) {
        let reader = RowReader(layout, selection: query.selection, readsSyncStates: query.includesSyncStates)
        return (try QueryCompiler.select(query, layout, columns: reader.sqlColumns), reader)
    }
}

/// A query taken apart: what its SQL depends on, and the values that are bound to it.
///
/// A comparison of a column with a value of the column's own kind is the same SQL whatever the value, and so is all that
/// is made of such comparisons. How anything else compiles may depend on the values: that has no shape.
struct ShapedQuery {
    /// The query with the same value in the place of every value that is bound. Queries of one shape have the same SQL.
    private(set) var shape: Query

    /// The values, in the order of their parameters.
    private(set) var values: [SQLValue] = []

    /// How many parts the predicate may still have. Larger ones are compiled faster than they are compared.
    private var remainingParts = 32

    private let layout: TableLayout

    init?(_ query: Query, _ layout: TableLayout) {
        // Refused when it is compiled.
        guard query.offset >= 0, query.limit ?? 0 >= 0 else { return nil }
        self.layout = layout
        shape = query
        if let predicate = query.predicate {
            guard let predicate = shape(of: predicate) else { return nil }
            shape.predicate = predicate
        }
        guard query.limit != nil || query.offset != 0 else { return }
        values += [.int64(Int64(query.limit ?? -1)), .int64(Int64(query.offset))]
        shape.limit = 0
        shape.offset = 0
    }

    private mutating func shape(of predicate: QueryPredicate) -> QueryPredicate? {
        remainingParts -= 1
        guard remainingParts >= 0 else { return nil }
        // Nothing is bound for states.
        if predicate.syncStates != nil { return predicate }
        switch predicate {
        case .constant: return predicate
        case .all(let parts): return shapes(of: parts).map(QueryPredicate.all)
        case .any(let parts): return shapes(of: parts).map(QueryPredicate.any)
        case .not(let part): return shape(of: part).map(QueryPredicate.not)
        case .comparison(.column(let column), let comparison, .value(let value)):
            return shape(of: value, in: column).map { .comparison(.column(column), comparison, .value($0)) }
        case .comparison(.value(let value), let comparison, .column(let column)):
            return shape(of: value, in: column).map { .comparison(.value($0), comparison, .column(column)) }
        // A comparison of the state with a column is the evaluator's, whose number is bound.
        case .comparison(.column(let left), _, .column(let right)):
            return [left, right].contains(SyncStateTerm.name) ? nil : predicate
        case .comparison, .match, .isAnyOf, .words: return nil
        }
    }

    private mutating func shapes(of predicates: [QueryPredicate]) -> [QueryPredicate]? {
        var shapes: [QueryPredicate] = []
        for predicate in predicates {
            guard let shape = shape(of: predicate) else { return nil }
            shapes.append(shape)
        }
        return shapes
    }

    /// What stands for a value that is compared with a column. Null is not bound.
    private mutating func shape(of value: FieldValue, in column: String) -> FieldValue? {
        guard !value.isNull else { return .null }
        guard let kind = value.comparableKind, kind == layout.kind(of: column) else { return nil }
        values.append(SQLValue(value))
        return .bool(true)
    }
}
