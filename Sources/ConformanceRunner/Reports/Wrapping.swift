extension String {
    /// This text behind a prefix, in lines of at most 80 columns, broken at spaces and at the text's own line ends. The
    /// lines after the first begin with spaces, as many as the prefix has characters or as given. A word longer than a
    /// line is broken, and what a terminal would not show is written out, so that no text can do anything but stand
    /// there.
    func wrapped(after prefix: String = "", indent: Int? = nil) -> String {
        let margin = String(repeating: " ", count: indent ?? prefix.count)
        var lines: [String] = []
        for text in split(separator: "\n", omittingEmptySubsequences: false) {
            var line = lines.isEmpty ? prefix : margin
            var isEmpty = true
            for word in text.visible.split(separator: " ", omittingEmptySubsequences: false) {
                if !isEmpty, line.columns + 1 + word.columns <= Self.width {
                    line += " " + word
                    continue
                }
                if !isEmpty {
                    lines.append(line)
                    line = margin
                }
                isEmpty = false
                for character in word {
                    if line.columns + String(character).columns > Self.width, line != margin {
                        lines.append(line)
                        line = margin
                    }
                    line.append(character)
                }
            }
            lines.append(line)
        }
        return lines.joined(separator: "\n")
    }

    private static var width: Int { 80 }
}
