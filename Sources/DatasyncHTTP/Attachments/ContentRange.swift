/// Which bytes of a file an answer has (RFC 9110 14.4).
struct ContentRange: Equatable {
    let first: Int64
    let count: Int64
    /// How long the whole file is.
    let length: Int64

    /// Everything from a byte on.
    init(first: Int64, length: Int64) {
        self.first = first
        self.length = length
        count = length - first
    }

    /// `bytes 5-9/10`; nil for anything else, also where the length is not said.
    init?(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let length = Self.number(parts[1]) else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < length
        else { return nil }
        self.first = first
        self.length = length
        count = last - first + 1
    }

    /// The length in `bytes */10`.
    static func unsatisfied(_ text: String) -> Int64? {
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bytes", words[1].hasPrefix("*/") else { return nil }
        return number(String(words[1].dropFirst(2)))
    }

    /// A whole number of decimal digits and nothing else.
    static func number(_ text: String) -> Int64? {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
