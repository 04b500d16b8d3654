import Foundation
import Testing

/// What the documentation tells people to type, in the order in which they read it.
@Suite("The documentation's commands")
struct PrintedCommandsTests {
    private static let articles = "Sources/SealedSync/SealedSync.docc/Articles/"

    @Test(
        "run in order, as they are printed",
        arguments: [
            ("README.md", ["Buy milk", "wait to be sent: 1", "Call Ann"]),
            (articles + "TheTool.md", ["Buy milk", "no damage"]),
            (articles + "Testing.md", []),
        ]
    )
    func commands(_ page: String, _ said: [String]) async throws {
        let folder = try TemporaryFolder()
        try folder.write(#"{"TodoItem": []}"#, to: "rows.json")
        let text = try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../" + page).standardizedFileURL,
            encoding: .utf8
        )
        let result = try await ToolProcess.run(
            program: URL(fileURLWithPath: "/bin/sh"),
            ["-c", try Self.script(of: text)],
            environment: [
                "FOLDER": folder.url.path, "HOME": folder.url.path, "XDG_DATA_HOME": folder.url.path,
                "PRODUCTS": try ToolProcess.executable.deletingLastPathComponent().path,
            ]
        )
        #expect(result.status == 0, "\(result.output) \(result.errors)")
        for words in said { #expect(result.output.contains(words), "\(result.output)") }
    }

    /// The lines of all shell blocks. A server gets a free port and is waited for; the build is there already; a line
    /// that says that it fails has to.
    static func script(of text: String) throws -> String {
        var lines = [
            "set -eu", #"cd "$FOLDER""#, "PATH=\"$PRODUCTS:$PATH\"; servers=",
            "trap 'kill $servers' EXIT",
            #"swift() { if [ "$*" = "build --show-bin-path" ]; then echo "$PRODUCTS"; fi; }"#,
        ]
        var descriptor = 3
        let blocks = text.components(separatedBy: "```sh\n").dropFirst().map { $0.components(separatedBy: "\n```")[0] }
        for line in blocks.flatMap({ $0.components(separatedBy: "\n") }) {
            let fails = line.contains(#/ # .*status 1/#)
            var command = line.replacing(#/ +# .*/#, with: "")
                .replacing(#/127\.0\.0\.1:(\d+)/#) { "127.0.0.1:$port\($0.1)" }
            if let match = command.firstMatch(of: #/--port (\d+)(.*) &$/#) {
                let port = match.1
                command = """
                    mkfifo server\(port)
                    \(command.replacing("--port \(port)", with: "--port 0").dropLast(2)) >server\(port) &
                    servers="$servers $!"
                    exec \(descriptor)<server\(port)
                    read -r address <&\(descriptor); port\(port)=${address##*:}
                    """
                descriptor += 1
            }
            lines.append(fails ? "if \(command); then echo 'did not fail: \(command)'; exit 1; fi" : command)
        }
        try #require(descriptor > 3, "no server was found in the page")
        return lines.joined(separator: "\n")
    }
}
