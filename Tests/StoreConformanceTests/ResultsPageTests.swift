import ConformanceRunner
import Foundation
import ReferenceStore
import StoreConformance
import StoreHarnesses
import Testing

@Suite("The page of the stores at hand")
struct ResultsPageTests {
    @Test("tells what became of the rules of each store")
    func page() async throws {
        let suite = try StoreRules.suite.selecting(ids: ["read.absent-is-nil", "durability.values", "order.first"])
        let report = try await suite.run(on: StoreSubject(MemoryStoreHarness()))
        let answer = Data(try report.text(.json).utf8)
        let broken = Data(
            String(decoding: answer, as: UTF8.self)
                .replacingOccurrences(
                    of: "\"broken\":false,\"chapter\":\"order\"",
                    with: "\"broken\":true,\"chapter\":\"order\""
                )
                .utf8
        )
        let summaries = [try ReportSummary("one", json: answer), try ReportSummary("two", json: broken)]
        let page = ReportSummary.page("Title", madeBy: "make it", summaries)
        #expect(page.hasPrefix("# Title\n") && page.contains("'make it'") && page.contains("3 rules."))
        #expect(page.contains("| one | `migrations`, `syncStates`, `unknownColumns` | 2 | 0 | 1 | 0 |"), "\(page)")
        #expect(page.contains("| `read` | 1 of 1 | 1 of 1 |") && page.contains("| `durability` | – | – |"), "\(page)")
        #expect(throws: DecodingError.self) { try ReportSummary("none", json: Data("{}".utf8)) }
    }

    @Test("is of the rules that there are, and no store at hand breaks one")
    func committed() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Sources/StoreConformance/StoreConformance.docc/StoresAtHand.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        #expect(page.contains("\n\(StoreRules.all.count) rules. "), "write it again: make store-results")
        #expect(!page.contains("## Broken"))
    }
}
