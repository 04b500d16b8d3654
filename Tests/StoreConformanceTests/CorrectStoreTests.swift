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
    func memory() async throws { try await expectPassed(MemoryHarness(keepsUnknownColumns: true)) }

    @Test("the weakest legal MemoryStore, which keeps no undeclared keys")
    func weakestMemory() async throws {
        // The other chapters ask nothing about undeclared keys or states: the other MemoryStore has passed them.
        let chapters =
            SeededGenerator.rounds(1, all: 0) == 1 ? ["upsert", "query", "order", "schema", "durability", "state"] : []
        let weakest = try await expectPassed(MemoryHarness(keepsUnknownColumns: false), chapters: chapters)
        #expect(weakest.capabilities.isEmpty)
        let negated = weakest.results.filter(\.checkedWithoutCapability)
        #expect(
            negated.map(\.rule.id)
                == [
                    "query.undeclared-key-not-queryable", "upsert.undeclared-key", "upsert.undeclared-key-merges",
                    "state.order",
                ],
            "dropping can be observed"
        )
    }

    @Test("a store on a serial queue that undoes what was rolled back")
    func queue() async throws { try await expectPassed(QueueStoreHarness()) }

    @Test("a store over files of JSON")
    func files() async throws { try await expectPassed(FileStoreHarness()) }

    @Test("EncryptedStore")
    func encrypted() async throws {
        let report = try await expectPassed(EncryptedStoreHarness())
        #expect(report.capabilities == ["durable", "encrypted", "sql", "syncStates", "unknownColumns"])
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

struct MemoryHarness: StoreHarness {
    let keepsUnknownColumns: Bool
    var name: String { keepsUnknownColumns ? "MemoryStore" : "the weakest MemoryStore" }

    func makeStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> MemoryStore {
        MemoryStore(schema, keepsUnknownColumns: keepsUnknownColumns, answersSyncStates: keepsUnknownColumns)
    }
}
