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
        let process = Process()
        process.executableURL = try executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { _, new in new }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let text = try await withCheckedThrowingContinuation { continuation in
            // Waiting blocks: it has no place on the cooperative pool.
            DispatchQueue.global()
                .async {
                    continuation.resume(
                        with: Result {
                            try process.run()
                            let data = output.fileHandleForReading.readDataToEndOfFile()
                            process.waitUntilExit()
                            return String(decoding: data, as: UTF8.self)
                        }
                    )
                }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        return (process.terminationStatus, text)
    }

    /// The benchmarks beside the test bundle, where the build puts both.
    private static var executable: URL {
        get throws {
            var folder = try #require(Bundle.main.executableURL).deletingLastPathComponent()
            for _ in 0..<5 {
                let candidate = folder.appending(path: "sealedsync-bench")
                if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
                // On some platforms the bundle is a folder of its own inside the products' folder.
                folder.deleteLastPathComponent()
            }
            throw CocoaError(.fileNoSuchFile)
        }
    }
}
