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
        try await run(command, dialogue: [("", input)])
    }

    /// The same, with input that is typed when what is asked for stands on the terminal.
    static func run(_ command: String, dialogue: [(question: String, input: String)]) async throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/script")
        process.arguments = ["-q", "-e", "-c", command, "/dev/null"]
        let (typed, shown) = (Pipe(), Pipe())
        process.standardInput = typed
        process.standardOutput = shown
        process.standardError = shown
        try process.run()
        let output = try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global()
                .async {
                    continuation.resume(with: Swift.Result { try converse(dialogue, typed, shown) })
                }
        }
        await ToolProcess.end(of: process)
        return Result(status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
    }

    /// Types each input when its question has appeared after the one before, and returns all that was shown.
    private static func converse(
        _ dialogue: [(question: String, input: String)],
        _ typed: Pipe,
        _ shown: Pipe
    ) throws -> Data {
        var output = Data()
        var seen = output.startIndex
        for (question, input) in dialogue {
            while !question.isEmpty {
                if let range = output[seen...].firstRange(of: Data(question.utf8)) {
                    seen = range.upperBound
                    break
                }
                let more = shown.fileHandleForReading.availableData
                guard !more.isEmpty else { return output }
                output += more
            }
            try typed.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        }
        return output + shown.fileHandleForReading.readDataToEndOfFile()
    }
}
