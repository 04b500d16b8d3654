import SyncContract

/// Text with the differences taken away that people do not mean when they search or sort: case, accents, widths.
///
/// Folding is the same in every language (root locale), on every system and in every version of this library with the
/// same ``version``: it goes by a table of its own, not by the system's. What it does, scalar by scalar:
///
/// - Compatibility decomposition: width variants, ligatures, superscripts and presentation forms become plain letters.
///   Syllables of Hangul stay composed.
/// - Full case folding: `STRASSE` and `straße` are equal, final sigma is sigma. The Turkish `İ` and `ı` are `i`, as in
///   every other language.
/// - Accents and signs that are often left out are removed: those of Latin, Greek, Cyrillic, Hebrew, Arabic, Syriac and
///   Ethiopic, and Devanagari's nukta. So `ё` is `е`; `й` stays a letter of its own, as in Unicode's default collation.
///   Marks that make other words stay: vowel signs of Indic and South-East Asian scripts, tones, voice marks in Kana.
/// - Letters that do not decompose become their base: `Łódź` is `lodz`, and ø, đ, ħ, ŧ are o, d, h, t; æ, œ, ð, þ, ŋ are
///   ae, oe, d, th, n.
/// - Arabic: all forms of alef are one; ة is ه, ى and ی are ي, ک is ك; tatweel is removed. Hebrew: final forms are the
///   plain letters.
/// - Digits of all scripts are 0 to 9; typographic quotes and dashes are `'`, `"` and `-`; what has no visible form is
///   removed.
///
/// Texts that are canonically equivalent fold to the same bytes, and folding folded text changes nothing.
public enum TextFolding {
    /// Rises when anything folds to something else. What a store derived from folded text is then made anew.
    public static let version = TextFoldingData.version

    /// The version of the Unicode Character Database that the table was made from. Younger scalars fold to themselves.
    public static let unicodeVersion = TextFoldingData.unicodeVersion

    /// The folded form of a text.
    public static func fold(_ text: String) -> String {
        // Nearly all text in the world's databases: no table is needed.
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.asciiLowercased() }
        var output = FoldedScalars()
        for scalar in text.unicodeScalars { output.append(folding: scalar) }
        return output.text
    }
}

/// Collects folded scalars, and brings what belongs together into one order and one form.
private struct FoldedScalars {
    private let table = TextFoldingTable.shared
    private var scalars: [Unicode.Scalar] = []

    var text: String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    mutating func append(folding scalar: Unicode.Scalar) {
        switch table.mapping(of: scalar) {
        case .itself: append(scalar)
        case .scalar(let target): append(target)
        case .scalars(let targets):
            if targets.isEmpty, scalar == Self.breve { return composeShortI() }
            for target in targets { append(target) }
        }
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        let order = table.order(of: scalar)
        guard order == 0 else { return insert(scalar, order) }
        if let last = scalars.last, let syllable = Hangul.compose(last, scalar) {
            scalars[scalars.count - 1] = syllable
        } else {
            scalars.append(scalar)
        }
    }

    /// Marks that do not interact may come in any order: put them in the canonical one.
    private mutating func insert(_ mark: Unicode.Scalar, _ order: UInt8) {
        var index = scalars.count
        while index > 0, table.order(of: scalars[index - 1]) > order { index -= 1 }
        scalars.insert(mark, at: index)
    }

    private static let breve: Unicode.Scalar = "\u{306}"

    /// The one letter that is more than its base and a mark: й, decomposed.
    private mutating func composeShortI() {
        if let index = scalars.lastIndex(where: { table.order(of: $0) == 0 }), scalars[index] == "и" {
            scalars[index] = "й"
        }
    }
}

/// The arithmetic by which syllables of Hangul are made of their parts.
private enum Hangul {
    static func compose(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        switch (first.value, second.value) {
        case (0x1100...0x1112, 0x1161...0x1175):
            Unicode.Scalar(0xAC00 + ((first.value - 0x1100) * 21 + second.value - 0x1161) * 28)
        case (0xAC00...0xD7A3, 0x11A8...0x11C2) where (first.value - 0xAC00).isMultiple(of: 28):
            Unicode.Scalar(first.value + second.value - 0x11A7)
        default: nil
        }
    }
}
