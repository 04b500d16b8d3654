/// What somebody may have meant who wrote something else.
enum Suggestions {
    /// A sentence that begins with a space, or nothing when no word is near.
    static func text(for word: String, among words: [String]) -> String {
        let near = near(word, among: words).map { "'\($0)'" }
        guard let last = near.last else { return "" }
        let others = near.dropLast().joined(separator: ", ")
        return " Did you mean \(others.isEmpty ? "" : others + " or ")\(last)?"
    }

    /// The words that begin so, when it is more than the first letters; or else those that need the fewest changes, if
    /// these are few; or else again those that begin so. Three at most.
    static func near(_ word: String, among words: [String]) -> [String] {
        let plain = Array(word.lowercased().drop { $0 == "-" })
        // Hyphens in front are not part of the name, and a single letter is near to everything.
        let candidates = words.map { ($0, Array($0.lowercased().drop { $0 == "-" })) }.filter { $1.count > 1 }
        guard !plain.isEmpty, plain.count <= 64 else { return [] }
        let longer = Array(candidates.filter { $1.starts(with: plain) }.map(\.0).prefix(3))
        if plain.count > 2, !longer.isEmpty { return longer }
        let distances = candidates.map { (word: $0, count: changes(from: plain, to: $1)) }
        let fewest = distances.map(\.count).min() ?? .max
        if fewest <= max(1, plain.count / 3) {
            return Array(distances.filter { $0.count == fewest }.map(\.word).prefix(3))
        }
        return plain.count < 2 ? [] : longer
    }

    /// How many letters must be put in, taken out, exchanged, or swapped with their neighbours: the optimal string
    /// alignment distance.
    private static func changes(from first: [Character], to second: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...second.count)
        for (row, letter) in first.enumerated() {
            var current = [row + 1]
            for (column, other) in second.enumerated() {
                var count = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
                    count = min(count, beforeLast[column - 1] + 1)
                }
                current.append(count)
            }
            (beforeLast, last) = (last, current)
        }
        return last[second.count]
    }
}
