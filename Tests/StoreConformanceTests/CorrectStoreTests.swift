import ConformanceFixtures
import ConformanceRunner
import Foundation
import ReferenceStore
import SealedSync
import StoreConformance
import Testing

@Suite("Correct stores pass every rule", .serialized)
struct CorrectStoreTests {
    @Test("MemoryStore, and the weakest legal one, which keeps no undeclared keys")
    func memory() async throws {
        try await expectPassed(MemoryHarness(keepsUnknownColumns: true))
        let weakest = try await expectPassed(MemoryHarness(keepsUnknownColumns: false))
        #expect(weakest.capabilities.isEmpty)
        let negated = weakest.results.filter(\.checkedWithoutCapability)
        #expect(
            negated.map(\.rule.id)
                == ["query.undeclared-key-not-queryable", "upsert.undeclared-key", "upsert.undeclared-key-merges"],
            "dropping can be observed"
        )
    }

    @Test("a store on a serial queue that undoes what was rolled back")
    func queue() async throws { try await expectPassed(QueueStoreHarness()) }

    @Test("a store over files of JSON")
    func files() async throws { try await expectPassed(FileStoreHarness()) }

    @Test("EncryptedStore")
    func encrypted() async throws {
        let report = try await expectPassed(EncryptedHarness())
        #expect(report.capabilities == ["durable", "encrypted", "unknownColumns"])
    }

    @discardableResult
    private func expectPassed(_ harness: some StoreHarness) async throws -> ConformanceReport {
        let seed = ProcessInfo.processInfo.environment["SEALEDSYNC_TEST_SEED"].flatMap(UInt64.init)
        let report = try await StoreRules.suite.run(on: StoreSubject(harness), RunSettings(seed: seed))
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
        #expect(report.results.count == StoreRules.all.count)
        return report
    }
}

struct MemoryHarness: StoreHarness {
    let keepsUnknownColumns: Bool
    var name: String { keepsUnknownColumns ? "MemoryStore" : "the weakest MemoryStore" }

    func makeStore(_ schema: StoreSchema, at place: StorePlace) async throws -> MemoryStore {
        MemoryStore(schema, keepsUnknownColumns: keepsUnknownColumns)
    }
}

struct EncryptedHarness: StoreHarness {
    let name = "EncryptedStore"

    func makeStore(_ schema: StoreSchema, at place: StorePlace) async throws -> EncryptedStore {
        try await open(schema, place, .createNew)
    }

    func reopenStore(_ schema: StoreSchema, at place: StorePlace) async throws -> EncryptedStore {
        try await open(schema, place, .openExisting)
    }

    func closeStore(_ store: EncryptedStore) async throws { await store.close() }

    func changeKey(ofStoreAt place: StorePlace, to key: StorePlace.Key) async throws {
        let file = StoreFile(url(place))
        try await file.rekey(from: bytes(of: place.key), to: bytes(of: key))
    }

    private func open(_ schema: StoreSchema, _ place: StorePlace, _ mode: OpenMode) async throws -> EncryptedStore {
        try await EncryptedStore.open(at: url(place), key: bytes(of: place.key), schema: schema, mode: mode)
    }

    private func url(_ place: StorePlace) -> URL {
        URL(fileURLWithPath: place.folder).appendingPathComponent("store.db")
    }

    /// Two keys, for stores that nobody will ever need again.
    private func bytes(of key: StorePlace.Key) throws -> SecretBytes {
        let byte: UInt8 = key == .first ? 0x17 : 0x2A
        return unsafe try SecretBytes(count: 32) { buffer in
            for index in 0..<32 { unsafe buffer[index] = byte &+ UInt8(index) }
        }
    }
}
