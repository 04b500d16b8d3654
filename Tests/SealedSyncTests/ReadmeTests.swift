import Foundation
import Testing

@Suite("README.md")
struct ReadmeTests {
    @Test("the example for apps is the one that is compiled here")
    func example() throws {
        let here = URL(filePath: #filePath).deletingLastPathComponent()
        let readme = try String(contentsOf: here.appending(path: "../../README.md"), encoding: .utf8)
        let source = try String(contentsOf: here.appending(path: "ReadmeExample.swift"), encoding: .utf8)
        let compiled = source.split(separator: "\n", omittingEmptySubsequences: false)
            .drop { !$0.hasSuffix("// README: In an app") }
            .dropFirst()
            .prefix { !$0.hasSuffix("// README: end") }
            .map { $0.hasPrefix("    ") ? String($0.dropFirst(4)) : String($0) }
        #expect(compiled.count > 20)
        let block = (["```swift", "import Foundation", "import SealedSync", ""] + compiled + ["```"])
        #expect(readme.contains(block.joined(separator: "\n")))
    }
}
