import ChildProcesses
import DatasyncEmulator
import Foundation
import Testing

@Suite("Judging a server")
struct ServerConformTests {
    private static let columns = ["--table", "TodoItem(text: text?, complete: boolean, number: number?, date: date?)"]

    @Test("the emulator passes in both protocols; the tool says where it writes, and leaves no row", arguments: [3, 2])
    func emulator(_ number: Int) async throws {
        try await EmulatorProcess.with(number, Self.columns) { emulator in
            let result = try await ToolProcess.run(
                [
                    "conform", "--server", emulator.url, "--protocol", "\(number)", "--json", "--seed", "7",
                    "--chapter", "create", "--chapter", "date", "--chapter", "tombstone", "--lasting-rows",
                ]
            )
            #expect(result.status == 0, "\(result.output)")
            #expect(result.message.contains("writes rows of its own into \(emulator.url)/tables/TodoItem"))
            let report = try result.json()
            #expect(report["passed"] as? Bool == true && report["seed"] as? Int == 7)
            #expect(
                report["capabilities"] as? [String] == ["boolean", "date", "fraction", "number", "softDelete", "text"]
            )
            let counts = try #require(report["counts"] as? [String: Int])
            #expect(counts["passed"] ?? 0 >= 30 && counts["notApplicable"] == 0, "\(counts)")
            #expect(try await liveRows(emulator) == 0)
        }
    }

    @Test("Ctrl-C ends a run soon, and the rows are deleted")
    func interrupted() async throws {
        let server = EmulatorServer(EmulatorConfiguration(dialect: .datasync, tables: ["TodoItem"]))
        // The rows are made, and the rule waits for an answer that does not come soon.
        server.emulator.inject(.delay(.seconds(600), times: 1) { $0.query.contains("orderby") })
        let url = try await server.start().absoluteString
        let process = try ToolProcess.start(
            ["conform", "--server", url, "--protocol", "3", "--chapter", "page"]
        )
        try await looking { server.emulator.pendingFaults == 0 }
        func liveRows() -> Int { server.emulator.rows(in: "TodoItem").count { $0["deleted"] == .bool(false) } }
        #expect(liveRows() >= 20)
        process.signal(SIGINT)
        let result = await process.result()
        #expect(result.status == 1)
        #expect(result.errors.contains("Interrupted; the rows of this run were deleted"))
        #expect(liveRows() == 0)
        await server.stop()
    }

    @Test("known deviations are read from a file; one that does not occur is status 1")
    func deviations() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("deviations.json")
        try await EmulatorProcess.with(3) { emulator in
            func run(_ text: String) async throws -> ToolProcess.Result {
                try Data(text.utf8).write(to: file)
                return try await ToolProcess.run(
                    [
                        "conform", "--server", emulator.url, "--protocol", "3", "--rule", "create.location",
                        "--deviations", file.path, "--json",
                    ]
                )
            }
            let expired = try await run("[{\"rule\": \"create.location\", \"reason\": \"gone\"}]")
            #expect(expired.status == 1)
            let entries = try expired.json()["expiredDeviations"] as? [[String: String]]
            #expect(entries == [["rule": "create.location", "reason": "gone"]])
            for wrong in ["{", "[{\"rule\": \"no.such\", \"reason\": \"x\"}]"] {
                let result = try await run(wrong)
                #expect(result.status == 64)
                #expect(try result.json()["error"] is [String: Any])
            }
        }
    }

    @Test("no server is one message; plain HTTP to another machine is refused; --server needs --protocol")
    func refused() async throws {
        let nobody = ["conform", "--server", "http://127.0.0.1:1", "--protocol", "3"]
        let unreachable = try await ToolProcess.run(nobody + ["--json"])
        #expect(unreachable.status == 1 && unreachable.message.contains("Nothing answers at 127.0.0.1:1"))
        #expect(try unreachable.json()["error"] is [String: Any])
        let insecure = try await ToolProcess.run(["conform", "--server", "http://10.0.0.1", "--protocol", "3"])
        #expect(insecure.status == 1 && insecure.message.contains("add --allow-insecure-http"))
        #expect(try await ToolProcess.run(["conform", "--server", "http://127.0.0.1:1"]).status == 64)
        #expect(try await ToolProcess.run(nobody + ["--column", "colour=red"]).status == 64)
        #expect(try await ToolProcess.run(nobody + ["--rule", "no.such"]).status == 64)
        #expect(try await ToolProcess.run(nobody + ["--profile", "no.such"]).status == 64)
        for option in [["--lasting-rows"], ["--header", "A=b"], ["--column", "text=title"], ["--profile", "node4"]] {
            let result = try await ToolProcess.run(["conform"] + option)
            #expect(result.status == 64 && result.errors.contains("is about a server"), "\(result.errors)")
        }
        for header in ["secret", "no name=secret", "X-Name=secret\nX-Other: x"] {
            let result = try await ToolProcess.run(nobody + ["--header", header])
            #expect(result.status == 64 && !result.message.contains("secret\n"), "\(result)")
        }
    }

    @Test("a header goes with every request; a run in which nothing could be judged is status 1")
    func headers() async throws {
        let emulator = Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["TodoItem"]))
        let server = EmulatorServer(emulator) { request, emulator in
            guard request.headers["X-Key"] == "a=b" else { return EmulatorResponse(401) }
            return try await emulator.handle(request)
        }
        let url = try await server.start().absoluteString
        let command = ["conform", "--server", url, "--protocol", "3"]
        let refused = try await ToolProcess.run(command)
        #expect(refused.status == 1 && refused.message.contains("signed in"), "\(refused.message)")
        let judged = try await ToolProcess.run(command + ["--rule", "create.with-id", "--header", "X-Key=a=b"])
        #expect(judged.status == 0, "\(judged.output)")
        let nothing = try await ToolProcess.run(command + ["--rule", "create.empty-id", "--header", "X-Key=a=b"])
        #expect(nothing.status == 1 && nothing.message.contains("nothing was judged"), "\(nothing.message)")
        #expect(nothing.output.contains("NOTHING JUDGED"))
        await server.stop()
    }

    @Test("the rules of a protocol are listed as one object", arguments: ["3", "2"])
    func list(_ number: String) async throws {
        let result = try await ToolProcess.run(["conform", "--list", "--json", "--protocol", number])
        #expect(result.status == 0)
        let rules = try #require(try result.json()["rules"] as? [[String: Any]])
        #expect(rules.count >= 100)
        #expect(rules.allSatisfy { $0["id"] is String && $0["sentence"] is String && $0["source"] is String })
    }

    private func liveRows(_ emulator: EmulatorProcess) async throws -> Int {
        let query = emulator.protocolNumber == 3 ? "$count=true" : "$inlinecount=allpages"
        let answer = try await emulator.send("GET", "/tables/TodoItem?" + query)
        return try answer.object["count"] as? Int ?? 0
    }
}
