import ConformanceRunner
import DatasyncEmulator
import Foundation
import ServerConformance
import Testing

@Suite("Correct servers pass every rule", .serialized)
struct CorrectServerTests {
    @Test("the emulator, in both protocols; nothing but tombstones is left, and other rows are as they were",
        arguments: ServerProtocol.allCases)
    func emulator(_ serverProtocol: ServerProtocol) async throws {
        try await JudgedServer.with(serverProtocol) { server in
            let others: [[String: JSONValue]] = (0..<5).map { ["id": .string("other-\($0)"), "text": "theirs", "number": 1] }
            try server.emulator.seed(others, in: JudgedServer.table)
            let before = server.liveRows
            let report = try await server.judge()
            report.expectPassed("emulator, protocol \(serverProtocol.rawValue)")
            #expect(report.results.count == ServerRules.suite(for: serverProtocol).rules.count)
            #expect(report.capabilities == ["boolean", "date", "number", "softDelete", "text"])
            #expect(server.liveRows == before, "no row of the run is left, and no other one was touched")
        }
    }

    @Test("a table that removes deleted rows", arguments: ServerProtocol.allCases)
    func hardDelete(_ serverProtocol: ServerProtocol) async throws {
        try await JudgedServer.with(serverProtocol, softDelete: false) { server in
            let report = try await server.judge(chapters: ["conflict", "read", "delete", "undelete", "tombstone"])
            report.expectPassed("hard deletion, protocol \(serverProtocol.rawValue)", notApplicable: "'softDelete'")
            #expect(!report.capabilities.contains("softDelete"))
            let negated = report.results.filter(\.checkedWithoutCapability).map(\.rule.id)
            #expect(Set(negated) == ["delete.again", "delete.keeps-row"])
            #expect(server.emulator.rows(in: JudgedServer.table).isEmpty)
        }
    }
}
