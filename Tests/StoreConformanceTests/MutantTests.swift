import ConformanceFixtures
import ConformanceRunner
import Foundation
import StoreConformance
import Testing

@Suite("The kit judged by stores that break one sentence each")
struct MutantTests {
    /// Rules that see something only while another thread runs beside a closure.
    private static let needTwoProcessors: Set = [
        "transaction.cancelled-while-waiting", "concurrency.no-half-transactions", "concurrency.snapshot-stands-still",
        "concurrency.writers-do-not-overlap", "concurrency.readers-of-a-rollback",
        "concurrency.reads-beside-a-write", "concurrency.snapshot-of-everything",
        "concurrency.rollback-of-everything", "concurrency.snapshot-of-all-tables",
    ]

    @Test(
        "every mutant is named by its own rule, with input, expected and got",
        arguments: Mutant.all.filter { !needTwoProcessors.contains($0.rule) }
    )
    func named(_ mutant: Mutant) async throws {
        let result = try await run(mutant.rule, mutant.harness())
        #expect(names(result), "\(mutant) is not named: \(result)")
    }

    @Test(
        "every mutant of a store on files is named by its own rule, with input, expected and got",
        arguments: FileMutant.all.filter { !$0.needsProcesses }
    )
    func named(_ mutant: FileMutant) async throws {
        let result = try await run(mutant.rule, mutant.harness())
        #expect(names(result), "\(mutant) is not named: \(result)")
    }

    @Test(
        "every mutant of a store with SQL is named by its own rule, with input, expected and got",
        arguments: SQLMutant.all
    )
    func named(_ mutant: SQLMutant) async throws {
        let result = try await run(mutant.rule, mutant.harness)
        #expect(names(result), "\(mutant) is not named: \(result)")
    }

    /// Each in a process of its own: here other tests may hold the second thread of the pool.
    @Test(
        "every mutant that is seen from beside a closure is named by its own rule",
        .enabled(
            if: ProcessInfo.processInfo.activeProcessorCount > 1,
            "with one processor nothing runs beside a closure"
        ),
        arguments: Mutant.all.filter { needTwoProcessors.contains($0.rule) }
    )
    func namedByOwnProcess(_ mutant: Mutant) async throws {
        let output = try await FixtureProgram.run([mutant.fault, "--rule", mutant.rule, "--json", "--seed", "1"])
        try expectNamed(mutant.rule, in: output, "\(mutant): \(output.text)")
    }

    @Test(
        "every store whose transactions disturb each other is named by its rule, in a few of its transactions",
        arguments: AnomalousStore.Anomaly.allCases
    )
    func named(_ anomaly: AnomalousStore.Anomaly) async throws {
        let result = try await run(anomaly.rule, AnomalousHarness(anomaly))
        #expect(names(result), "'\(anomaly.rawValue)' is not named: \(result)")
    }

    @Test("every rule is seen to fail: it has a mutant of its own")
    func everyRule() {
        let judged = Set(
            Mutant.all.map(\.rule) + FileMutant.all.map(\.rule) + SQLMutant.all.map(\.rule)
                + AnomalousStore.Anomaly.allCases.map(\.rule)
        )
        let unseen = StoreRules.all.map(\.id).filter { !judged.contains($0) }
        #expect(unseen.isEmpty, "no mutant for \(unseen)")
        #expect(Mutant.all.count + FileMutant.all.count { !$0.needsProcesses } >= 337)
    }

    @Test(
        "a mutant that only the death of a process shows is named by a program of the kit",
        arguments: FileMutant.all.filter(\.needsProcesses)
    )
    func killed(_ mutant: FileMutant) async throws {
        let output = try await FixtureProgram.run([mutant.fault, "--rule", mutant.rule, "--json", "--seed", "1"])
        try expectNamed(mutant.rule, in: output, "\(mutant): \(output.text)")
    }

    private func run(_ id: String, _ harness: some StoreHarness) async throws -> RuleResult {
        let rule = try #require(StoreRules.all.first { $0.id == id }, "no rule '\(id)'")
        var settings = RunSettings(seed: 1)
        // What a mutant does not deliver is waited for in vain.
        settings.patience = 0.5
        return try await rule.run(on: harness, settings)
    }

    /// A program names what breaks a rule as failed and ends with 1; of what merely should be it notes it and ends with 0.
    private func expectNamed(_ id: String, in output: FixtureProgram.Output, _ told: String) throws {
        let isAdvice = try #require(StoreRules.all.first { $0.id == id }).definition.level.isAdvice
        #expect(output.status == (isAdvice ? 0 : 1), "\(told)")
        #expect(try output.json().status(of: id) == (isAdvice ? "noted" : "failed"), "\(told)")
    }

    private func names(_ result: RuleResult) -> Bool {
        guard case .failed(let violations) = result.outcome, result.isBroken || result.isAdvised else { return false }
        return !violations.isEmpty
            && violations.allSatisfy {
                !$0.input.isEmpty && !$0.expected.isEmpty && !$0.got.isEmpty && $0.got != $0.expected
            }
    }
}

extension RuleResult {
    /// Whether the rule is one that should be kept and need not.
    fileprivate var isAdvised: Bool { rule.level.isAdvice }
}

extension RuleLevel {
    /// Whether what does otherwise is noted and not broken.
    fileprivate var isAdvice: Bool {
        if case .recommended = self { true } else { false }
    }
}
