import QueryEvaluation
import SyncContract
import Testing

@Suite("Words of texts")
struct TextWordsTests {
    @Test("words are runs of letters, marks and digits of the folded text, each once")
    func words() {
        #expect(TextWords.words(of: "Łódź, Café & l’été: łódź 24/7!") == ["lodz", "cafe", "l", "ete", "24", "7"])
        #expect(TextWords.words(of: "") == [])
        #expect(TextWords.words(of: " \0 \u{1F600} -- ") == [])
        #expect(TextWords.words(of: "e\u{301}a\0b") == ["ea", "b"])
        #expect(TextWords.words(of: "हिन्दी में") == ["हिन्दी", "में"])
        #expect(TextWords.words(of: "한국어 공부") == ["한국어", "공부"])
        #expect(TextWords.words(of: "٣ كُتُب") == ["3", "كتب"])
    }

    @Test("scripts without spaces give pairs, and the last scalar alone")
    func unspaced() {
        #expect(TextWords.words(of: "日本語") == ["日本", "本語", "語"])
        #expect(TextWords.words(of: "iPhone用") == ["iphone", "用"])
        #expect(TextWords.words(of: "カ") == ["カ"])
    }

    private func finds(_ sought: String, in text: String, _ match: WordMatch = .prefixes) -> Bool {
        let words = TextWords.words(of: text)
        return TextWords.terms(of: sought, match).allSatisfy { term in words.contains(where: term.matches) }
    }

    @Test("all words must be there, each as the beginning of a word, or each whole")
    func terms() {
        #expect(finds("łód ch", in: "Chleb z Łodzi"))
        #expect(!finds("łód ch", in: "Łódź"))
        #expect(!finds("odz", in: "Łódź"))
        #expect(finds("lodz", in: "Łódź", .wholeWords))
        #expect(!finds("lod", in: "Łódź", .wholeWords))
        #expect(finds("", in: "anything"))
        #expect(finds(" - ", in: ""))
        #expect(finds("o'brien", in: "Conan O’Brien"))
        #expect(TextWords.terms(of: "b a b", .prefixes).map(\.text) == ["b", "a"])
    }

    @Test("text without spaces is found by every part of it", arguments: WordMatch.allCases)
    func parts(_ match: WordMatch) {
        let text = Array("ภาษาไทยและ日本語".unicodeScalars)
        for start in text.indices {
            for end in start..<text.endIndex {
                let part = String(String.UnicodeScalarView(text[start...end]))
                #expect(finds(part, in: String(String.UnicodeScalarView(text)), match))
            }
        }
        #expect(!finds("語日", in: "日本語", match))
    }
}
