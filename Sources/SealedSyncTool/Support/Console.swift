internal import Foundation

/// Writes to the two standard streams, unbuffered, so that a program that reads along sees every line at once.
enum Console {
    /// One line for people on standard output.
    static func write(_ line: String) {
        write(line, to: .standardOutput)
    }

    /// `1 request`, `2 requests`.
    static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// One line for people on standard error. A terminal gets it broken between words; a file or a program, which may
    /// search in it, as one line.
    static func writeError(_ line: String) {
        write(isatty(STDERR_FILENO) == 1 ? wrapped(line, width: 80) : line, to: .standardError)
    }

    /// A text in lines of at most the given width, as far as its words allow.
    static func wrapped(_ text: String, width: Int) -> String {
        var lines: [String] = []
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.joined(separator: "\n")
    }

    /// A stream that cannot be written, such as a pipe whose reader has gone, must not end what is being done.
    private static func write(_ line: String, to stream: FileHandle) {
        do {
            try stream.write(contentsOf: Data((line + "\n").utf8))
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
