/// A required property that takes its value from its place among the words that are not options.
@propertyWrapper
package struct Argument<Value: ExpressibleByArgument>: ArgumentSource {
    private let place = ParsedValue<Value>(nil)
    private let help: ArgumentHelp

    package var wrappedValue: Value { place.value }

    package init(help: ArgumentHelp) { self.help = help }

    func definitions(of property: String) -> [ArgumentDefinition] {
        [
            ArgumentDefinition(
                kind: .positional,
                valueName: help.valueName ?? property.hyphenated,
                help: help,
                presence: .required,
                valueType: Value.self,
                assign: place.assigning { (elements: [Value]) in elements.last }
            )
        ]
    }
}
