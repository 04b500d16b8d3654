public import SyncContract

/// The words of texts, by which rows are searched.
///
/// A word is a run of letters, marks and digits of the folded text. In scripts that are written without spaces between
/// words (Han, Kana, Bopomofo, Thai, Lao, Khmer, Myanmar and their relatives) every two scalars that follow one another
/// are a word, and so is the last scalar of a run: a search finds every text that contains what is sought, and may find
/// one that contains its pairs in other places.
///
/// ``QueryEvaluator`` searches by them. A store that keeps an index of words fills it with those of each text, and looks in it
/// for the terms of what is sought; it makes it anew when ``TextFolding/version`` is another one than that it was made with.
public enum TextWords {
    /// The words of a text, each once, in the order in which they come first.
    public static func words(of text: String) -> [String] {
        var seen: Set<String> = []
        var words: [String] = []
        func add(_ word: Substring.UnicodeScalarView) {
            let word = String(word)
            if seen.insert(word).inserted { words.append(word) }
        }
        forEachRun(of: text) { run, isUnspaced in
            guard isUnspaced else { return add(run) }
            for index in run.indices { add(run[index...].prefix(2)) }
        }
        return words
    }

    /// What is sought for the words of a text: a row is found that has a word for each of the terms, and every row
    /// where there is none, as of a text without words.
    public static func terms(of text: String, _ match: WordMatch) -> [WordTerm] {
        var terms: [WordTerm] = []
        func add(_ word: Substring.UnicodeScalarView, isPrefix: Bool) {
            let term = WordTerm(text: String(word), isPrefix: isPrefix)
            if !terms.contains(term) { terms.append(term) }
        }
        forEachRun(of: text) { run, isUnspaced in
            if !isUnspaced {
                add(run, isPrefix: match == .prefixes)
            } else if run.count == 1 {
                // Every scalar of a run begins a word.
                add(run, isPrefix: true)
            } else {
                for index in run.indices.dropLast() { add(run[index...].prefix(2), isPrefix: false) }
            }
        }
        return terms
    }

    /// The runs of word scalars in the folded text, cut where a script with spaces meets one without.
    private static func forEachRun(
        of text: String,
        _ body: (_ run: Substring.UnicodeScalarView, _ isUnspaced: Bool) -> Void
    ) {
        let table = TextFoldingTable.shared
        let scalars = TextFolding.fold(text).unicodeScalars
        var start = scalars.startIndex
        var current = TextFoldingTable.WordClass.separator
        for index in scalars.indices {
            let next = table.wordClass(of: scalars[index])
            guard next != current else { continue }
            if current != .separator { body(scalars[start..<index], current == .unspaced) }
            (start, current) = (index, next)
        }
        if current != .separator { body(scalars[start...], current == .unspaced) }
    }
}

/// A word, or the beginning of one, that a row must have.
public struct WordTerm: Sendable, Hashable {
    /// The word, folded.
    public let text: String
    /// Whether it is enough that a word begins so.
    public let isPrefix: Bool

    /// Whether a word is the one sought, or begins with it.
    public func matches(_ word: String) -> Bool {
        isPrefix ? word.utf8.starts(with: text.utf8) : word.utf8.elementsEqual(text.utf8)
    }
}
