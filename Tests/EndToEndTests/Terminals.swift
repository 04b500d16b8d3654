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
        var status: Int32
        var output: String
    }

    /// Runs a shell command with a terminal for all three streams and types into it.
    static func run(_ command: String, input: String) async throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/script")
        process.arguments = ["-q", "-e", "-c", command, "/dev/null"]
        let (typed, shown) = (Pipe(), Pipe())
        process.standardInput = typed
        process.standardOutput = shown
        process.standardError = shown
        try process.run()
        try typed.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        let output = await withCheckedContinuation { continuation in
            DispatchQueue.global()
                .async { continuation.resume(returning: shown.fileHandleForReading.readDataToEndOfFile()) }
        }
        await ToolProcess.end(of: process)
        return Result(status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
    }
}
