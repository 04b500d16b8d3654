internal import Foundation

/// What there is to know about the terminal, if there is one.
enum Terminal {
    static var isStandardErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    static var isStandardInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// The columns of the terminal behind standard error; 80 when that is unknown.
    static var width: Int {
        var size = winsize()
        let request = UInt(TIOCGWINSZ)
        guard unsafe ioctl(STDERR_FILENO, request, &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// The lines of a text, broken at spaces so that they fit 80 columns. A word that is longer has a line of its own.
    static func lines(_ text: String, width: Int = 80, indentation: Int = 0) -> [String] {
        var lines: [String] = []
        var line = ""
        let margin = String(repeating: " ", count: indentation)
        for word in text.split(separator: " ") {
            let longer = line.isEmpty ? (lines.isEmpty ? "" : margin) + word : "\(line) \(word)"
            if longer.count > width, !line.isEmpty {
                lines.append(line)
                line = margin + word
            } else {
                line = longer
            }
        }
        return line.isEmpty ? lines : lines + [line]
    }
}
