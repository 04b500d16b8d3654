import Foundation
import Testing

@Suite("Judging a store")
struct ConformTests {
    @Test("the encrypted store survives its killed processes and keeps its files secret; nothing is left behind")
    func encrypted() async throws {
        let folder = try TemporaryFolder()
        let result = try await ToolProcess.run(
            [
                "conform", "--json", "--seed", "7", "--chapter", "durability", "--chapter", "encryption",
                "--rule", "failure.disk-full", "--rule", "search.killed-index",
            ],
            environment: ["TMPDIR": folder.url.path]
        )
        #expect(result.status == 0, "\(result.output)")
        let report = try result.json()
        #expect(report["passed"] as? Bool == true && report["seed"] as? Int == 7)
        let counts = try #require(report["counts"] as? [String: Int])
        #expect(counts["passed"] ?? 0 >= 20 && counts["notApplicable"] == 0, "\(counts)")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(left.isEmpty, "the temporary folder is emptied: \(left)")
    }

    @Test("the rules are listed as one object")
    func list() async throws {
        let result = try await ToolProcess.run(["conform", "--list", "--json"])
        #expect(result.status == 0)
        let rules = try #require(try result.json()["rules"] as? [[String: Any]])
        #expect(rules.count >= 120)
        #expect(rules.allSatisfy { $0["id"] is String && $0["sentence"] is String && $0["procedure"] is String })
    }

    @Test("a chapter or rule that does not exist is wrong usage, in words and as one object")
    func unknown() async throws {
        for arguments in [["--chapter", "absent"], ["--rule", "absent.rule"]] {
            let result = try await ToolProcess.run(["conform", "--store", "memory", "--json"] + arguments)
            #expect(result.status == 64)
            #expect(result.errors.contains("absent"))
            #expect(try result.json()["error"] is [String: Any])
        }
    }
}
