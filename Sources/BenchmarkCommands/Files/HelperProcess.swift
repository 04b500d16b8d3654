internal import Foundation

/// This program, started again; it ends with its standard input.
final class HelperProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var rest = Data()

    init(_ arguments: [String]) throws {
        process.executableURL = URL(filePath: try ServerProcess.executablePath())
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// The next line it says; nil at the end. Blocks.
    func nextLine() -> String? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest = Data(rest[rest.index(after: end)...])
                return line
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { return nil }
            rest += more
        }
    }

    /// Waits for its end.
    ///
    /// - Returns: Whether it says that it went well.
    @discardableResult
    func end() -> Bool {
        do { try input.fileHandleForWriting.close() } catch { process.terminate() }
        process.waitUntilExit()
        return process.terminationReason == .exit && process.terminationStatus == 0
    }
}
