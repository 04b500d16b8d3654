/// A property that holds options which several commands have in common.
@propertyWrapper
package struct OptionGroup<Value: ParsableArguments>: ArgumentSource {
    private let title: String

    package let wrappedValue = Value()

    /// - Parameter title: The heading of these options in the help; without one they stand among the others.
    package init(title: String = "") { self.title = title }

    func definitions(of property: String) -> [ArgumentDefinition] {
        wrappedValue.definitions.map { definition in
            var definition = definition
            if definition.section.isEmpty { definition.section = title }
            return definition
        }
    }

    func validate() throws { try wrappedValue.validateAll() }
}
