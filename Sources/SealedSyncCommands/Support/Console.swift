internal import Foundation

/// Writes to the two standard streams, unbuffered, so that a program that reads along sees every line at once.
enum Console {
    /// One line for people on standard output.
    static func write(_ line: String) {
        write(line, to: .standardOutput)
    }

    /// A text that has its own line ends, on standard output.
    static func write(verbatim text: String) {
        write(text, to: .standardOutput, terminator: "")
    }

    /// One line for people on standard error.
    static func writeError(_ line: String, terminator: String = "\n") {
        write(line, to: .standardError, terminator: terminator)
    }

    /// A sentence for people on standard error. A terminal gets it broken into lines that fit 80 columns; a file or a
    /// program, which may search in it, gets one line.
    static func writeError(sentence: String) {
        let lines = Terminal.isStandardErrorTerminal ? Terminal.lines(sentence) : [sentence]
        for line in lines { writeError(line) }
    }

    /// A sentence for people, broken into lines that fit 80 columns.
    static func write(sentence: String, indentation: Int = 0) {
        for line in Terminal.lines(sentence, indentation: indentation) { write(line) }
    }

    /// A stream that cannot be written, such as a pipe whose reader has gone, must not end what is being done.
    private static func write(_ line: String, to stream: FileHandle, terminator: String = "\n") {
        do {
            try stream.write(contentsOf: Data((line + terminator).utf8))
        } catch {
            // There is nobody left to tell.
        }
    }

    /// One JSON object for programs on standard output.
    static func write(json value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        write(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}

/// A number with its noun: `1 row`, `2 rows`.
func countText(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
