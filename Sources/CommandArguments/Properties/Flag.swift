/// A property that a name alone sets: `--json`.
@propertyWrapper
package struct Flag<Value: Sendable>: ArgumentSource {
    private let place: ParsedValue<Value>
    private let definition: ArgumentDefinition
    private let names: @Sendable (_ property: String) -> [String]

    package var wrappedValue: Value { place.value }

    /// A flag that makes its property true.
    package init(wrappedValue: Bool, name: NameSpecification = .long, help: ArgumentHelp) where Value == Bool {
        let place = ParsedValue(wrappedValue)
        self.place = place
        definition = ArgumentDefinition(kind: .flag, help: help) { _ in
            place.set(true)
            return nil
        }
        names = { [name.name(of: $0)] }
    }

    /// Flags of which exactly one must be given, one for each case.
    package init(help: ArgumentHelp) where Value: EnumerableFlag {
        let place = ParsedValue<Value>(nil)
        self.place = place
        definition = ArgumentDefinition(kind: .flag, help: help, presence: .required) { given in
            if let value = Value.allCases.first(where: { given.contains($0.flagName) }) { place.set(value) }
            return nil
        }
        names = { _ in Value.allCases.map(\.flagName) }
    }

    func definitions(of property: String) -> [ArgumentDefinition] {
        var definition = definition
        definition.names = names(property)
        return [definition]
    }
}

/// An enumeration with a flag for each of its cases: `--keep-mine` for `keepMine`.
package protocol EnumerableFlag: CaseIterable, Sendable {}

extension EnumerableFlag {
    var flagName: String { "--" + "\(self)".hyphenated }
}
