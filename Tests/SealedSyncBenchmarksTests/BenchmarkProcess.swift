import ChildProcesses
import Foundation
import Testing

/// The built benchmarks as a process, with a temporary folder of their own that they must leave empty.
enum BenchmarkProcess {
    /// Runs the benchmarks to their end and reads the one JSON object on standard output.
    static func run(_ arguments: [String], accepting statuses: [Int32] = [0]) async throws -> [String: Any] {
        let (status, output) = try await result(of: arguments)
        #expect(statuses.contains(status))
        #expect(output.split(separator: "\n").count == 1)
        return try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    }

    /// Runs the benchmarks to their end.
    static func status(_ arguments: [String]) async throws -> Int32 { try await result(of: arguments).status }

    private static func result(of arguments: [String]) async throws -> (status: Int32, output: String) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sealedsync-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { _, new in new }
        let command = try ChildProcess.Command(
            ChildProcess.built("sealedsync-bench"),
            arguments,
            environment: environment
        )
        let result = try await ChildProcess.run(command)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        return (try #require(result.status, "ended by a signal: \(result.errors)"), result.output)
    }
}
