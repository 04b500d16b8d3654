import ConformanceRunner
import DatasyncEmulator
import Foundation
import ServerConformance
import Testing

@Suite("Correct servers pass every rule")
struct CorrectServerTests {
    @Test(
        "the emulator, in both protocols; nothing but tombstones is left, and other rows are as they were",
        arguments: ServerProtocol.allCases
    )
    func emulator(_ serverProtocol: ServerProtocol) async throws {
        try await JudgedServer.with(serverProtocol) { server in
            let others: [[String: JSONValue]] = (0..<5)
                .map { ["id": .string("other-\($0)"), "text": "theirs", "number": 1] }
            try server.emulator.seed(others, in: JudgedServer.table)
            let before = server.liveRows
            let report = try await server.judge()
            report.expectPassed("emulator, protocol \(serverProtocol.rawValue)")
            #expect(report.results.count == ServerRules.suite(for: serverProtocol).rules.count)
            #expect(report.capabilities == ["boolean", "date", "fraction", "number", "softDelete", "text"])
            #expect(server.liveRows == before, "no row of the run is left, and no other one was touched")
        }
    }

    @Test("a table that removes deleted rows", arguments: ServerProtocol.allCases)
    func hardDelete(_ serverProtocol: ServerProtocol) async throws {
        try await JudgedServer.with(serverProtocol, softDelete: false, by: .memory) { server in
            let report = try await server.judge(chapters: ["conflict", "read", "delete", "undelete", "tombstone"])
            report.expectPassed("hard deletion, protocol \(serverProtocol.rawValue)", notApplicable: "'softDelete'")
            #expect(!report.capabilities.contains("softDelete"))
            let negated = report.results.filter(\.checkedWithoutCapability).map(\.rule.id)
            #expect(Set(negated) == ["delete.again", "delete.keeps-row"])
            #expect(server.emulator.rows(in: JudgedServer.table).isEmpty)
        }
    }

    @Test("a server of other make: Datasync on ASP.NET")
    func otherDatasync() async throws {
        let columns: EmulatedTableDefinition.Columns = [
            "title": .text.optional, "isComplete": .boolean, "amount": .number, "dueDate": .date.optional,
        ]
        try await JudgedServer.with(
            .datasync,
            columns: columns,
            pageSize: 33,
            by: .memory,
            answering: OtherServers.datasync
        ) { server in
            let report = try await server.judge()
            report.expectPassed("another Datasync server")
            #expect(report.capabilities == ["boolean", "date", "fraction", "number", "softDelete", "text"])
            let differs = report.results.filter { !$0.isBroken && $0.outcome.status == "failed" }.map(\.rule.id)
            #expect(differs.contains("input.broken-json-status"), "what is left open is reported: \(differs)")
            let json = try JSONValue(parsing: Data(report.text(.json).utf8))
            let statuses = (json["results"]?.array ?? []).filter { differs.contains($0["id"]?.string ?? "") }
                .map { $0["status"]?.string }
            #expect(Set(statuses) == ["noted"] && json["counts"]?["failed"]?.integer == 0)
        }
    }

    @Test("a server of other make: Node on sqlite")
    func node() async throws {
        try await JudgedServer.with(.azureMobileApps, by: .memory, answering: OtherServers.nodeOnSQLite) { server in
            try await server.judge(chapters: ["query", "function", "page"]).expectPassed("Node on sqlite")
        }
    }

    @Test("a server of other make: .NET in protocol 2")
    func dotNet() async throws {
        try await JudgedServer.with(
            .azureMobileApps,
            pageSize: 40,
            by: .memory,
            answering: OtherServers.dotNet2
        ) { server in
            try await server.judge().expectPassed(".NET in protocol 2", notApplicable: "answers 204")
        }
    }

    @Test(
        "a table without columns of some kinds, and one that is made as rows come",
        arguments: ServerProtocol.allCases
    )
    func fewColumns(_ serverProtocol: ServerProtocol) async throws {
        try await JudgedServer.with(serverProtocol, columns: [:], by: .memory) { server in
            let report = try await server.judge(chapters: ["date", "function", "create"])
            report.expectPassed("no declared columns", notApplicable: "'date'", "date column", "columns as they come")
            #expect(report.capabilities == ["boolean", "fraction", "number", "softDelete", "text"])
        }
    }
}
