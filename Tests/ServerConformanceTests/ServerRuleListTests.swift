import ConformanceRunner
import Foundation
import ServerConformance
import Testing

@Suite("The list of rules for servers")
struct ServerRuleListTests {
    @Test(
        "has at least 100 rules a protocol, each with an id of its own in a chapter, a source and a procedure",
        arguments: ServerProtocol.allCases
    )
    func rules(_ serverProtocol: ServerProtocol) {
        let rules = ServerRules.suite(for: serverProtocol).rules.map(\.definition)
        #expect(rules.count >= 100)
        #expect(Set(rules.map(\.id)).count == rules.count)
        for rule in rules {
            #expect(rule.id.hasPrefix(rule.chapter.id + "."), "\(rule.id)")
            #expect(rule.id.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "." || $0 == "-" }, "\(rule.id)")
            let sources = ["datasync-protocol", "datasync-genuine", "ama-genuine", "node-server-protocol2"]
            #expect(sources.contains { rule.source.hasPrefix($0) }, "\(rule.id)")
            #expect(rule.sentence.hasSuffix(".") && rule.procedure.hasSuffix("."), "\(rule.id)")
        }
    }

    @Test("is the page of the documentation", arguments: ServerProtocol.allCases)
    func page(_ serverProtocol: ServerProtocol) throws {
        let name = serverProtocol == .datasync ? "DatasyncRules" : "AzureMobileAppsRules"
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Sources/ServerConformance/ServerConformance.docc/\(name).md")
        let generated = try ServerRules.suite(for: serverProtocol).list(.markdown)
        if ProcessInfo.processInfo.environment["SEALEDSYNC_WRITE_PAGES"] != nil {
            try generated.write(to: page, atomically: true, encoding: .utf8)
        }
        let committed = try String(contentsOf: page, encoding: .utf8)
        #expect(
            committed == generated,
            "write it again: sealedsync conform --list --markdown --protocol \(serverProtocol.rawValue) > …/\(name).md"
        )
    }
}
