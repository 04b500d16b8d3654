/// What the program that runs the rules is asked to do.
public struct ConformanceOptions: Sendable {
    /// What the answer looks like.
    public enum Format: String, Sendable, CaseIterable {
        /// Lines for people.
        case text
        /// One JSON object.
        case json
        /// JUnit's XML, which build servers read.
        case junit
        /// A table in Markdown.
        case markdown
    }

    /// The chapters to run; all when neither chapters nor rules are given.
    public var chapters: [String] = []
    /// The rules to run, by id.
    public var rules: [String] = []
    /// What random numbers start with; nil for a random seed.
    public var seed: UInt64?
    /// After how many seconds a rule is slow, and given up when it comes no further.
    public var secondsPerRule = 60.0
    /// A file of what the subject is known to do otherwise: see ``Deviation/read(from:)``.
    public var deviations: String?
    /// What the answer looks like.
    public var format = Format.text
    /// Whether to list the rules instead of running them.
    public var lists = false
    /// Whether to explain the options instead.
    public var helps = false

    /// The default: all rules, for people.
    public init() {}

    /// Reads the arguments of a program.
    ///
    /// - Throws: ``UsageError`` for what is not an option.
    public init(arguments: some Sequence<String>) throws {
        var rest = Array(arguments)[...]
        func value(of option: String) throws -> String {
            guard let value = rest.popFirst() else { throw UsageError("'\(option)' needs a value.") }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--chapter": chapters.append(try value(of: argument))
            case "--rule": rules.append(try value(of: argument))
            case "--seed":
                let text = try value(of: argument)
                guard let number = UInt64(text) else { throw UsageError("'--seed \(text)' is not a whole number.") }
                seed = number
            case "--timeout":
                let text = try value(of: argument)
                guard let number = Double(text), number >= 1, number <= 86_400 else {
                    throw UsageError("'--timeout \(text)' is not a number of seconds from 1 to 86400.")
                }
                secondsPerRule = number
            case "--deviations": deviations = try value(of: argument)
            case "--json": format = .json
            case "--junit": format = .junit
            case "--markdown": format = .markdown
            case "--list": lists = true
            case "--help", "-h": helps = true
            default: throw UsageError("'\(argument)' is not an option; '--help' shows the options.")
            }
        }
    }

    /// The explanation of the options.
    public static let help = """
        --list             list the rules instead of running them
        --chapter CHAPTER  run the rules of this chapter (may be repeated)
        --rule ID          run this rule (may be repeated)
        --seed N           repeat a run's random numbers
        --timeout SECONDS  give a rule up that comes no further for so long (60)
        --deviations FILE  a JSON array of objects with 'rule' and 'reason': what is
                           known to differ
        --json, --junit, --markdown
                           the form of the answer
        Exit status: 0 all hold, 1 a required rule is broken, 64 wrong usage.
        """
}
