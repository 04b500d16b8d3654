import QueryEvaluation
import QueryGenerator
import SeededNumbers
import SyncContract
import Testing

@testable import DatasyncHTTP

/// SQL's logic: what meets a null is neither true nor false, but for the question whether something is null.
private struct ThreeValuedLogic {
    let evaluator: QueryEvaluator
    let row: Record

    func value(_ predicate: QueryPredicate) -> Bool? {
        switch predicate {
        case .constant(let value): return value
        case .not(let part): return value(part).map { !$0 }
        case .all(let parts):
            let values = parts.map(value)
            return values.contains(false) ? false : values.contains(nil) ? nil : true
        case .any(let parts):
            let values = parts.map(value)
            return values.contains(true) ? true : values.contains(nil) ? nil : false
        case .comparison(let expression, .equal, .value(.null)): return isNull(expression)
        case .comparison(let expression, .notEqual, .value(.null)): return !isNull(expression)
        case .comparison(let left, _, let right), .match(let left, _, let right):
            return isNull(left) || isNull(right) ? nil : evaluator.holds(predicate) { row[$0] ?? .null }
        case .isAnyOf(let expression, let values):
            return value(.any(values.map { .comparison(expression, .equal, .value($0)) }))
        case .words: return nil
        }
    }

    private func isNull(_ expression: QueryExpression) -> Bool {
        evaluator.holds(.comparison(expression, .equal, .value(.null))) { row[$0] ?? .null }
    }
}

@Suite("Filters for servers whose logic is SQL's")
struct NullLogicTests {
    private static let table = TableDefinition(
        "things",
        columns: [
            .init("text", .string), .init("name", .string), .init("whole", .int64), .init("count", .int64),
            .init("number", .double), .init("due", .date), .init("flag", .bool),
        ],
        systemProperties: []
    )

    @Test("find in three values what the same query finds in two")
    func agreement() throws {
        let seed = SeededGenerator.seed()
        var random = RandomQueries(Self.table, .wire(wholeNumbers: false), seed: seed)
        let rows = (0..<40).map { random.record(.string("id-\($0)")) }
        random.rows = rows
        let evaluator = QueryEvaluator(Self.table)
        var differences = 0
        for index in 0..<SeededGenerator.rounds(1_000, all: 10_000) {
            guard let predicate = try random.query(depth: 3).predicate?.normalized() else { continue }
            let rewritten = predicate.forThreeValuedLogic
            for row in rows {
                let expected = evaluator.holds(predicate) { row[$0] ?? .null }
                let logic = ThreeValuedLogic(evaluator: evaluator, row: row)
                if (logic.value(predicate) ?? false) != expected { differences += 1 }
                guard (logic.value(rewritten) ?? false) == expected else {
                    Issue.record("seed \(seed), query \(index): \(predicate) for \(row)")
                    return
                }
            }
        }
        #expect(differences > 100, "seed \(seed): as they were, the queries would have found the same")
    }
}
