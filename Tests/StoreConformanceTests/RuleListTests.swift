import Foundation
import StoreConformance
import Testing

@Suite("The list of rules")
struct RuleListTests {
    private let sources = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources")

    @Test("has at least 120 rules, each with an id of its own in a chapter, a sentence and a procedure")
    func rules() {
        let rules = StoreRules.all.map(\.definition)
        #expect(rules.count >= 120)
        #expect(Set(rules.map(\.id)).count == rules.count)
        for rule in rules {
            #expect(rule.id.hasPrefix(rule.chapter.id + "."), "\(rule.id)")
            #expect(rule.id.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "." || $0 == "-" }, "\(rule.id)")
            #expect(rule.procedure.hasSuffix("."), "\(rule.id): \(rule.procedure)")
        }
    }

    @Test("quotes the contract: every sentence stands in the documentation of SyncContract, or of what folds and codes")
    func sentences() throws {
        var text = ""
        for folder in ["SyncContract", "QueryEvaluation", "ItemCoding"].map(sources.appendingPathComponent) {
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift")
            {
                for line in try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
                    .split(separator: "\n")
                {
                    let line = line.trimmingCharacters(in: .whitespaces)
                    if line.hasPrefix("///") || line.hasPrefix("//") { text += line.drop { $0 == "/" } + " " }
                }
            }
        }
        let contract = plain(text)
        for rule in StoreRules.all.map(\.definition) {
            #expect(
                contract.contains(plain(rule.sentence)),
                "\(rule.id): \"\(rule.sentence)\" is not in the documentation"
            )
        }
    }

    /// Without line ends, emphasis, and the paths of links: `` ``StoreError/Code/closed`` `` is `closed`.
    private func plain(_ text: String) -> String {
        let parts = text.replacingOccurrences(of: "**", with: "").components(separatedBy: "``")
        let joined = parts.enumerated()
            .map { index, part in
                index % 2 == 0 ? part : "`" + (part.split(separator: "/").last.map(String.init) ?? part) + "`"
            }
        return joined.joined().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test("is the page of the documentation")
    func page() throws {
        let page = sources.appendingPathComponent("StoreConformance/StoreConformance.docc/RulesForStores.md")
        let generated = try StoreRules.suite.list(.markdown)
        if ProcessInfo.processInfo.environment["SEALEDSYNC_WRITE_PAGES"] != nil {
            try generated.write(to: page, atomically: true, encoding: .utf8)
        }
        let committed = try String(contentsOf: page, encoding: .utf8)
        #expect(
            committed == generated,
            "write it again: sealedsync conform --list --markdown > Sources/StoreConformance/…/RulesForStores.md"
        )
    }
}
