import ChildProcesses
import ConformanceRunner
import DatasyncEmulator
import Foundation
import ServerConformance
import Testing

@Suite("Servers that misbehave")
struct HostileServerTests {
    private let rules = [
        "create.with-id", "read.by-id", "order.by-updated-at", "order.count", "delete.gone", "input.null-body",
    ]

    @Test("broken connections, garbage and half answers are reported failures, and the rest still runs")
    func garbage() async throws {
        let bodies = [
            "", "}{", "[[[[", "null", "\"text\"", "{\"items\":{}}", "{\"items\":[1,null,{}],\"count\":\"x\"}",
            "\u{0}\u{FFFD}",
            String(repeating: "[", count: 20_000), "{\"id\":1e999,\"version\":{}}", "[{\"id\":\"x\"}]",
        ]
        for (index, body) in bodies.enumerated() {
            let answering: Answering = { request, emulator in
                // Right until the rules begin: what is to be seen is what they do with garbage.
                let answer = try await emulator.handle(request)
                guard request.query.contains("orderby") || request.query.contains("count") || request.isRow,
                    request.method == "GET"
                else { return answer }
                return answer.with { $0.body = Data(body.utf8) }
            }
            try await JudgedServer.with(.datasync, answering: answering) { server in
                let report = try await server.judge(rules)
                #expect(report.results.map(\.outcome.status).filter { $0 == "failed" }.count >= 2, "body \(index)")
                #expect(report.results.first { $0.rule.id == "delete.gone" }?.outcome == .passed, "body \(index)")
            }
        }
    }

    @Test("a connection that is closed without an answer is a failure of its rule")
    func closed() async throws {
        try await JudgedServer.with(.datasync) { server in
            server.emulator.inject(.drop(times: 1) { $0.query.contains("orderby") })
            let report = try await server.judge(rules)
            #expect(report.broken.map(\.rule.id) == ["order.by-updated-at"])
            #expect(report.broken[0].description.contains("expected: an answer"))
        }
    }

    @Test("half an answer is a failure of its rule")
    func cut() async throws {
        try await JudgedServer.with(.datasync) { server in
            let proxy = LossyProxy(upstream: UInt16(try #require(server.url.port)))
            let url = try proxy.start()
            defer { proxy.stop() }
            proxy.next(.cutResponse) { $0.contains("orderby") }
            let suite = try ServerRules.suite(for: .datasync).selecting(ids: rules)
            let subject = ServerSubject(url: url, table: JudgedServer.table, .datasync)
            let report = try await ServerConformance.run(suite, on: subject).report
            #expect(report.broken.map(\.rule.id) == ["order.by-updated-at"])
            #expect(report.broken[0].description.contains("expected: an answer"))
        }
    }

    @Test("a server that hangs is given up after the time of a request, or that of a rule")
    func hangs() async throws {
        try await JudgedServer.with(.datasync) { server in
            server.emulator.inject(.delay(.seconds(30), times: 1) { $0.query.contains("orderby") })
            let suite = try ServerRules.suite(for: .datasync).selecting(ids: rules)
            let subject = ServerSubject(url: server.url, table: JudgedServer.table, .datasync, timeout: .seconds(5))
            let report = try await ServerConformance.run(suite, on: subject).report
            #expect(report.broken.map(\.rule.id) == ["order.by-updated-at"])

            server.emulator.inject(.delay(.seconds(30), times: 1) { $0.query.contains("orderby") })
            var settings = RunSettings()
            settings.secondsPerRule = 2
            // The other rules may take their time on a busy machine.
            let rule = try suite.selecting(ids: ["order.by-updated-at"])
            let timed = try await ServerConformance.run(rule, on: server.subject, settings).report
            #expect(timed.broken.map(\.outcome) == [.timedOut(seconds: 2)])
            #expect(server.liveRows.isEmpty, "the rows of a rule that was given up are deleted too")
        }
    }

    @Test("a server that goes away is reported once; the rules after it are not applicable")
    func goesAway() async throws {
        let answering: Answering = { request, emulator in
            if request.query.contains("orderby") { emulator.inject(.drop(times: 1_000_000)) }
            return try await emulator.handle(request)
        }
        try await JudgedServer.with(.datasync, answering: answering) { server in
            let report = try await server.judge(rules)
            #expect(report.broken.map(\.rule.id) == ["order.by-updated-at"])
            let reasons = report.notApplicable.map(\.description)
            let since = "since the rule 'order.by-updated-at'"
            #expect(!reasons.isEmpty && reasons.allSatisfy { $0.contains(since) }, "\(reasons)")
        }
    }

    @Test("no server, no table, and a table that takes no rows are one error with words")
    func unusable() async throws {
        let nobody = ServerSubject(url: URL(string: "http://127.0.0.1:1")!, table: "T", .datasync)
        await #expect(throws: ServerUnavailable.self) {
            _ = try await ServerConformance.run(ServerRules.suite(for: .datasync), on: nobody)
        }
        try await JudgedServer.with(.datasync) { server in
            let other = ServerSubject(url: server.url, table: "absent", .datasync)
            await #expect(throws: ServerUnavailable.self) {
                _ = try await ServerConformance.run(ServerRules.suite(for: .datasync), on: other)
            }
            server.emulator.inject(.respond(EmulatorResponse(403), times: 1_000) { $0.method == "POST" })
            await #expect(throws: ServerUnavailable.self) { _ = try await server.judge() }
        }
    }

