import Foundation
import QueryEvaluation
import SeededNumbers
import SyncContract
import Testing

@Suite("Folded text")
struct TextFoldingTests {
    @Test(
        "what people take for the same text folds to the same",
        arguments: [
            ("ΆΛΦΑ", "αλφα"), ("Łódź", "lodz"), ("ПРИВЕТ", "привет"), ("İstanbul", "istanbul"), ("ısparta", "isparta"),
            ("STRASSE", "straße"), ("ẞ", "ss"), ("مُحَمَّد", "محمد"), ("Ὀδυσσεύς", "ΟΔΥΣΣΕΥΣ"), ("Ёлка", "елка"),
            ("Søren Ångström", "soren angstrom"), ("Đặng Thị", "dang thi"), ("Œuvre", "oeuvre"), ("Þór", "thor"),
            ("ﬁn", "fin"), ("ＡＢＣ１２３", "abc123"), ("١٢٣", "123"), ("أحمد", "احمد"), ("إيمان", "ايمان"),
            ("مدرسة", "مدرسه"), ("على", "علي"), ("ســلام", "سلام"), ("فارسی", "فارسي"), ("שָׁלוֹם", "שלום"),
            ("O’Brien", "o'brien"), ("ｶﾞ", "ガ"), ("क़लम", "कलम"), ("한글", "한글"), ("e\u{301}\u{323}", "e"),
            ("co\u{AD}op", "coop"), ("ᾳ", "α"), ("K", "k"), ("Ǆ", "dz"), ("x²", "x2"), ("Ŧħ", "th"),
            ("ĲSSEL", "ijssel"),
        ]
    )
    func same(_ left: String, _ right: String) {
        #expect(TextFolding.fold(left).utf8.elementsEqual(TextFolding.fold(right).utf8))
    }

    @Test(
        "what makes another word stays",
        arguments: [
            ("йод", "иод"), ("はと", "ばと"), ("कि", "की"), ("कम", "कर्म"), ("ไทย", "ไท"), ("ปา", "ป่า"), ("가", "각"),
            ("ა", "ბ"), ("か", "カ"), ("ড়", "ড"), ("", " "), ("a b", "ab"),
        ]
    )
    func different(_ left: String, _ right: String) {
        #expect(!TextFolding.fold(left).utf8.elementsEqual(TextFolding.fold(right).utf8))
    }

    @Test("ASCII text becomes lower-case and nothing else, and U+0000 stays")
    func ascii() {
        let all = String(String.UnicodeScalarView((0..<128).compactMap { Unicode.Scalar($0) }))
        #expect(TextFolding.fold(all) == all.lowercased())
        #expect(TextFolding.fold(all + "É").utf8.elementsEqual((all.lowercased() + "e").utf8))
        #expect(TextFolding.fold("") == "")
    }

    /// Whether the table knows the scalar; what Unicode added later folds to itself.
    private func isKnown(_ scalar: Unicode.Scalar) -> Bool {
        guard let age = scalar.properties.age else { return false }
        return age.major <= 14
    }

    @Test("every scalar of Unicode folds, to something that folds to itself, whichever canonical form it comes in")
    func everyScalar() {
        for start in stride(from: UInt32(0), to: 0x110000, by: 256) {
            // Planes that hold nothing, or what programs agree on among themselves: a look here and there is enough.
            if start >= 0x40000, start < 0xE0000 || start >= 0xF0000, start & 0xFFFF != 0xFF00 { continue }
            // With spaces between, so that no scalar acts on the next.
            var all = String.UnicodeScalarView()
            var known = String.UnicodeScalarView()
            for scalar in (start..<start + 256).compactMap({ Unicode.Scalar($0) }) {
                all += [scalar, " "]
                if isKnown(scalar) { known += [scalar, " "] }
            }
            for (text, isKnown) in [(String(all), false), (String(known), true)] where !text.isEmpty {
                let folded = TextFolding.fold(text)
                var forms = [folded]
                if isKnown {
                    forms += [text.decomposedStringWithCanonicalMapping, text.precomposedStringWithCanonicalMapping]
                }
                for form in forms {
                    #expect(TextFolding.fold(form).utf8.elementsEqual(folded.utf8), "\(String(start, radix: 16))")
                }
            }
        }
    }

    @Test("every case variant of a known scalar folds to the same")
    func cases() {
        var failures: [String] = []
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value), scalar.properties.changesWhenCaseMapped, isKnown(scalar) else {
                continue
            }
            let folded = TextFolding.fold(String(scalar))
            let properties = scalar.properties
            for variant in [properties.lowercaseMapping, properties.uppercaseMapping, properties.titlecaseMapping]
            where variant.unicodeScalars.allSatisfy(isKnown)
                && !TextFolding.fold(variant).utf8.elementsEqual(folded.utf8)
            {
                failures.append(String(value, radix: 16) + " " + variant)
            }
        }
        // Greek with iota below: an accent when folded, a letter of its own in upper case.
        #expect(failures.filter { !$0.contains("Ι") && !$0.hasSuffix("ι") } == [])
    }

    @Test("random texts fold to the same from both canonical forms, and once is enough")
    func random() {
        let seed = SeededGenerator.seed()
        var generator = SeededGenerator(seed: seed)
        // Of the jamo only those of modern syllables: Foundation takes their neighbours, U+1113 and U+1176, for them.
        let blocks: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0xC0...0x24F, 0x300...0x36F, 0x370...0x3FF, 0x400...0x52F, 0x591...0x5F4, 0x600...0x6FF,
            0x900...0xDFF, 0xE00...0xEFF, 0xF00...0xFFF, 0x1100...0x1112, 0x1E00...0x1FFF, 0x2000...0x206F,
            0x3040...0x30FF, 0x4E00...0x4EFF, 0xAC00...0xAC60, 0xFB00...0xFEFF, 0xFF00...0xFFEF, 0x1D400...0x1D7FF,
        ]
        let marks: [UInt32] = [
            0x301, 0x306, 0x308, 0x323, 0x327, 0x345, 0x34F, 0x5B4, 0x64B, 0x651, 0x93C, 0x94D, 0xE38, 0xE48, 0x3099,
            0x438, 0x418, 0x439, 0x1100, 0x1161, 0x11A8, 0xAC00, 0x200D,
        ]
        for _ in 0..<20_000 {
            var text = String.UnicodeScalarView()
            let block = blocks.randomElement(using: &generator)!
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let value =
                    Bool.random(using: &generator)
                    ? marks.randomElement(using: &generator)! : UInt32.random(in: block, using: &generator)
                if let scalar = Unicode.Scalar(value), isKnown(scalar) { text.append(scalar) }
            }
            let folded = TextFolding.fold(String(text))
            for form in [
                folded, String(text).decomposedStringWithCanonicalMapping,
                String(text).precomposedStringWithCanonicalMapping,
            ] {
                #expect(
                    TextFolding.fold(form).utf8.elementsEqual(folded.utf8),
                    "\(text.map { String($0.value, radix: 16) })"
                )
            }
        }
    }
}
