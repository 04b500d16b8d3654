import ConformanceRunner
import DatasyncEmulator
import Foundation
import SeededNumbers
import ServerConformance
import Testing

@Suite("Servers that are set up otherwise break no rule")
struct LegalServerTests {
    /// How a server is set up.
    struct Setup: Sendable, CustomStringConvertible {
        let serverProtocol: ServerProtocol
        var pageSize: Int?
        var largestTop: Int?

        var description: String {
            "protocol \(serverProtocol.rawValue), pages of \(pageSize.map { "\($0)" } ?? "the usual size"),"
                + " largest $top \(largestTop.map { "\($0)" } ?? "as usual")"
        }

        /// All where both numbers are smallest; elsewhere those that are about more than a few rows, unless everything is
        /// to be tried.
        var chapters: [String] {
            let smallestTop = SeededGenerator.rounds(1, all: .max)
            return pageSize == 1 && largestTop ?? .max <= smallestTop ? [] : ["page", "order", "tombstone", "property"]
        }

        static let all = ServerProtocol.allCases.flatMap { serverProtocol in
            [1, 2, 5, 10, 100].map { Setup(serverProtocol: serverProtocol, pageSize: $0) }
                + [1, 10].map { Setup(serverProtocol: serverProtocol, largestTop: $0) }
                + [Setup(serverProtocol: serverProtocol, pageSize: 1, largestTop: 1)]
        }
    }

    @Test("pages from one row and a largest $top from one are properties and no faults", arguments: Setup.all)
    func sizes(_ setup: Setup) async throws {
        try await JudgedServer.with(
            setup.serverProtocol,
            pageSize: setup.pageSize,
            maximumTop: setup.largestTop,
            by: .memory
        ) { server in
            let report = try await server.judge(chapters: setup.chapters)
            report.expectPassed("\(setup)", notApplicable: "without $top this server gives no more rows")
            if let size = setup.pageSize { #expect(report["page size"] == "\(size)") }
            if let top = setup.largestTop { #expect(report["largest $top"] == "\(top)") }
        }
    }

    @Test("pages of few rows that have no link, as the predecessor's, are read to the end", arguments: [1, 3, 10])
    func silentPages(_ size: Int) async throws {
        let answering: Answering = { request, emulator in
            try await emulator.handle(request).with { $0.headers["Link"] = nil }
        }
        try await JudgedServer.with(.azureMobileApps, pageSize: size, by: .memory, answering: answering) { server in
            // Lists are what is read otherwise; everything else only when everything is to be tried.
            let lists = SeededGenerator.rounds(1, all: 0) == 1 ? ["page", "order", "tombstone", "query"] : []
            let report = try await server.judge(chapters: lists)
            let walks = [
                "page.walk", "page.walk-order", "page.walk-count", "page.walk-top", "page.walk-deleted",
                "page.walk-skip",
            ]
            #expect(Set(report.broken.map(\.rule.id)).isSubset(of: walks), "\(report.broken)")
            #expect(report.accepting(KnownServer.predecessor.deviations(in: .azureMobileApps), expire: false).isPassed)
        }
    }

    /// Servers whose answers to writes have rows as they were sent: all of .NET, that of protocol 2 included.
    private static let dotNet: [(ServerProtocol, EmulatorConfiguration.Edition)] = [
        (.datasync, .usual), (.datasync, .predecessor), (.azureMobileApps, .predecessor),
    ]

    /// Lends one of them with a column that only the database fills.
    private func withFilledColumn(
        _ index: Int,
        answering: @escaping Answering = { try await $1.handle($0) },
        _ body: (JudgedServer) async throws -> Void
    ) async throws {
        let (serverProtocol, edition) = Self.dotNet[index]
        var columns = JudgedServer.usualColumns
        columns["filled"] = .text.optional
        let configure: (inout EmulatorConfiguration) -> Void = {
            $0.edition = edition
            $0.store.filledColumn = "filled"
        }
        try await JudgedServer.with(
            serverProtocol,
            columns: columns,
            by: .memory,
            answering: answering,
            configured: configure,
            body
        )
    }

    @Test("a column that only the database fills breaks nothing, and is told", arguments: dotNet.indices)
    func filledColumn(_ index: Int) async throws {
        let (serverProtocol, edition) = Self.dotNet[index]
        try await withFilledColumn(index) { server in
            let report = try await server.judge()
            let known = edition == .usual ? [] : KnownServer.predecessor.deviations(in: serverProtocol)
            #expect(report.accepting(known, expire: false).isPassed, "\(report.broken)")
            let result = try #require(report.results.first { $0.rule.id == "create.whole-row" })
            #expect(result.outcome.status == "noted")
        }
    }

    @Test("what else is wrong in answers is not taken for what the database makes of rows", arguments: dotNet.indices)
    func wrongStampBesideFilledColumn(_ index: Int) async throws {
        let rule = Self.dotNet[index].0 == .datasync ? "replace.stored" : "patch.whole-row"
        let answering: Answering = { request, emulator in
            let answer = try await emulator.handle(request)
            guard ["PUT", "PATCH"].contains(request.method), answer.status == 200 else { return answer }
            return answer.withRows { $0["updatedAt"] = "2021-02-03T04:05:06.789Z" }
        }
        try await withFilledColumn(index, answering: answering) { server in
            let report = try await server.judge([rule])
            #expect(report.broken.map(\.rule.id) == [rule], "\(report.results)")
        }
    }

    @Test("a predecessor that is set up to allow any $top is not blamed for it")
    func anyTop() async throws {
        let configure: (inout EmulatorConfiguration) -> Void = { $0.edition = .predecessor }
        try await JudgedServer.with(.datasync, maximumTop: 2_000_000, by: .memory, configured: configure) { server in
            let report = try await server.judge(["page.huge-top"])
            #expect(report.broken.isEmpty && report.notApplicable.map(\.rule.id) == ["page.huge-top"])
        }
        // Datasync refuses it however it is set up.
        try await JudgedServer.with(.datasync, maximumTop: 2_000_000, by: .memory) { server in
            let report = try await server.judge(["page.huge-top"])
            #expect(report.broken.map(\.rule.id) == ["page.huge-top"])
        }
    }

    @Test("a column of integers counts as one of numbers; rules about fractions are not applicable")
    func integers() async throws {
        let answering: Answering = { request, emulator in
            if let number = request.json["number"], number != .null, number.integer == nil {
                return EmulatorResponse(500)
            }
            return try await emulator.handle(request)
        }
        var columns = JudgedServer.usualColumns
        columns["number"] = .integer.optional
        try await JudgedServer.with(.datasync, columns: columns, by: .memory, answering: answering) { server in
            let report = try await server.judge()
            report.expectPassed("integers", notApplicable: "'fraction'")
            #expect(report.capabilities == ["boolean", "date", "number", "softDelete", "text"])
            #expect(report["columns"]?.contains("number=number (whole numbers only)") == true)
        }
    }

    @Test("a column of instants that takes no offsets is one all the same")
    func noOffsets() async throws {
        let answering: Answering = { request, emulator in
            if let date = request.json["date"]?.string, !date.hasSuffix("Z") { return EmulatorResponse(500) }
            return try await emulator.handle(request)
        }
        try await JudgedServer.with(.datasync, by: .memory, answering: answering) { server in
            let report = try await server.judge(chapters: ["date"])
            report.expectPassed("no offsets")
            #expect(report.capabilities.contains("date"))
            #expect(report.results.filter { $0.outcome.status == "noted" }.map(\.rule.id) == ["date.to-utc"])
        }
    }
}
