/// The cases that a command line names: each by its whole name, or several by how their names begin.
struct ChosenCases {
    private let chosen: Set<String>

    /// - Parameters:
    ///   - words: What `--case` was given; nothing chooses all.
    ///   - names: The names of all cases.
    init(_ words: [String], of names: [String]) {
        let all = Set(names)
        chosen =
            words.isEmpty
            ? all : Set(words.flatMap { word in all.contains(word) ? [word] : names.filter { $0.hasPrefix(word) } })
    }

    var isEmpty: Bool { chosen.isEmpty }

    func contains(_ name: String) -> Bool { chosen.contains(name) }
}
