/// What is wrong with a command line, in words.
struct UsageMistake: Error {
    let message: String
    /// What the help is quoted of.
    var about: [ArgumentDefinition] = []

    static func noSubcommand(_ word: String, of path: CommandPath) -> UsageMistake {
        guard word.isArgumentValue else {
            let advice = Suggestions.text(for: word, among: path.commonDefinitions.flatMap(\.names))
            let remedy = advice.isEmpty ? " Options stand behind the subcommand." : advice
            return UsageMistake(message: "Unknown option '\(word.quotable)'.\(remedy)")
        }
        guard !path.subcommandNames.isEmpty else {
            return UsageMistake(message: "'\(path.name)' has no subcommands, so no '\(word.quotable)'.")
        }
        let advice = Suggestions.text(for: word, among: path.subcommandNames)
        let remedy = advice.isEmpty ? " There are: \(path.subcommandNames.joined(separator: ", "))." : advice
        return UsageMistake(message: "Unknown subcommand '\(word.quotable)'.\(remedy)")
    }

    static func unknownOption(_ name: String, _ definitions: [ArgumentDefinition]) -> UsageMistake {
        let advice = Suggestions.text(for: name, among: definitions.flatMap(\.names))
        let takesValues = definitions.contains { $0.kind == .positional }
        let remedy = advice.isEmpty && takesValues ? " Put '--' before a value that begins with a hyphen." : advice
        return UsageMistake(message: "Unknown option '\(name.quotable)'.\(remedy)")
    }

    static func missingValue(_ definition: ArgumentDefinition, meant: String?) -> UsageMistake {
        let name = definition.names[0]
        let remedy = meant.map { " A value that begins with a hyphen is given as '\(name)=\($0.quotable)'." } ?? ""
        return UsageMistake(message: "Missing value for '\(definition.label)'.\(remedy)", about: [definition])
    }

    static func needlessValue(_ name: String, _ value: String) -> UsageMistake {
        UsageMistake(message: "The option '\(name)' takes no value, but '\(value.quotable)' was given.")
    }

    static func contradiction(_ first: String, _ second: String) -> UsageMistake {
        UsageMistake(message: "'\(first)' and '\(second)' exclude each other.")
    }

    static func invalid(_ text: String, _ definition: ArgumentDefinition) -> UsageMistake {
        let expectation = definition.valueType?.expectation(insteadOf: text) ?? "another value"
        let advice = Suggestions.text(for: text, among: definition.valueType?.allValueStrings ?? [])
        return UsageMistake(
            message: "The value '\(text.quotable)' is invalid for '\(definition.label)': give \(expectation).\(advice)",
            about: [definition]
        )
    }

    static func unexpected(_ values: [String]) -> UsageMistake {
        let list = values.prefix(5).map { "'\($0.quotable)'" }.joined(separator: ", ") + (values.count > 5 ? ", …" : "")
        return UsageMistake(
            message: values.count == 1
                ? "Unexpected argument \(list)." : "\(values.count) unexpected arguments: \(list)."
        )
    }

    static func missing(_ definitions: [ArgumentDefinition]) -> UsageMistake {
        let labels = definitions.map { definition in
            definition.kind == .flag
                ? "one of \(definition.names.map { "'\($0)'" }.joined(separator: ", "))" : "'\(definition.label)'"
        }
        let noun = labels.count == 1 ? "argument" : "arguments"
        return UsageMistake(
            message: "Missing expected \(noun): \(labels.joined(separator: "; ")).",
            about: definitions
        )
    }
}

extension String {
    /// The text on one line and of bounded length, for a message: what a terminal would take as a command is left out.
    var quotable: String {
        let printable = String(
            unicodeScalars.prefix(400)
                .map { scalar in
                    let category = scalar.properties.generalCategory
                    return category == .control || category == .format ? " " : Character(scalar)
                }
        )
        return printable.count <= 100 ? printable : printable.prefix(99) + "…"
    }
}
