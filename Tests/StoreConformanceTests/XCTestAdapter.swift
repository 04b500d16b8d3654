import ReferenceStore
import StoreConformance
import StoreHarnesses
import XCTest

// The ten lines that the documentation shows for XCTest.
final class MemoryStoreXCTestConformance: XCTestCase {
    func testStoreContract() async throws {
        for rule in StoreRules.all where rule.id.hasPrefix("read.") {
            let result = try await rule.run(on: MemoryStoreHarness(keepsUnknownColumns: true))
            if result.isBroken { XCTFail("\(result)") }
        }
    }
}
