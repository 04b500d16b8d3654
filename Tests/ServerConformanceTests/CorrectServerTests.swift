import ConformanceRunner
import DatasyncEmulator
import Foundation
import ServerConformance
import Testing

@Suite("Correct servers pass every rule", .serialized)
struct CorrectServerTests {
    @Test("the emulator, in both protocols; nothing but tombstones is left, and other rows are as they were")
    func emulator() async throws {
        async let datasync: Void = emulator(.datasync)
        async let azureMobileApps: Void = emulator(.azureMobileApps)
        _ = try await (datasync, azureMobileApps)
    }

    private func emulator(_ serverProtocol: ServerProtocol) async throws {
        try await JudgedServer.with(serverProtocol) { server in
            let others: [[String: JSONValue]] = (0..<5)
                .map { ["id": .string("other-\($0)"), "text": "theirs", "number": 1] }
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

    @Test("servers of other make: Datasync on ASP.NET, Node on sqlite, .NET in protocol 2")
    func otherMakes() async throws {
        async let datasync: Void = otherDatasync()
        async let node: Void = node()
        async let dotNet: Void = dotNet()
        _ = try await (datasync, node, dotNet)
    }

    private func otherDatasync() async throws {
        let columns: [String: EmulatedTableDefinition.ColumnType] = [
            "title": .string, "isComplete": .boolean, "amount": .number, "dueDate": .date,
        ]
        try await JudgedServer.with(
            .datasync,
            columns: columns,
            pageSize: 33,
            answering: OtherServers.datasync
        ) { server in
            let report = try await server.judge()
            report.expectPassed("another Datasync server")
            #expect(report.capabilities == ["boolean", "date", "number", "softDelete", "text"])
            let differs = report.results.filter { !$0.isBroken && $0.outcome.status == "failed" }.map(\.rule.id)
            #expect(differs.contains("input.broken-json-status"), "what is left open is reported: \(differs)")
        }
    }

    private func node() async throws {
        try await JudgedServer.with(.azureMobileApps, answering: OtherServers.nodeOnSQLite) { server in
            try await server.judge(chapters: ["query", "function", "page"]).expectPassed("Node on sqlite")
        }
    }

    private func dotNet() async throws {
        try await JudgedServer.with(
            .azureMobileApps,
            pageSize: 40,
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
        try await JudgedServer.with(serverProtocol, columns: [:]) { server in
            let report = try await server.judge(chapters: ["date", "function", "create"])
            report.expectPassed("no declared columns", notApplicable: "'date'", "date column")
            #expect(report.capabilities == ["boolean", "number", "softDelete", "text"])
        }
    }
}
