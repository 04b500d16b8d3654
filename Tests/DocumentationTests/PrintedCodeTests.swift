import Foundation
import Testing

/// What README.md and the articles print is what is compiled and run here.
@Suite("The documentation's code")
struct PrintedCodeTests {
    /// The README, and every page of a catalogue but those that have such a test elsewhere or are generated.
    static let pages: [String] = {
        do {
            let elsewhere = ["StoreConformance.md", "RemoteConformance.md", "WritingARemote.md", "DatasyncEmulator.md"]
            let found = try ["Sources", "Keys"]
                .flatMap { folder in
                    try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
                        .filter { $0.contains(".docc/") && $0.hasSuffix(".md") }
                        .filter { page in !elsewhere.contains { page.hasSuffix("/\($0)") } }
                        .map { "\(folder)/\($0)" }
                }
            return ["README.md"] + found.sorted()
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
            // Manifests are tried by Scripts/try-as-dependency.
            if block.hasPrefix("// swift-tools-version") { continue }
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

    private func blocks(of page: String, _ language: String) throws -> [String] {
        try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
            .components(separatedBy: "```\(language)\n")
            .dropFirst()
            .map { $0.components(separatedBy: "\n```")[0] }
    }

    private static func plain(_ text: String) -> String { text.filter { !$0.isWhitespace } }
}
