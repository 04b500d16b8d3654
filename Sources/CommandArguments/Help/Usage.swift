extension CommandPath {
    /// The usage behind a heading, in lines of a width.
    func usageLines(_ heading: String, columns: Int) -> [String] {
        let usages = (configuration.usage ?? derivedUsage).split(separator: "\n").map(String.init)
        let indentation = heading.count + 1
        // The second line of a usage stands further right than the first line of the next one.
        let room = columns - indentation - 2
        var lines: [String] = []
        for usage in usages {
            for (number, line) in usage.lines(ofWidth: room).enumerated() {
                let margin = String(repeating: " ", count: indentation + (number == 0 ? 0 : 2))
                lines.append(lines.isEmpty ? "\(heading) \(line)" : margin + line)
            }
        }
        return lines
    }

    private var derivedUsage: String {
        let parts = subcommandNames.isEmpty ? command.init().definitions.map(\.usage) : ["<subcommand>"]
        return ([name] + parts).joined(separator: " ")
    }
}

extension ArgumentDefinition {
    /// How the usage shows it: what may be absent in brackets, alternatives in parentheses.
    fileprivate var usage: String {
        let text: String =
            switch kind {
            case .option: "\(names[0])\(String.softSpace)<\(valueName)>"
            case .flag: names.joined(separator: "|")
            case .positional: "<\(valueName)>" + (takesRest ? "\(String.softSpace)..." : "")
            }
        return switch presence {
        case .required: kind == .flag ? "(\(text))" : text
        case .optional: "[\(text)]"
        case .repeating: "[\(text)\(String.softSpace)...]"
        }
    }
}
