/// How the words that are sought are held against the words of a row.
public enum WordMatch: Sendable, Hashable, CaseIterable {
    /// Each begins a word of the row: the way to search while somebody types.
    case prefixes
    /// Each is a word of the row.
    case wholeWords
}
