import Foundation
import Testing

@Suite("Help, wrong usage and completion of the built tool")
struct UsageTests {
    @Test(
        "wrong usage under --json is also told as one error object",
        arguments: [
            (["todo", "list", "--json"], "Missing expected argument: '--store <dir>'."),
            (["--json", "nonsense"], "Unknown option '--json'. Options stand behind the subcommand."),
            (["nonsense", "--json"], "Unknown subcommand 'nonsense'."),
            (["todo", "lits", "--json"], "Unknown subcommand 'lits'. Did you mean 'list'?"),
            (["todo", "add", "Buy", "milk", "--json", "--store", "d"], "Unexpected argument 'milk'."),
            (["emulator", "--json", "--port", "65536"], "give a whole number from 0 to 65535."),
            (["emulator", "--json", "--protocol", "4"], "--protocol is 3 (Datasync) or 2 (Azure Mobile Apps)."),
            (["conform", "--json", "--junit"], "Choose one of '--json', '--junit' and '--markdown'."),
            (["conform", "--json", "--store", "encrpted"], "Did you mean 'encrypted'?"),
        ]
    )
    func errorObject(arguments: [String], message: String) async throws {
        let result = try await ToolProcess.run(arguments)
        #expect(result.status == 64)
        #expect(result.errors.contains(message) && result.errors.contains("Usage: sealedsync"), "\(result.errors)")
        let answer = try result.json()
        let error = try #require(answer["error"] as? [String: String])
        #expect(answer.count == 1 && error.count == 2)
        #expect(error["code"] == "usage" && error["message"]?.contains(message) == true, "\(error)")
    }

    @Test("without --json, or behind --, standard output stays empty", arguments: [[], ["--", "--json"]])
    func noErrorObject(arguments: [String]) async throws {
        let result = try await ToolProcess.run(["todo", "done"] + arguments)
        #expect(result.status == 64 && result.output.isEmpty && !result.errors.isEmpty)
    }

    @Test("a parent without a subcommand shows its help on standard output, with status 0")
    func parent() async throws {
        for arguments in [["todo"], ["help", "todo"], ["todo", "--help"]] {
            let result = try await ToolProcess.run(arguments)
            #expect(result.status == 0 && result.errors.isEmpty)
            #expect(result.output.contains("USAGE: sealedsync todo <subcommand>"))
        }
        #expect(try await ToolProcess.run(["--version"]).output == "0.1.0\n")
    }

    @Test("required alternatives are shown as such")
    func alternatives() async throws {
        let help = try await ToolProcess.run(["help", "todo", "resolve"])
        #expect(help.output.contains("USAGE: sealedsync todo resolve <id> (--keep-mine|--take-server|--discard)"))
        let missing = try await ToolProcess.run(["todo", "resolve", "x", "--store", "d"])
        #expect(missing.message.contains("argument: one of '--keep-mine', '--take-server', '--discard'."))
    }

    @Test("help fits the terminal, and 80 columns", arguments: [(45, 45), (80, 80), (200, 80)])
    func width(columns: Int, widest: Int) async throws {
        let arguments = ["todo", "pull", "--help"]
        let asVariable = try await ToolProcess.run(arguments, environment: ["COLUMNS": "\(columns)"])
        let longest = asVariable.output.split(separator: "\n").map(\.count).max() ?? 0
        #expect(longest <= widest && longest > widest - 10)
        guard Terminals.areAvailable else { return }
        let command = "stty cols \(columns); env -u COLUMNS '\(try ToolProcess.executable.path)' todo pull --help"
        let onTerminal = try await Terminals.run(command, input: "")
        #expect(onTerminal.output.replacing("\r\n", with: "\n").contains(asVariable.output))
    }

    @Test(
        "completion scripts offer subcommands, options and values, and leave file names to the shell",
        arguments: ["bash", "zsh", "fish"]
    )
    func completion(shell: String) async throws {
        let program = ["/bin", "/usr/bin", "/usr/local/bin"].map { URL(fileURLWithPath: "\($0)/\(shell)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        guard let program else { return print("there is no \(shell) here: its script is not tested") }
        func words(_ line: String) async throws -> Set<String> {
            let folder = try ToolProcess.executable.deletingLastPathComponent().path
            let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            let result = try await ToolProcess.run(
                program: program,
                ["-c", Self.drivers[shell] ?? "", shell]
                    + line.split(separator: " ", omittingEmptySubsequences: false)
                    .map(String.init),
                environment: ["PATH": "\(folder):\(path)"]
            )
            #expect(result.errors.isEmpty && result.status == 0, "\(result.errors)")
            // Behind a tab stands what the shell shows beside the word.
            return Set(
                result.output.split(separator: "\n").compactMap { $0.split(separator: "\t").first.map(String.init) }
            )
        }
        #expect(try await words("sealedsync to") == ["todo"])
        #expect(try await words("sealedsync help keys ro") == ["rotate"])
        #expect(
            try await words("sealedsync todo resolve x --").isSuperset(of: ["--keep-mine", "--discard", "--store"])
        )
        #expect(try await words("sealedsync conform --store ") == ["encrypted", "memory"])
        #expect(try await words("sealedsync completion f") == ["fish"])
        let files = try await words("sealedsync todo list --store /usr/loca")
        #expect(files == (shell == "fish" ? ["/usr/local/"] : []))
    }

    /// Each evaluates the script and prints what it finds for the line that its arguments are.
    private static let drivers = [
        "bash": """
        eval "$(sealedsync completion bash)"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _sealedsync && printf '%s\\n' "${COMPREPLY[@]}"
        """,
        // What belongs to zsh's line editor is replaced: the editor needs a terminal.
        "zsh": """
        compdef() { [[ "$*" == "_sealedsync sealedsync" ]] }
        _describe() { print -lr -- "${(@)${(@P)2}%%:*}" }
        _files() { true }
        eval "$(sealedsync completion zsh)"
        words=("$@") CURRENT=$#
        _sealedsync
        """,
        "fish": """
        sealedsync completion fish | source
        complete -C "$argv[2..]"
        """,
    ]
}
