/// A required property that takes its value from its place among the words that are not options.
///
/// An array takes all the words that are left, at least one, so it stands last.
@propertyWrapper
package struct Argument<Value: Sendable>: ArgumentSource {
    private let place = ParsedValue<Value>(nil)
    private let definition: ArgumentDefinition

    package var wrappedValue: Value { place.value }

    private init<Element: ExpressibleByArgument>(
        _ help: ArgumentHelp,
        takesRest: Bool,
        _ value: @escaping @Sendable ([Element]) -> Value?
    ) {
        definition = ArgumentDefinition(
            kind: .positional,
            takesRest: takesRest,
            help: help,
            presence: .required,
            valueType: Element.self,
            assign: place.assigning(value)
        )
    }

    package init(help: ArgumentHelp) where Value: ExpressibleByArgument {
        self.init(help, takesRest: false) { (elements: [Value]) in elements.last }
    }

    package init<Element: ExpressibleByArgument>(help: ArgumentHelp) where Value == [Element] {
        self.init(help, takesRest: true) { $0 }
    }

    func definitions(of property: String) -> [ArgumentDefinition] {
        var definition = definition
        definition.valueName = definition.help.valueName ?? property.hyphenated
        return [definition]
    }
}
