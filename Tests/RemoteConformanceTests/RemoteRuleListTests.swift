import Foundation
import RemoteConformance
import Testing

@Suite("The list of rules for remotes")
struct RemoteRuleListTests {
    private let sources = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources")

    @Test("has at least 95 rules, each with an id of its own in a chapter, a sentence and a procedure")
    func rules() {
        let rules = RemoteRules.all.map(\.definition)
        #expect(rules.count >= 95)
        #expect(Set(rules.map(\.id)).count == rules.count)
        for rule in rules {
            #expect(rule.id.hasPrefix(rule.chapter.id + "."), "\(rule.id)")
            #expect(rule.id.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "." || $0 == "-" }, "\(rule.id)")
            #expect(rule.procedure.hasSuffix("."), "\(rule.id): \(rule.procedure)")
        }
    }

    @Test("quotes the contract: every sentence stands in the documentation of RemoteContract")
    func sentences() throws {
        var text = ""
        let folder = sources.appendingPathComponent("RemoteContract")
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift") {
            for line in try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
                .split(separator: "\n")
            {
                let line = line.trimmingCharacters(in: .whitespaces)
                if line.hasPrefix("///") { text += line.drop { $0 == "/" } + " " }
            }
        }
        let contract = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for rule in RemoteRules.all.map(\.definition) {
            #expect(contract.contains(rule.sentence), "\(rule.id): \"\(rule.sentence)\" is not in the documentation")
        }
    }

    @Test("is the page of the documentation")
    func page() throws {
        let page = sources.appendingPathComponent("RemoteConformance/RemoteConformance.docc/RulesForRemotes.md")
        let generated = try RemoteRules.suite.list(.markdown)
        if ProcessInfo.processInfo.environment["SEALEDSYNC_WRITE_PAGES"] != nil {
            try generated.write(to: page, atomically: true, encoding: .utf8)
        }
        let committed = try String(contentsOf: page, encoding: .utf8)
        #expect(
            committed == generated,
            "write it again: SEALEDSYNC_WRITE_PAGES=1 swift test --filter RemoteRuleListTests"
        )
    }

    @Test("the page about writing a remote quotes code that is compiled and judged")
    func quotations() throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Notes")
        var code = ""
        for path in try FileManager.default.subpathsOfDirectory(atPath: tests.path) {
            code += try plain(String(contentsOf: tests.appendingPathComponent(path), encoding: .utf8)) + " "
        }
        let page = sources.appendingPathComponent("RemoteConformance/RemoteConformance.docc/WritingARemote.md")
        let pieces = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```swift\n").dropFirst()
            .map { plain($0.components(separatedBy: "```")[0]) }
        #expect(pieces.count >= 14)
        // The last piece is an app's line.
        for piece in pieces.dropLast() { #expect(code.contains(piece), "this is not in the tests: \(piece)") }
    }

    private func plain(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
