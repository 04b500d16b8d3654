import ReferenceStore
import StoreConformance
import StoreHarnesses
import Testing

// The ten lines that the documentation shows for Swift Testing.
@Suite("MemoryStore keeps the store contract")
struct MemoryStoreConformance {
    @Test(arguments: StoreRules.all.filter { $0.id.hasPrefix("read.") })
    func rule(_ rule: StoreRule) async throws {
        let result = try await rule.run(on: MemoryStoreHarness(keepsUnknownColumns: true))
        if result.isBroken { Issue.record("\(result)") }
    }
}
