import Foundation

/// Runs the reader that is printed in the description of the format.
struct PythonReader {
    private let program: URL

    init(program text: String, folder: TemporaryFolder) throws {
        program = folder.url.appending(path: "reader.py")
        try Data(text.utf8).write(to: program)
    }

    static func isAvailable() async throws -> Bool {
        try await run(["-c", "import cryptography.hazmat.primitives.ciphers.aead"]).status == 0
    }

    /// What the reader prints about a file: the keys, or why there are none.
    func read(_ file: URL, _ kind: String, _ secret: URL) async throws -> String {
        try await Self.run([program.path(), file.path(), kind, secret.path()]).output
    }

    private static func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { process in
                // A line or two, which the pipe holds.
                let output = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
                continuation.resume(returning: (process.terminationStatus, output))
            }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
    }
}
