import Foundation
import Testing

@Suite("The example apps")
struct ExampleTests {
    /// The offline test of the original tutorials: with a wrong address nothing is lost, and with the right one
    /// everything is sent.
    @Test("the to-do list keeps what it could not send, and sends it")
    func todo() async throws {
        let folder = try TemporaryFolder()
        try await EmulatorProcess.with(3) { emulator in
            let offline = try await run(in: folder, "http://127.0.0.1:9", ["add Buy milk", "add Call Ann", "sync"])
            let lines = offline.output.split(separator: "\n")
            #expect(lines.suffix(3).prefix(2) == ["- Buy milk", "- Call Ann"])
            let said = try #require(lines.last)
            #expect(said.hasPrefix("2 waiting; ") && !said.hasSuffix("all well"))

            let online = try await run(in: folder, emulator.url, ["sync", "done Call Ann", "sync"])
            #expect(online.output.hasSuffix("- Buy milk\n0 waiting; all well\n"), "\(online.output)")
            let rows = try #require(try await emulator.send("GET", "/tables/TodoItem").object["items"] as? [Any])
            #expect(rows.count == 2)
        }
    }

    private func run(in folder: TemporaryFolder, _ address: String, _ lines: [String]) async throws
        -> ToolProcess.Result
    {
        let program = try ToolProcess.executable.deletingLastPathComponent().appending(path: "todo")
        let result = try await ToolProcess.run(
            program: URL(fileURLWithPath: "/bin/sh"),
            ["-c", #"printf '%s\n' "$INPUT" | "$PROGRAM" "$ADDRESS""#],
            environment: [
                "INPUT": (["a passphrase"] + lines).joined(separator: "\n"), "PROGRAM": program.path,
                "ADDRESS": address,
                "HOME": folder.url.path, "XDG_DATA_HOME": folder.url.path,
            ]
        )
        try #require(result.status == 0, "\(result.errors)")
        return result
    }
}
