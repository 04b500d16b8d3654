import Foundation
import Testing

@Suite("README.md")
struct ReadmeTests {
    @Test(
        "the examples for apps are those that are compiled here",
        arguments: ["In an app", "Computing", "Aggregates", "Reports", "Search", "Live query", "Tokens", "Signing out"]
    )
    func example(_ name: String) throws {
        let here = URL(filePath: #filePath).deletingLastPathComponent()
        let readme = try String(contentsOf: here.appending(path: "../../README.md"), encoding: .utf8)
        let source = try String(contentsOf: here.appending(path: "ReadmeExample.swift"), encoding: .utf8)
        let compiled = source.split(separator: "\n", omittingEmptySubsequences: false)
            .drop { !$0.hasSuffix("// README: \(name)") }
            .dropFirst()
            .prefix { !$0.hasSuffix("// README: end") }
            .map { $0.hasPrefix("    ") ? String($0.dropFirst(4)) : String($0) }
        #expect(compiled.count >= 2)
        let imports = name == "In an app" ? ["import Foundation", "import SealedSync", ""] : []
        let block = ["```swift"] + imports + compiled + ["```"]
        #expect(readme.contains(block.joined(separator: "\n")))
    }
}
