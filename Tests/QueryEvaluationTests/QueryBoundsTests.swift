import QueryEvaluation
import SyncContract
import Testing

@Suite("Bounds of predicates")
struct QueryBoundsTests {
    private static let table = TableDefinition("t", columns: [.init("n", .int64)])
    private static let evaluator = QueryEvaluator(table)

    private func isRefused(_ predicate: QueryPredicate) -> Bool {
        let query = Query("t").filtered(by: predicate)
        let verdicts = [
            code { _ = try Self.evaluator.evaluate(query, over: [Record(id: "1", ["n": 1])]) },
            code { _ = try Self.evaluator.matches(Record(id: "1", ["n": 1]), predicate) },
            code { try query.validate(for: Self.table) },
        ]
        #expect(Set(verdicts).count == 1)
        #expect(verdicts[0] == nil || verdicts[0] == .invalidQuery)
        return verdicts[0] != nil
    }

    private func code(_ body: () throws -> Void) -> StoreError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    @Test("64 levels are taken and 65 are not, whatever they are made of")
    func depth() {
        let leaf = Column("n") == 1
        let steps: [(Int, (QueryPredicate) -> QueryPredicate)] = [
            (1, { !$0 }), (2, { .any([leaf, .all([leaf, $0])]) }), (2, { .all([!($0)]) }),
        ]
        for (levels, step) in steps {
            var predicate = leaf
            for depth in stride(from: 1 + levels, through: 80, by: levels) {
                predicate = step(predicate)
                #expect(isRefused(predicate) == (depth > 64), "\(depth)")
            }
        }
    }

    @Test("a chain of one operator is one level, however it was put together")
    func chains() throws {
        let parts = (0..<5_000).map { Column("n") == .int64($0) }
        let leftward = parts.dropFirst().reduce(parts[0]) { $0 || $1 }
        let rightward = parts.dropLast().reversed().reduce(parts[4_999]) { $1 || $0 }
        for predicate in [leftward, rightward, !rightward, .any(parts)] {
            #expect(!isRefused(predicate))
        }
        #expect(try Self.evaluator.matches(Record(id: "1", ["n": 4_999]), leftward))
        #expect(try !Self.evaluator.matches(Record(id: "1", ["n": 4_999]), !rightward))
    }

    @Test("100,000 parts are taken and more are not; values of a list do not count")
    func size() {
        let leaf = Column("n") == 1
        #expect(!isRefused(.all(Array(repeating: leaf, count: 99_000))))
        #expect(isRefused(.all(Array(repeating: leaf, count: 101_000))))
        #expect(!isRefused(Column("n").isAny(of: (0..<200_000).map(FieldValue.int64))))
    }

    @Test("a tree that shares its parts is refused before it is walked")
    func sharedParts() {
        var predicate = Column("n") == 1
        for index in 0..<60 {
            predicate = index % 2 == 0 ? .all([predicate, predicate]) : .any([predicate, predicate])
        }
        #expect(isRefused(predicate))
        var chain = Column("n") == 1
        for _ in 0..<1_000 { chain = .all(Array(repeating: chain, count: 1_000)) }
        #expect(isRefused(chain))
        var expression = QueryExpression.column("n")
        for _ in 0..<64 { expression = .operation(expression, .add, expression) }
        #expect(isRefused(.comparison(expression, .equal, .value(1))))
    }

    @Test("the expressions of a comparison have 100 parts together and no more")
    func expressions() {
        func sum(_ terms: Int) -> QueryExpression {
            (1..<terms).reduce(.column("n")) { sum, _ in .operation(sum, .add, .column("n")) }
        }
        // n terms are n columns and n - 1 operators.
        #expect(!isRefused(.comparison(sum(50), .equal, .value(1))))
        #expect(isRefused(.comparison(sum(50), .equal, .function(.floor, .value(1)))))
        #expect(!isRefused(.comparison(sum(25), .less, sum(25))))
        #expect(isRefused(.match(sum(26), .contains, sum(26))))
        #expect(isRefused(.isAnyOf(sum(51), [1])))
    }

    @Test("100,000 levels are refused, not walked into")
    func hostileDepth() {
        let leaf = Column("n") == 1
        var negation = leaf
        for _ in 0..<100_000 { negation = !negation }
        #expect(isRefused(negation))
        var alternation = leaf
        for index in 0..<100_000 { alternation = index % 2 == 0 ? .all([alternation]) : .any([alternation]) }
        #expect(isRefused(alternation))
        var chain = leaf
        for _ in 0..<100_000 { chain = chain && leaf }
        #expect(isRefused(chain))
        var expression = QueryExpression.column("n")
        for _ in 0..<100_000 { expression = .function(.floor, expression) }
        #expect(isRefused(.comparison(expression, .equal, .value(1))))
        // Swift frees a tree level by level, on the stack: these are never freed.
        for predicate in [negation, alternation, chain] { Self.keepForever(predicate) }
        Self.keepForever(.comparison(expression, .equal, .value(1)))
    }

    private static func keepForever(_ predicate: QueryPredicate) {
        final class Holder {
            let predicate: QueryPredicate
            init(_ predicate: QueryPredicate) { self.predicate = predicate }
        }
        _ = unsafe Unmanaged.passRetained(Holder(predicate))
    }
}
