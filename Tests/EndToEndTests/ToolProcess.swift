import Foundation
import Synchronization
import Testing

/// The built tool `sealedsync` as a process.
struct ToolProcess {
    struct Result {
        var status: Int32
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

    /// The tool beside the test bundle, where the build puts both.
    static var executable: URL {
        get throws {
            let folder = try #require(Bundle.main.executableURL).deletingLastPathComponent()
            var candidates = [folder]
            // On some platforms the bundle is a folder of its own inside the products' folder.
            for _ in 0..<4 { candidates.append(candidates[candidates.count - 1].deletingLastPathComponent()) }
            let found = candidates.map { $0.appendingPathComponent("sealedsync") }
                .first { FileManager.default.isExecutableFile(atPath: $0.path) }
            return try #require(found, "the tool was not built")
        }
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
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = inherited.merging(environment) { _, new in new }
        let output = Pipe()
        let errors = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        async let outputText = text(of: output)
        async let errorText = text(of: errors)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return Result(status: process.terminationStatus, output: await outputText, errors: await errorText)
    }

    /// Starts the tool and returns at once.
    static func start(
        _ arguments: [String],
        output: Pipe,
        errors: Pipe? = nil,
        environment: [String: String] = [:]
    ) throws -> Process {
        let process = Process()
        process.executableURL = try executable
        process.arguments = arguments
        process.environment = inherited.merging(environment) { _, new in new }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        if let errors { process.standardError = errors }
        try process.run()
        return process
    }

    /// Returns when a process has ended.
    static func end(of process: Process) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global()
                .async {
                    process.waitUntilExit()
                    continuation.resume()
                }
        }
    }

    /// Runs a shell command and returns its status.
    static func shell(_ command: String) async throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        try process.run()
        await end(of: process)
        return process.terminationStatus
    }

    private static var inherited: [String: String] {
        ProcessInfo.processInfo.environment.filter { ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"].contains($0.key) }
    }

    private static func text(of pipe: Pipe) async -> String {
        await withCheckedContinuation { continuation in
            // A blocking read has no place on the cooperative pool.
            DispatchQueue.global()
                .async {
                    continuation.resume(
                        returning: String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                    )
                }
        }
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
