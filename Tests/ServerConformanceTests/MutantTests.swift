import ConformanceRunner
import DatasyncEmulator
import Foundation
import ServerConformance
import Testing

@Suite("The rules for servers judged by servers with one fault each", .serialized)
struct ServerMutantTests {
    @Test("every faulty server is named by its own rule, with input, expected and got")
    func score() async throws {
        var lines: [String] = []
        // Most of the time goes into starting and stopping servers: a few at a time.
        try await withThrowingTaskGroup(of: (ServerMutant, RuleResult).self) { group in
            for (index, mutant) in ServerMutant.all.enumerated() {
                if index >= 4, let (mutant, result) = try await group.next() { lines.append(line(mutant, result)) }
                group.addTask { (mutant, try await judge(mutant)) }
            }
            for try await (mutant, result) in group { lines.append(line(mutant, result)) }
        }
        let caught = lines.count { $0.hasPrefix("caught") }
        print("Mutation score of the rules for servers: \(caught) of \(ServerMutant.all.count)")
        if ProcessInfo.processInfo.environment["SEALEDSYNC_MUTANTS"] != nil { print(lines.joined(separator: "\n")) }
        #expect(ServerMutant.all.count >= 25)
    }

    private func judge(_ mutant: ServerMutant) async throws -> RuleResult {
        try await JudgedServer.with(mutant.serverProtocol, answering: mutant.answering) { server in
            try server.emulator.seed([["id": "bystander", "text": "not to be touched"]], in: JudgedServer.table)
            return try #require(try await server.judge([mutant.rule], seed: 1).results.first)
        }
    }

    private func line(_ mutant: ServerMutant, _ result: RuleResult) -> String {
        let isNamed = named(result)
        #expect(isNamed, "\(mutant) is not named: \(result)")
        return "\(isNamed ? "caught" : "ALIVE ")  \(mutant)"
    }

    private func named(_ result: RuleResult) -> Bool {
        guard case .failed(let violations) = result.outcome, result.isBroken else { return false }
        return !violations.isEmpty
            && violations.allSatisfy { !$0.input.isEmpty && !$0.expected.isEmpty && !$0.got.isEmpty }
    }
}