    @Test("a run that is cancelled ends soon and deletes its rows")
    func cancelled() async throws {
        try await JudgedServer.with(.datasync) { server in
            server.emulator.inject(.delay(.seconds(30), times: 1) { $0.query.contains("orderby") })
            let task = Task { try await server.judge(["page.walk"]) }
            // The rows are made, and the rule waits for an answer that will not come soon.
            try await looking { server.emulator.pendingFaults == 0 }
            #expect(server.liveRows.count >= 120)
            task.cancel()
            await #expect(throws: ServerRunCancelled.self) { _ = try await task.value }
            #expect(server.liveRows.isEmpty)
        }
    }

    @Test("a server that answers with somebody else's row does not get it deleted")
    func foreignRow() async throws {
        let answering: Answering = { request, emulator in
            guard request.method == "POST", request.json["id"]?.string.map({ $0.isEmpty }) ?? true else {
                return try await emulator.handle(request)
            }
            return .json(201, emulator.row("theirs").map { .object($0) } ?? .null)
        }
        try await JudgedServer.with(.datasync, answering: answering) { server in
            try server.emulator.seed([["id": "theirs", "text": "not to be touched"]], in: JudgedServer.table)
            let before = server.liveRows
            let report = try await server.judge(chapters: ["create", "input"])
            #expect(report.broken.map(\.rule.id).contains("create.without-id"))
            #expect(server.liveRows == before)
        }
    }

    @Test("a row whose id was in an answer that got lost is found and deleted")
    func lostID() async throws {
        try await JudgedServer.with(.datasync) { server in
            server.emulator.inject(
                .applyThenDrop(times: 5) { $0.method == "POST" && $0.json["id"] == nil && $0.json["text"] != nil }
            )
            let report = try await server.judge(["create.without-id", "create.etag"])
            #expect(report.broken.map(\.rule.id) == ["create.without-id"])
            #expect(server.liveRows.isEmpty)
        }
    }

    @Test("rows that cannot be deleted are named")
    func leftRows() async throws {
        try await JudgedServer.with(.datasync) { server in
            server.emulator.inject(.respond(EmulatorResponse(500), times: 1_000) { $0.method == "DELETE" })
            let suite = try ServerRules.suite(for: .datasync).selecting(ids: ["create.with-id"])
            let (_, left) = try await ServerConformance.run(suite, on: server.subject)
            #expect(Set(left) == Set(server.liveRows.compactMap { $0["id"]?.string }))
            #expect(!left.isEmpty && left.allSatisfy { $0.hasPrefix("conform-") })
        }
    }
}
