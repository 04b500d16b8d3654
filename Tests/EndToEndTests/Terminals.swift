import ChildProcesses
import Foundation
import Testing

/// Runs commands on a terminal, with the `script` of util-linux.
enum Terminals {
    static var areAvailable: Bool {
        #if os(Linux)
        FileManager.default.isExecutableFile(atPath: "/usr/bin/script")
        #else
        false
        #endif
    }

    struct Result {
        var status: Int32?
        var output: String
    }

    /// Runs a command of the plain shell with a terminal for all three streams and types into it.
    ///
    /// A program whose status after Ctrl-C is asked for wants `exec` before it: the signal goes to the shell as well, and
    /// some shells end with it although the program did not.
    static func run(_ command: String, input: String) async throws -> Result {
        try await run(command, dialogue: [("", input)])
    }

    /// The same, with input that is typed when what is asked for stands on the terminal.
    static func run(_ command: String, dialogue: [(question: String, input: String)]) async throws -> Result {
        let script = URL(fileURLWithPath: "/usr/bin/script")
        let arguments = ["-q", "-e", "-c", command, "/dev/null"]
        // `script` takes the user's shell, and those differ.
        let environment = ProcessInfo.processInfo.environment.merging(["SHELL": "/bin/sh"]) { $1 }
        let process = try ChildProcess(.init(script, arguments, environment: environment, input: .typed))
        var seen = 0
        for (question, input) in dialogue {
            guard let place = await process.output(contains: question, from: seen) else { break }
            seen = place
            try process.type(input)
        }
        let result = await process.result()
        return Result(status: result.status, output: result.output + result.errors)
    }
}
