import ChildProcesses
import DatasyncEmulator
import Foundation
import Testing

@testable import SealedSyncCommands

@Suite("What todo push, pull and sync say when not everything went well")
struct SyncReportTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Lends a server in this process and a device whose change waits.
    private func with(_ body: (Emulator, Device) async throws -> Void) async throws {
        let server = EmulatorServer(EmulatorConfiguration(dialect: .datasync, tables: ["TodoItem"]))
        let url = try await server.start()
        let device = try await Device.make("d", in: folder, server: url.absoluteString, protocolNumber: 3)
        _ = try await device.add("Buy milk", id: "milk")
        try await body(server.emulator, device)
        await server.stop()
    }

    @Test("a pull that fails does not hide what the push did", arguments: [true, false])
    func pullFails(_ json: Bool) async throws {
        try await with { emulator, device in
            emulator.inject(.respond(EmulatorResponse(503), times: 9) { $0.method == "GET" })
            let result = try await device.run(["sync"] + (json ? ["--json"] : []))
            #expect(result.status == 1)
            if json {
                let answer = try result.json()
                #expect(answer["pushed"] as? Int == 1)
                #expect((answer["error"] as? [String: Any])?["code"] as? String == "pullAborted")
            } else {
                #expect(result.output.contains("pushed 1") && result.message.contains("come back later"))
            }
        }
    }

    @Test("what was not sent, or was overtaken, has a line that says what to do next")
    func notes() {
        #expect(SyncAnswer(pushed: 3).notes(store: "s").isEmpty)
        let lines = SyncAnswer(conflicts: 1, waiting: 2, overtaken: 1).notes(store: "todo-store")
        #expect(
            lines == [
                "1 in conflict: 'sealedsync todo conflicts --store todo-store' shows them",
                "2 changes not sent, because others have to go first: settle what 'sealedsync todo conflicts --store"
                    + " todo-store' shows, then push again",
                "1 change not taken, because others wrote the same row again and again, or it was edited while it was"
                    + " sent: push again",
            ]
        )
    }

    @Test("a change that others overtake every time is told, and taken by the next push", arguments: [true, false])
    func overtaken(_ json: Bool) async throws {
        try await with { emulator, device in
            #expect(try await device.json("push")["pushed"] as? Int == 1)
            #expect(try await device.run(["done", "milk"]).status == 0)
            for number in 1...6 {
                let row =
                    #"{"id":"milk","text":"Buy milk","complete":false,"deleted":false,"version":"v\#(number)","#
                    + #""updatedAt":"2026-01-02T03:04:0\#(number).000Z"}"#
                let answer = EmulatorResponse(412, headers: ["Content-Type": "application/json"], body: Data(row.utf8))
                emulator.inject(.respond(answer, times: 1) { ["PUT", "PATCH"].contains($0.method) })
            }
            let result = try await device.run(["push"] + (json ? ["--json"] : []))
            #expect(result.status == 0, "\(result.message)")
            if json {
                let answer = try result.json()
                #expect(answer["overtaken"] as? Int == 1 && answer["waiting"] as? Int == 0)
            } else {
                #expect(result.output.contains("1 change not taken, because others wrote the same row"))
            }
            #expect(try await device.json("push")["pushed"] as? Int == 1)
        }
    }

    @Test("a refused change shows the status and the server's words by member")
    func refused() async throws {
        try await with { emulator, device in
            let words = #"[{"memberNames":["Text"],"errorMessage":"The field Text is too long."}]"#
            emulator.inject(
                .respond(
                    EmulatorResponse(400, headers: ["Content-Type": "application/json"], body: Data(words.utf8))
                ) { $0.method == "POST" }
            )
            let result = try await device.run(["push"])
            #expect(result.status == 1)
            #expect(result.message.contains("Text: The field Text is too long. (HTTP 400)"), "\(result.message)")
            #expect(try await device.run(["conflicts"]).output.contains("(HTTP 400)"))
            #expect(try await device.run(["resolve", "milk", "--keep-mine"]).status == 0)
            #expect(try await device.json("push")["pushed"] as? Int == 1)
        }
    }

    @Test(
        "Ctrl-C ends a sync in good order: status 1, one object, and the change is there",
        arguments: [SIGINT, SIGTERM]
    )
    func interrupted(_ signal: Int32) async throws {
        try await with { emulator, device in
            emulator.inject(.delay(.seconds(600)) { $0.method == "POST" })
            let process = try ToolProcess.start(["todo", "sync", "--store", device.folder.path, "--json"])
            try await looking { !process.isRunning || emulator.pendingFaults == 0 }
            process.signal(signal)
            let ended = await process.result()
            let result = ToolProcess.Result(status: ended.status, output: ended.output, errors: ended.errors)
            #expect(result.status == 1, "not by the signal")
            #expect((try result.json()["error"] as? [String: Any])?["code"] as? String == "cancelled")
            #expect(result.message.contains("Interrupted"))
            #expect(try await device.json("status")["pending"] as? Int == 1)
        }
    }

    @Test(
        "an address with a password or a query is told as what it is, and no password is shown",
        arguments: [
            ("https://u:hunter2@example.org", "password"), ("http://u:hunter2@example.org", "password"),
            ("http://u:hunter2@127.0.0.1:1", "password"), ("http://127.0.0.1:1?hunter2=x", "query"),
            ("http://u:hunter2@exa mple.org", "not the address"), ("http://127.0.0.1:1#hunter2", "fragment"),
        ]
    )
    func addresses(_ address: String, _ word: String) async throws {
        let result = try await ToolProcess.run(["todo", "init", "--store", folder.file("a").path, "--server", address])
        #expect(result.status == 1 && result.message.contains(word), "\(result.message)")
        #expect(!(result.output + result.errors).contains("hunter2"))
    }

    @Test("TLS to a plain port says so")
    func plainPort() async throws {
        try await with { emulator, device in
            let plain = try await device.run(["status"]).output
            let address = try #require(plain.firstMatch(of: /http:..127\.0\.0\.1:\d+/).map { String($0.output) })
            let result = try await device.run(["push", "--server", address.replacing("http:", with: "https:")])
            #expect(result.status == 1 && result.message.contains("does not speak TLS"), "\(result.message)")
        }
    }

    @Test("TLS to a port that closes the connection at once says what may be the matter")
    func closingPort() async throws {
        let proxy = LossyProxy(upstream: 9)
        let address = try proxy.start().absoluteString
        try await with { _, device in
            let result = try await device.run(["push", "--server", address.replacing("http:", with: "https:")])
            #expect(result.status == 1 && result.message.contains("does not speak TLS"), "\(result.message)")
        }
        proxy.stop()
    }
}
