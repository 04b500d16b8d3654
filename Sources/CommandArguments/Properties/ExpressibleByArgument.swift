/// A value that can be written on a command line.
package protocol ExpressibleByArgument: Sendable {
    /// Reads the value; nil when the text is none.
    init?(argument: String)

    /// What the help shows as the default; nothing for an empty text.
    var defaultValueDescription: String { get }

    /// The texts of all values, where there are only a few.
    static var allValueStrings: [String] { get }

    /// What to give instead of a text that was refused, such as `a whole number`.
    static func expectation(insteadOf argument: String) -> String
}

extension ExpressibleByArgument {
    package var defaultValueDescription: String { "\(self)" }

    package static var allValueStrings: [String] { [] }

    package static func expectation(insteadOf argument: String) -> String { "another value" }
}

extension ExpressibleByArgument where Self: RawRepresentable & CaseIterable, RawValue == String {
    package init?(argument: String) { self.init(rawValue: argument) }

    package var defaultValueDescription: String { rawValue }

    package static var allValueStrings: [String] { allCases.map(\.rawValue) }

    package static func expectation(insteadOf argument: String) -> String {
        "one of \(allValueStrings.joined(separator: ", "))"
    }
}

extension String: ExpressibleByArgument {
    package init?(argument: String) { self = argument }
}

extension ExpressibleByArgument where Self: FixedWidthInteger {
    package init?(argument: String) { self.init(argument, radix: 10) }

    package static func expectation(insteadOf argument: String) -> String {
        let digits = argument.drop { $0 == "-" || $0 == "+" }
        let isNumber = !digits.isEmpty && digits.allSatisfy { ("0"..."9").contains($0) }
        return isNumber ? "a whole number from \(min) to \(max)" : "a whole number"
    }
}

extension Int: ExpressibleByArgument {}
extension UInt16: ExpressibleByArgument {}
extension UInt64: ExpressibleByArgument {}

extension Double: ExpressibleByArgument {
    package init?(argument: String) {
        guard let number = Double(argument), number.isFinite else { return nil }
        self = number
    }

    package static func expectation(insteadOf argument: String) -> String { "a number" }
}
