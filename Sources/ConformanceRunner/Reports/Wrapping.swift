extension String {
    /// This text behind a prefix, in lines of at most 80 characters, broken at spaces. The lines after the first begin
    /// with spaces, as many as the prefix has characters or as given. A word longer than a line stays whole.
    func wrapped(after prefix: String = "", indent: Int? = nil) -> String {
        let words = split(separator: " ", omittingEmptySubsequences: false)
        var lines: [String] = []
        var line = prefix + (words.first ?? "")
        for word in words.dropFirst() {
            if line.count + 1 + word.count > 80 {
                lines.append(line)
                line = String(repeating: " ", count: indent ?? prefix.count) + word
            } else {
                line += " " + word
            }
        }
        return (lines + [line]).joined(separator: "\n")
    }
}
