extension CommandPath {
    /// Reads a command line, and goes down to the command that it is for.
    ///
    /// - Throws: ``HelpRequest`` or ``VersionRequest`` when the line asks for that, whatever else is wrong with it;
    ///   ``UsageMistake`` or ``ValidationError`` for wrong usage.
    mutating func command(for arguments: [String]) throws -> any ParsableCommand {
        var words = arguments[...]
        descend(&words)
        let options = words.prefix { $0 != "--" }
        if options.contains("-h") || options.contains("--help") { throw HelpRequest() }
        if options.contains("--version"), !root.configuration.version.isEmpty { throw VersionRequest() }
        if !subcommandNames.isEmpty, let word = words.first {
            guard word == "help" else { throw UsageMistake.noSubcommand(word, of: self) }
            words = words.drop { $0 == "help" }
            descend(&words)
            if let word = words.first { throw UsageMistake.noSubcommand(word, of: self) }
            throw HelpRequest()
        }
        let command = command.init()
        var parser = CommandLineParser(command.definitions, common: commonDefinitions)
        try parser.read(words)
        try parser.assign()
        try command.validateAll()
        return command
    }
}

/// Finds what each word behind a command's name means.
private struct CommandLineParser {
    private let definitions: [ArgumentDefinition]
    /// The definitions, and those that all commands have in common.
    private let known: [ArgumentDefinition]
    /// What was given for each definition: values, or the names of flags.
    private var given: [[String]]

    init(_ definitions: [ArgumentDefinition], common: [ArgumentDefinition]) {
        self.definitions = definitions
        known = definitions + common
        given = definitions.map { _ in [] }
    }

    /// Sorts the words to the definitions.
    mutating func read(_ words: ArraySlice<String>) throws(UsageMistake) {
        var rest = words
        var values: [String] = []
        while let word = rest.popFirst() {
            guard word != "--" else {
                values += rest
                break
            }
            if word.isArgumentValue {
                values.append(word)
            } else {
                try readOption(word, &rest)
            }
        }
        for index in definitions.indices where definitions[index].kind == .positional && !values.isEmpty {
            given[index] = definitions[index].takesRest ? values : [values[0]]
            values.removeFirst(given[index].count)
        }
        guard values.isEmpty else { throw .unexpected(values) }
    }

    private mutating func readOption(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageMistake) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let (name, attached) = (parts[0], parts.count > 1 ? parts[1] : nil)
        guard let index = definitions.firstIndex(where: { $0.names.contains(name) }) else {
            throw .unknownOption(name, known)
        }
        let definition = definitions[index]
        switch (definition.kind, attached) {
        case (.flag, nil):
            if let other = given[index].first(where: { $0 != name }) { throw .contradiction(other, name) }
            given[index].append(name)
        case (.flag, let value?):
            throw .needlessValue(name, value)
        case (_, let value?):
            given[index].append(value)
        case (_, nil):
            guard let value = rest.first, value.isArgumentValue else {
                let isMeant = rest.first.map { word in !known.contains { $0.names.contains(word) } } ?? false
                throw .missingValue(definition, meant: isMeant ? rest.first : nil)
            }
            given[index].append(value)
            rest.removeFirst()
        }
    }

    /// Fills the properties in.
    func assign() throws(UsageMistake) {
        for (definition, texts) in zip(definitions, given) where !texts.isEmpty {
            if let text = definition.assign(texts) { throw .invalid(text, definition) }
        }
        let missing = zip(definitions, given).filter { $0.presence == .required && $1.isEmpty }.map(\.0)
        guard missing.isEmpty else { throw .missing(missing) }
    }
}

extension String {
    /// Whether a word is a value by itself: it is not an option, but maybe a negative number, or a single hyphen.
    var isArgumentValue: Bool {
        guard hasPrefix("-"), count > 1 else { return true }
        return dropFirst().drop { $0 == "." }.first.map { ("0"..."9").contains($0) } ?? false
    }
}
