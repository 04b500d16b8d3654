import ConformanceRunner
import RemoteConformance
import Testing

@Suite("The rules for remotes judged by remotes with one fault each")
struct RemoteMutantTests {
    @Test("every faulty remote is named by its own rule, with input, expected and got", arguments: RemoteMutant.all)
    func named(_ mutant: RemoteMutant) async throws {
        let suite = try RemoteRules.suite.selecting(ids: [mutant.rule])
        let report = try await suite.run(on: RemoteSubject(mutant.harness), RunSettings(seed: 1))
        let result = try #require(report.results.first)
        #expect(names(result), "\(mutant.name) is not named: \(result)")
    }

    @Test("there are remotes with every fault")
    func count() {
        #expect(RemoteMutant.all.count >= 105)
    }

    private func names(_ result: RuleResult) -> Bool {
        guard case .failed(let violations) = result.outcome, result.isBroken else { return false }
        return !violations.isEmpty
            && violations.allSatisfy { !$0.input.isEmpty && !$0.expected.isEmpty && !$0.got.isEmpty }
    }
}
