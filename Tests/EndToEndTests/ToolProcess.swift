import ChildProcesses
import Foundation
import Testing

/// The built tool `sealedsync` as a process.
enum ToolProcess {
    struct Result {
        /// The exit status; nil when a signal ended the process.
        var status: Int32?
        var output: String
        var errors: String

        /// What was said on standard error, in one line: sentences are broken to fit 80 columns.
        var message: String { errors.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

        /// The one JSON object on standard output.
        func json() throws -> [String: Any] {
            let lines = output.split(separator: "\n")
            try #require(lines.count == 1, "one JSON object on standard output, got: \(output) \(errors)")
            let object = try JSONSerialization.jsonObject(with: Data(output.utf8))
            return try #require(object as? [String: Any])
        }
    }

    /// The tool beside the test bundle.
    static var executable: URL {
        get throws { try ChildProcess.built("sealedsync") }
    }

    /// Runs the tool to its end, through another program when one is given with its arguments. Nothing of the test's
    /// own environment but the path reaches it.
    static func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        through launcher: [String] = []
    ) async throws -> Result {
        try await run(
            program: launcher.isEmpty ? executable : URL(fileURLWithPath: "/usr/bin/env"),
            launcher.isEmpty ? arguments : launcher + [executable.path] + arguments,
            environment: environment
        )
    }

    /// Runs any program to its end, in the same environment.
    static func run(program: URL, _ arguments: [String], environment: [String: String] = [:]) async throws -> Result {
        let result = try await ChildProcess.run(.init(program, arguments, environment: merged(environment)))
        return Result(status: result.status, output: result.output, errors: result.errors)
    }

    /// Starts the tool and returns at once.
    static func start(
        _ arguments: [String],
        environment: [String: String] = [:],
        input: ChildProcess.Command.Input = .nothing
    ) throws -> ChildProcess {
        try ChildProcess(.init(executable, arguments, environment: merged(environment), input: input))
    }

    /// Runs a shell command and returns its status.
    static func shell(_ command: String) async throws -> Int32? {
        try await ChildProcess.run(.init(URL(fileURLWithPath: "/bin/sh"), ["-c", command])).status
    }

    private static func merged(_ environment: [String: String]) -> [String: String] {
        let inherited = ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"]
        return ProcessInfo.processInfo.environment.filter { inherited.contains($0.key) }
            .merging(environment) { _, new in new }
    }
}

/// A folder that is removed with the object.
final class TemporaryFolder: Sendable {
    let url: URL
    private let isOwned: Bool

    /// Names a folder that somebody else removes.
    init(existing url: URL) throws {
        self.url = url
        isOwned = false
    }

    init() throws {
        isOwned = true
        url = FileManager.default.temporaryDirectory.appendingPathComponent("sealedsync-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        guard isOwned else { return }
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            print("the temporary folder \(url.path) could not be removed: \(error)")
        }
    }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// Writes a file for its owner alone, or with another mode.
    @discardableResult
    func write(_ text: String, to name: String, mode: Int = 0o600) throws -> URL {
        let file = file(name)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        return file
    }
}
