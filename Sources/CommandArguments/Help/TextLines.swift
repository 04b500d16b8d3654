extension String {
    /// A space inside a part of a usage that stays on one line where it fits.
    static let softSpace = "\u{A0}"

    /// The text in lines of a width: broken at spaces, words that are wider where they can be read on.
    ///
    /// Line ends in the text stay. A width below one counts as one.
    func lines(ofWidth width: Int) -> [String] {
        let width = Swift.max(width, 1)
        return split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { paragraph in
                var lines = [""]
                for word in paragraph.split(separator: " ").flatMap({ $0.pieces(ofWidth: width) }) {
                    let last = lines[lines.count - 1]
                    if last.isEmpty {
                        lines[lines.count - 1] = word
                    } else if last.count + 1 + word.count <= width {
                        lines[lines.count - 1] += " " + word
                    } else {
                        lines.append(word)
                    }
                }
                return lines
            }
            .map { line in String(line.map { $0 == "\u{A0}" ? " " : $0 }) }
    }
}

extension Substring {
    /// The word, or pieces of it that fit: up to a soft space, a bar or a slash, or else cut anywhere.
    fileprivate func pieces(ofWidth width: Int) -> [String] {
        var pieces: [String] = []
        var rest = self
        while rest.count > width {
            let most = rest.prefix(width)
            let end = most.lastIndex { $0 == "\u{A0}" || $0 == "|" || $0 == "/" }.map { rest.index(after: $0) }
            let piece = rest[..<(end ?? most.endIndex)]
            pieces.append(String(piece.last == "\u{A0}" ? piece.dropLast() : piece))
            rest = rest[piece.endIndex...]
        }
        return rest.isEmpty ? pieces : pieces + [String(rest)]
    }
}
