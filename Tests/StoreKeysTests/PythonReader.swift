import ChildProcesses
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
        let result = try await ChildProcess.run(.named("python3", arguments))
        return (result.status ?? -1, result.output + result.errors)
    }
}
