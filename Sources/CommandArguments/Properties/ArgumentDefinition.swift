/// What the command line may say for one property.
struct ArgumentDefinition: Sendable {
    enum Kind: Sendable {
        /// A name with a value.
        case option
        /// A name alone, or one of several that exclude each other.
        case flag
        /// A value alone, found by its place.
        case positional
    }

    enum Presence: Sendable {
        case required
        case optional
        case repeating
    }

    let kind: Kind
    /// Whether a value by its place is all that are left.
    var takesRest = false
    var names: [String] = []
    var valueName = ""
    var help: ArgumentHelp
    /// The heading in the help; empty for the usual one.
    var section = ""
    var presence = Presence.optional
    var valueType: (any ExpressibleByArgument.Type)?
    var defaultText = ""

    /// Fills the property in with all values that were given, at least one; for a flag, with its names. Returns the
    /// first that is none; the property stays as it was then.
    var assign: @Sendable ([String]) -> String? = { _ in nil }

    /// How the help and messages call it: `--store <dir>`, `<text>`, `--keep-mine/--discard`.
    var label: String {
        switch kind {
        case .option: "\(names.joined(separator: ", ")) <\(valueName)>"
        case .flag: names.joined(separator: presence == .required ? "/" : ", ")
        case .positional: "<\(valueName)>"
        }
    }
}

/// A property wrapper that the parser fills in.
protocol ArgumentSource: Sendable {
    /// What the command line may say for a property of this name.
    func definitions(of property: String) -> [ArgumentDefinition]

    /// Checks the values of a whole group.
    func validate() throws
}

extension ArgumentSource {
    func validate() throws {}
}

extension ParsableArguments {
    /// The wrappers of the stored properties, in order, with the names that the properties have in the source. A build
    /// without reflection metadata has none.
    var argumentSources: [(property: String, source: any ArgumentSource)] {
        Mirror(reflecting: self).children
            .compactMap { child in
                guard let label = child.label, let source = child.value as? any ArgumentSource else { return nil }
                // A wrapper is stored under the name of its property behind an underscore.
                return (String(label.drop { $0 == "_" }), source)
            }
    }

    /// What the command line may say for all properties, those of groups included.
    var definitions: [ArgumentDefinition] {
        argumentSources.flatMap { property, source in source.definitions(of: property) }
    }

    /// Checks the groups, then the whole.
    func validateAll() throws {
        for (_, source) in argumentSources { try source.validate() }
        try validate()
    }
}
