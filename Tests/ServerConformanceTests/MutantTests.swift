import ConformanceRunner
import DatasyncEmulator
import Foundation
import ServerConformance
import Testing

@Suite("The rules for servers judged by servers with one fault each", .serialized)
struct ServerMutantTests {
    @Test("every faulty server is named by its own rule, with input, expected and got")
    func score() async throws {
        var caught = 0
        var lines: [String] = []
        for mutant in ServerMutant.all {
            let report = try await JudgedServer.with(mutant.serverProtocol, answering: mutant.answering) { server in
                try server.emulator.seed([["id": "bystander", "text": "not to be touched"]], in: JudgedServer.table)
                return try await server.judge([mutant.rule], seed: 1)
            }
            let result = try #require(report.results.first)
            let isNamed = named(result)
            caught += isNamed ? 1 : 0
            lines.append("\(isNamed ? "caught" : "ALIVE ")  \(mutant)")
            #expect(isNamed, "\(mutant) is not named: \(result)")
        }
        print("Mutation score of the rules for servers: \(caught) of \(ServerMutant.all.count)")
        if ProcessInfo.processInfo.environment["SEALEDSYNC_MUTANTS"] != nil { print(lines.joined(separator: "\n")) }
        #expect(ServerMutant.all.count >= 25)
    }

    private func named(_ result: RuleResult) -> Bool {
        guard case .failed(let violations) = result.outcome, result.isBroken else { return false }
        return !violations.isEmpty
            && violations.allSatisfy { !$0.input.isEmpty && !$0.expected.isEmpty && !$0.got.isEmpty }
    }
}
