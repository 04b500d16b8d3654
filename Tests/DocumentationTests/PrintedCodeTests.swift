import Foundation
import Testing

/// What README.md and the articles print is what is compiled and run here.
@Suite("The documentation's code")
struct PrintedCodeTests {
    /// The README, that of the keys, and every page of a catalogue.
    static let pages: [String] = {
        do {
            let found = try ["Sources", "Keys"]
                .flatMap { folder in
                    try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
                        .filter { $0.contains(".docc/") && $0.hasSuffix(".md") }
                        .map { "\(folder)/\($0)" }
                }
            return ["README.md", "Keys/README.md"] + found.sorted()
        } catch {
            fatalError("the pages cannot be listed: \(error)")
        }
    }()

    private static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

    /// Every file in which printed code may stand, without the spaces by which it differs.
    private static let compiled: [String] = {
        do {
            return try [
                "Tests/DocumentationTests", "Tests/ConformanceFixtures/Worked", "Examples", "Sources/ReferenceStore",
                "Tests/RemoteConformanceTests",
            ]
            .flatMap { folder in
                let folder = root.appending(path: folder)
                return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                    .filter { $0.hasSuffix(".swift") && !$0.hasSuffix("PrintedCodeTests.swift") }
                    .map { plain(try String(contentsOf: folder.appending(path: $0), encoding: .utf8)) }
            }
        } catch {
            fatalError("the compiled files cannot be read: \(error)")
        }
    }()

    @Test("each piece of Swift stands word for word in a file that is compiled", arguments: pages)
    func swift(_ page: String) throws {
        for block in try blocks(of: page, "swift") {
            // Manifests are tried by Scripts/try-as-dependency, pieces of one by nothing. A reader's test of all rules of a kit
            // would be one more run of them.
            if block.hasPrefix("// swift-tools-version") || block.hasPrefix(".target(") { continue }
            if block.contains("rule.run(on: MyHarness())") { continue }
            let piece = Self.plain(block)
            #expect(Self.compiled.contains { $0.contains(piece) }, "this is compiled nowhere: \(block)")
        }
    }

    @Test("the manifest for an app is the same wherever it is printed")
    func manifest() throws {
        let article = "Sources/SealedSync/SealedSync.docc/Articles/GettingStarted.md"
        let manifests = try ["README.md", article]
            .map { page in
                try #require(try blocks(of: page, "swift").first { $0.hasPrefix("// swift-tools-version") })
            }
        #expect(manifests[0] == manifests[1])
    }

    @Test("README.md has less than 200 lines, and what it links to is there")
    func readme() throws {
        let readme = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
        #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 200)
        let links = readme.matches(of: /\]\(([^)]+)\)/).map { String($0.1) }.filter { !$0.hasPrefix("https://") }
        #expect(links.count > 10)
        for link in links {
            #expect(FileManager.default.fileExists(atPath: Self.root.appending(path: link).path), "\(link) is missing")
        }
    }

    @Test("every product that is a library has a landing page, and is in the site")
    func products() throws {
        let manifest = try String(contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
        let script = try String(contentsOf: Self.root.appending(path: "Scripts/build-documentation"), encoding: .utf8)
        let inSite = Set(
            script.matches(of: /modules=\(([^)]+)\)/).flatMap { $0.1.split(whereSeparator: \.isWhitespace) }
        )
        let products = manifest.matches(of: /\.library\(name: "(\w+)"/).map(\.1)
        #expect(products.count > 20)
        for product in products {
            #expect(inSite.contains(product), "\(product) is not in the site")
            let page = "\(product)/\(product).docc/\(product).md"
            let file = ["Sources", "Keys"].map { Self.root.appending(path: "\($0)/\(page)") }
                .first { FileManager.default.fileExists(atPath: $0.path) }
            let text = try file.map { try String(contentsOf: $0, encoding: .utf8) }
            #expect(text?.hasPrefix("# ``\(product)``\n\n") == true, "\(product) has no landing page")
        }
    }

    private func blocks(of page: String, _ language: String) throws -> [String] {
        try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
            .components(separatedBy: "```\(language)\n")
            .dropFirst()
            .map { $0.components(separatedBy: "\n```")[0] }
    }

    private static func plain(_ text: String) -> String { text.filter { !$0.isWhitespace } }
}
