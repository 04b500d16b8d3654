import Foundation
import Testing

@Suite("The demonstration")
struct DemoTests {
    @Test("every step holds, and all three sides are equal row by row", arguments: [3, 2])
    func demo(_ protocolNumber: Int) async throws {
        let folder = try TemporaryFolder()
        let result = try await ToolProcess.run(
            ["demo", "--json", "--protocol", "\(protocolNumber)"],
            environment: ["TMPDIR": folder.url.path]
        )
        #expect(result.status == 0, "\(result.errors)")
        let answer = try result.json()
        #expect(answer["ok"] as? Bool == true)
        let steps = try #require(answer["steps"] as? [[String: Any]])
        #expect(steps.count >= 10 && steps.allSatisfy { $0["ok"] as? Bool == true })
        let rows = try #require(answer["rows"] as? [[String: Any]])
        #expect(rows.count == 3)
        for row in rows {
            #expect(["phone", "laptop", "server"].allSatisfy { row[$0] as? Bool == true })
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(left.isEmpty, "the temporary folder is removed: \(left)")
    }

    @Test("the lines fit a terminal of 80 columns, one for each step")
    func lines() async throws {
        let result = try await ToolProcess.run(["demo"])
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines.filter { $0.count > 80 })")
        #expect(lines.filter { $0.hasPrefix("ok  ") }.count >= 10)
    }
}
