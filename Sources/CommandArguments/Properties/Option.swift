/// A property that takes its value from a name and a value: `--port 8080` or `--port=8080`.
///
/// One without a default is required, an optional is not. An array takes as many as are given, in order. When any other
/// is given twice, the last one counts.
@propertyWrapper
package struct Option<Value: Sendable>: ArgumentSource {
    private let place: ParsedValue<Value>
    private let name: NameSpecification
    private let definition: ArgumentDefinition

    package var wrappedValue: Value { place.value }

    private init<Element: ExpressibleByArgument>(
        _ initial: Value?,
        _ presence: ArgumentDefinition.Presence,
        _ name: NameSpecification,
        _ help: ArgumentHelp,
        defaultText: String = "",
        _ value: @escaping @Sendable ([Element]) -> Value?
    ) {
        let place = ParsedValue(initial)
        self.place = place
        self.name = name
        definition = ArgumentDefinition(
            kind: .option,
            help: help,
            presence: presence,
            valueType: Element.self,
            defaultText: defaultText,
            assign: place.assigning(value)
        )
    }

    /// A required option.
    package init(name: NameSpecification = .long, help: ArgumentHelp) where Value: ExpressibleByArgument {
        self.init(nil, .required, name, help) { (elements: [Value]) in elements.last }
    }

    /// An option with a default.
    package init(wrappedValue: Value, name: NameSpecification = .long, help: ArgumentHelp)
    where Value: ExpressibleByArgument {
        let defaultText = wrappedValue.defaultValueDescription
        self.init(wrappedValue, .optional, name, help, defaultText: defaultText) { (elements: [Value]) in elements.last
        }
    }

    /// An option that may be absent.
    package init<Element: ExpressibleByArgument>(name: NameSpecification = .long, help: ArgumentHelp)
    where Value == Element? {
        self.init(.some(nil), .optional, name, help) { (elements: [Element]) in elements.last }
    }

    /// An option that may be repeated. What is given takes the place of the default.
    package init<Element: ExpressibleByArgument>(
        wrappedValue: [Element],
        name: NameSpecification = .long,
        help: ArgumentHelp
    ) where Value == [Element] {
        let defaultText = wrappedValue.map(\.defaultValueDescription).joined(separator: ", ")
        self.init(wrappedValue, .repeating, name, help, defaultText: defaultText) { $0 }
    }

    func definitions(of property: String) -> [ArgumentDefinition] {
        var definition = definition
        let name = name.name(of: property)
        definition.names = [name]
        definition.valueName = definition.help.valueName ?? String(name.dropFirst(2))
        return [definition]
    }
}

extension ParsedValue {
    /// Reads texts as elements and, when all of them are such, sets the value that they make.
    func assigning<Element: ExpressibleByArgument>(
        _ value: @escaping @Sendable ([Element]) -> Value?
    ) -> @Sendable ([String]) -> String? {
        { texts in
            var elements: [Element] = []
            for text in texts {
                guard let element = Element(argument: text) else { return text }
                elements.append(element)
            }
            if let value = value(elements) { self.set(value) }
            return nil
        }
    }
}
