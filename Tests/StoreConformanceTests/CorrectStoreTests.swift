import ConformanceFixtures
import ConformanceRunner
import ReferenceStore
import SeededNumbers
import StoreConformance
import StoreHarnesses
import SyncContract
import Testing

@Suite("Correct stores pass every rule")
struct CorrectStoreTests {
    @Test("MemoryStore")
    func memory() async throws { try await expectPassed(MemoryStoreHarness(keepsUnknownColumns: true)) }

    @Test("the weakest legal MemoryStore, which keeps no undeclared keys")
    func weakestMemory() async throws {
        // The other chapters ask nothing about undeclared keys or states: the other MemoryStore has passed them.
        let chapters =
            SeededGenerator.rounds(1, all: 0) == 1
            ? ["upsert", "query", "order", "schema", "durability", "state", "sql"] : []
        let weakest = try await expectPassed(MemoryStoreHarness(keepsUnknownColumns: false), chapters: chapters)
        #expect(weakest.capabilities == ["migrations"])
        let negated = weakest.results.filter(\.checkedWithoutCapability)
        #expect(
            negated.map(\.rule.id)
                == [
                    "query.undeclared-key-not-queryable", "upsert.undeclared-key", "upsert.undeclared-key-merges",
                    "state.order", "sql.reads-only",
                ],
            "dropping can be observed"
        )
    }

    @Test("a store on a serial queue that undoes what was rolled back")
    func queue() async throws { try await expectPassed(QueueStoreHarness()) }

    @Test("a store over files of JSON")
    func files() async throws { try await expectPassed(FileStoreHarness()) }

    @Test("the store that the documentation builds step by step")
    func worked() async throws {
        let report = try await expectPassed(LogStoreHarness())
        #expect(report.capabilities == ["durable"])
    }

    @Test("EncryptedStore")
    func encrypted() async throws {
        let report = try await expectPassed(EncryptedStoreHarness())
        #expect(
            report.capabilities == ["durable", "encrypted", "migrations", "sql", "syncStates", "unknownColumns"]
        )
    }

    @discardableResult
    private func expectPassed(_ harness: some StoreHarness, chapters: [String] = []) async throws -> ConformanceReport {
        let suite = try StoreRules.suite.selecting(chapters: chapters)
        let report = try await suite.run(
            on: StoreSubject(harness),
            RunSettings(seed: SeededGenerator.chosenSeed)
        )
        print(
            "\(harness.name): \(report.count("passed")) passed, \(report.notApplicable.count) not applicable,"
                + " seed \(report.seed)"
        )
        for result in report.broken { Issue.record("\(harness.name): \(result)") }
        for result in report.notApplicable {
            guard case .notApplicable(let reason) = result.outcome else { continue }
            let isExplained =
                reason.contains("is not declared") || reason.contains("no function")
                || reason.contains("kills processes")
            #expect(isExplained, "\(result)")
        }
        #expect(report.results.count == suite.rules.count)
        return report
    }
}

extension MemoryStoreHarness {
    /// One that keeps undeclared keys and answers queries about states, or the weakest.
    convenience init(keepsUnknownColumns: Bool) {
        self.init(name: keepsUnknownColumns ? "MemoryStore" : "the weakest MemoryStore") { schema in
            MemoryStore(schema, keepsUnknownColumns: keepsUnknownColumns, answersSyncStates: keepsUnknownColumns)
        }
    }
}
