/// The date literals of protocol 2, which the Azure Mobile Apps server for .NET rewrites before it reads a filter.
enum OldDateLiterals {
    /// A filter with `datetimeoffset'…'` and `datetime'…'` written as casts; what stands in texts stays.
    static func asCasts(_ filter: String) -> String {
        // Every second piece stands within quotes; a doubled quote ends one text and begins another.
        var pieces = filter.split(separator: "'", omittingEmptySubsequences: false).map(String.init)
        var output = pieces.removeFirst()
        while pieces.count > 1 {
            let (text, rest) = (pieces.removeFirst(), pieces.removeFirst())
            if let name = ["datetimeoffset", "datetime"].first(where: { isWord($0, atEndOf: output) }) {
                output = output.dropLast(name.count) + "cast(\(text),Edm.DateTimeOffset)" + rest
            } else {
                output += "'\(text)'" + rest
            }
        }
        return pieces.reduce(output) { $0 + "'" + $1 }
    }

    private static func isWord(_ name: String, atEndOf text: String) -> Bool {
        guard text.hasSuffix(name) else { return false }
        return text.dropLast(name.count).last.map { !$0.isLetter && !$0.isNumber } ?? true
    }
}
