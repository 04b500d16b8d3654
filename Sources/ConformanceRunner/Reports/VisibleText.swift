extension Unicode.Scalar {
    /// Whether a terminal may do something else with this than show it: move, clear, colour, turn the direction of
    /// writing, or nothing at all.
    var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        // What joins emoji and letters of some scripts is part of them; the rest turns writing round or hides.
        case .format: value != 0x200D && value != 0x200C
        default: false
        }
    }

    /// The scalar as `\u{1B}`.
    var writtenOut: String { "\\u{\(String(value, radix: 16, uppercase: true))}" }

    /// How many columns of a terminal this takes up beside others: none for marks, two for East Asian signs and emoji.
    fileprivate var columns: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F000...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return properties.isEmojiPresentation ? 2 : 1
        }
    }
}

extension StringProtocol {
    /// The text with everything written out that a terminal would not show.
    package var visible: String {
        guard unicodeScalars.contains(where: \.isInvisible) else { return String(self) }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.isInvisible { text += scalar.writtenOut } else { text.unicodeScalars.append(scalar) }
        }
        return text
    }

    /// How many columns of a terminal the text takes up at most.
    var columns: Int { unicodeScalars.reduce(0) { $0 + $1.columns } }
}
