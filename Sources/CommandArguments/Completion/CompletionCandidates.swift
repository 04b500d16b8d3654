/// A word that may stand next on a command line, with what the shell can show beside it.
struct CompletionCandidate: Sendable, Equatable {
    let text: String
    var note = ""

    /// The word with which a completion script asks; behind it come the words of the line up to the one being typed.
    static let request = "---complete"

    /// The answer to a completion script: a line for each candidate, with its note behind a tab. Nil for every other
    /// command line.
    static func answer(to arguments: [String], of root: any ParsableCommand.Type) -> String? {
        guard arguments.first == request else { return nil }
        return candidates(for: Array(arguments.dropFirst()), of: root)
            .map { $0.text + ($0.note.isEmpty ? "" : "\t" + $0.note) + "\n" }.joined()
    }

    /// What may stand for the last of the words. None where any word may: a shell offers file names then.
    static func candidates(for words: [String], of root: any ParsableCommand.Type) -> [CompletionCandidate] {
        // In bash an equals sign is a word of its own.
        let isValueBegun = words.last == "="
        let typed = isValueBegun ? "" : words.last ?? ""
        var rest = (isValueBegun ? words : words.dropLast()).filter { $0 != "=" }[...]
        var path = CommandPath(root)
        path.descend(&rest)
        let isHelp = !path.subcommandNames.isEmpty && rest.first == "help"
        if isHelp {
            rest.removeFirst()
            path.descend(&rest)
        }
        let all = path.candidates(after: rest, typed, isHelp: isHelp)
        return all.filter { $0.text.hasPrefix(typed) }
    }
}

extension CommandPath {
    fileprivate func candidates(
        after words: ArraySlice<String>,
        _ typed: String,
        isHelp: Bool
    ) -> [CompletionCandidate] {
        let names = commonDefinitions.flatMap(\.candidates)
        guard subcommandNames.isEmpty else {
            guard words.isEmpty else { return [] }
            if typed.hasPrefix("-") { return isHelp ? [] : names }
            return configuration.subcommands.map {
                CompletionCandidate(text: $0.configuration.commandName, note: $0.configuration.abstract)
            }
        }
        if isHelp { return [] }
        let definitions = command.init().definitions
        var waiting: ArgumentDefinition?
        var positionals = definitions.filter { $0.kind == .positional }[...]
        for word in words {
            guard word != "--" else { return [] }
            if waiting != nil {
                waiting = nil
            } else if word.isArgumentValue {
                positionals = positionals.dropFirst()
            } else {
                waiting = definitions.first { $0.kind == .option && $0.names.contains(word) }
            }
        }
        if let waiting { return waiting.values(behind: "") }
        if let end = typed.firstIndex(of: "="), !typed.isArgumentValue {
            let name = typed[..<end]
            let option = definitions.first { $0.names.contains(String(name)) }
            return option?.values(behind: name + "=") ?? []
        }
        guard !typed.hasPrefix("-"), let next = positionals.first else {
            let open = definitions.filter { $0.presence == .repeating || !$0.names.contains(where: words.contains) }
            return open.flatMap(\.candidates) + names
        }
        return next.values(behind: "")
    }
}

extension ArgumentDefinition {
    /// Its long names.
    fileprivate var candidates: [CompletionCandidate] {
        names.filter { $0.hasPrefix("--") }.map { CompletionCandidate(text: $0, note: help.abstract) }
    }

    /// The values to choose from, behind what is already there of the word.
    fileprivate func values(behind start: String) -> [CompletionCandidate] {
        (valueType?.allValueStrings ?? []).map { CompletionCandidate(text: start + $0) }
    }
}
