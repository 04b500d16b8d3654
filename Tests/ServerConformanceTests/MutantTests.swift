import ConformanceRunner
import DatasyncEmulator
import ServerConformance
import Testing

@Suite("The rules for servers judged by servers with one fault each")
struct ServerMutantTests {
    @Test("every faulty server is named by its own rule, with input, expected and got", arguments: ServerMutant.all)
    func named(_ mutant: ServerMutant) async throws {
        let result = try await JudgedServer.with(mutant.serverProtocol, by: .memory, answering: mutant.answering) {
            server in
            try server.emulator.seed([["id": "bystander", "text": "not to be touched"]], in: JudgedServer.table)
            return try #require(try await server.judge([mutant.rule], seed: 1).results.first)
        }
        #expect(names(result), "\(mutant) is not named: \(result)")
    }

    @Test("what servers may do otherwise is noted by its rule, with the reason", arguments: ServerMutant.noted)
    func noted(_ server: ServerMutant) async throws {
        let report = try await JudgedServer.with(server.serverProtocol, by: .memory, answering: server.answering) {
            judged in try await judged.judge([server.rule], seed: 1)
        }
        let result = try #require(report.results.first)
        #expect(report.isPassed, "\(report.broken)")
        guard case .noted(let notes) = result.outcome else {
            Issue.record("\(server) is not noted: \(result)")
            return
        }
        #expect(notes.allSatisfy { $0.remark?.isEmpty == false }, "\(result)")
    }

    @Test("there are servers with every fault")
    func count() {
        #expect(ServerMutant.all.count >= 246)
        #expect(ServerMutant.noted.count >= 11)
    }

    private func names(_ result: RuleResult) -> Bool {
        guard case .failed(let violations) = result.outcome, result.isBroken else { return false }
        return !violations.isEmpty
            && violations.allSatisfy { !$0.input.isEmpty && !$0.expected.isEmpty && !$0.got.isEmpty }
    }
}
