import ConformanceFixtures
import ConformanceRunner
import StoreConformance
import Testing

@Suite("Failures of chance are told short")
struct ShrinkingTests {
    @Test("a list keeps what its failure needs, in its order")
    func lists() async {
        let least = await shrunk(Array(0..<200)) { $0.contains(17) && $0.contains(150) }
        #expect(least == [17, 150])
        var tries = 0
        let unfinished = await shrunk(Array(0..<200), tries: 5) { list in
            tries += 1
            return list.contains(17)
        }
        #expect(tries == 5 && unfinished.contains(17) && unfinished.count < 200)
    }

    @Test("a random query that fails is told with a few rows", arguments: ["query.random", "query.random-folding"])
    func queries(_ id: String) async throws {
        let mutant = try #require(Mutant.all.first { $0.rule == id })
        let rule = try #require(StoreRules.all.first { $0.id == id })
        let result = try await rule.run(on: mutant.harness(), RunSettings(seed: 1))
        guard case .failed(let violations) = result.outcome, let first = violations.first else {
            Issue.record("\(result)")
            return
        }
        #expect(!first.input.contains(" rows"), "rows are shown, not counted: \(first)")
    }

    @Test("random transactions that fail are told as the few that are needed")
    func transactions() async throws {
        let mutant = try #require(Mutant.all.first { $0.rule == "transaction.rollback-random" })
        let rule = try #require(StoreRules.all.first { $0.id == mutant.rule })
        let result = try await rule.run(on: mutant.harness(), RunSettings(seed: 1))
        guard case .failed(let violations) = result.outcome, let first = violations.first else {
            Issue.record("\(result)")
            return
        }
        #expect(first.input.hasPrefix("one transaction after the other: "), "\(first)")
    }
}
