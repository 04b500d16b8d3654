internal import Synchronization

/// The place of a property's value. A command is captured by concurrent work as a whole, and its copies share the place;
/// only the parser writes to it, before the command runs.
final class ParsedValue<Value: Sendable>: Sendable {
    private let content: Mutex<Value?>

    /// - Parameter initial: The value when the command line says nothing; nil when it must say something.
    init(_ initial: Value?) { content = Mutex(initial) }

    /// The value. A command that the parser has accepted has one; reading that of any other is a mistake in the program.
    var value: Value {
        guard let value = content.withLock({ $0 }) else {
            preconditionFailure("a required argument is read before the command line was parsed")
        }
        return value
    }

    func set(_ value: Value) { content.withLock { $0 = value } }
}
