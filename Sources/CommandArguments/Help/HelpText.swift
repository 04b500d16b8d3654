extension CommandPath {
    /// The help of the command, no line of it wider than so many columns.
    func help(columns: Int) -> String {
        let overview = "OVERVIEW: \(configuration.abstract)".lines(ofWidth: columns)
        let discussion = configuration.discussion.lines(ofWidth: columns)
        var blocks = [overview, discussion, usageLines("USAGE:", columns: columns)]
        for section in sections {
            let entries = section.entries.flatMap { entryLines($0.label, $0.text, columns: columns) }
            blocks.append(["\(section.title):"] + entries)
        }
        if !subcommandNames.isEmpty {
            let words = (["help"] + commands.dropFirst().map { $0.configuration.commandName }).joined(separator: " ")
            let hint = "See '\(root.configuration.commandName) \(words) <subcommand>' for detailed help."
            blocks.append(hint.lines(ofWidth: columns - 2).map { "  " + $0 })
        }
        return blocks.filter { $0 != [""] }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    private var sections: [(title: String, entries: [(label: String, text: String)])] {
        let definitions = command.init().definitions
        var titles: [String] = []
        for title in definitions.map(\.section) where !title.isEmpty && !titles.contains(title) { titles.append(title) }
        let isPositional = { (definition: ArgumentDefinition) in definition.kind == .positional }
        var sections = [("ARGUMENTS", definitions.filter(isPositional))]
        sections += titles.map { title in
            (title.uppercased(), definitions.filter { $0.section == title && !isPositional($0) })
        }
        let others = definitions.filter { $0.section.isEmpty && !isPositional($0) }
        sections.append(("OPTIONS", others + commonDefinitions))
        var result = sections.map { title, definitions in
            (title: title, entries: definitions.map { (label: $0.label, text: $0.helpText) })
        }
        result.append(
            ("SUBCOMMANDS", configuration.subcommands.map { ($0.configuration.commandName, $0.configuration.abstract) })
        )
        return result.filter { !$0.entries.isEmpty }
    }
}

extension ArgumentDefinition {
    /// The help's sentence, with the values to choose from and the default.
    var helpText: String {
        let values = valueType?.allValueStrings ?? []
        let notes = [
            values.isEmpty ? nil : "values: \(values.joined(separator: ", "))",
            defaultText.isEmpty ? nil : "default: \(defaultText)",
        ]
        let note = notes.compactMap { $0 }.joined(separator: "; ")
        return help.abstract + (note.isEmpty ? "" : " (\(note))")
    }
}

/// A label on the left and its text in a column beside it, or below where there is no room.
func entryLines(_ label: String, _ text: String, columns: Int) -> [String] {
    let column = columns >= 60 ? 26 : 8
    let margin = String(repeating: " ", count: column)
    let labels = label.lines(ofWidth: columns - 2).map { "  " + $0 }
    var texts = text.lines(ofWidth: columns - column)
    guard labels.count == 1, labels[0].count < column else { return labels + texts.map { margin + $0 } }
    texts[0] = labels[0] + String(repeating: " ", count: column - labels[0].count) + texts[0]
    return [texts[0]] + texts.dropFirst().map { margin + $0 }
}
