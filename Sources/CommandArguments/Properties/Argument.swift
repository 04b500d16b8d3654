/// A property that takes its value from its place among the words that are not options.
///
/// It is required, unless it is an array with a default. An array takes all the words that are left, at least one where
/// it is required, so it stands last.
@propertyWrapper
package struct Argument<Value: Sendable>: ArgumentSource {
    private let place: ParsedValue<Value>
    private let definition: ArgumentDefinition

    package var wrappedValue: Value { place.value }

    private init<Element: ExpressibleByArgument>(
        _ initial: Value?,
        _ help: ArgumentHelp,
        takesRest: Bool,
        _ value: @escaping @Sendable ([Element]) -> Value?
    ) {
        place = ParsedValue(initial)
        definition = ArgumentDefinition(
            kind: .positional,
            takesRest: takesRest,
            help: help,
            presence: initial == nil ? .required : .optional,
            valueType: Element.self,
            assign: place.assigning(value)
        )
    }

    package init(help: ArgumentHelp) where Value: ExpressibleByArgument {
        self.init(nil, help, takesRest: false) { (elements: [Value]) in elements.last }
    }

    package init<Element: ExpressibleByArgument>(help: ArgumentHelp) where Value == [Element] {
        self.init(nil, help, takesRest: true) { $0 }
    }

    /// Words that may be left out.
    package init<Element: ExpressibleByArgument>(
        wrappedValue: [Element],
        help: ArgumentHelp
    ) where Value == [Element] {
        self.init(wrappedValue, help, takesRest: true) { $0 }
    }

    func definitions(of property: String) -> [ArgumentDefinition] {
        var definition = definition
        definition.valueName = definition.help.valueName ?? property.hyphenated
        return [definition]
    }
}
