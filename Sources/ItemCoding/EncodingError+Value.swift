internal import Foundation

extension EncodingError {
    /// The same without the value, which belongs to a row: a log that takes errors in must not get it.
    package var withoutValue: EncodingError {
        guard case .invalidValue(let value, let context) = self else { return self }
        return .invalidValue(type(of: value), context)
    }

    /// The property of the item that threw this, where the path begins with it.
    var property: String? {
        guard case .invalidValue(_, let context) = self else { return nil }
        return context.codingPath.first?.stringValue
    }

    /// Why a property is refused in whose value this was thrown.
    var reason: String {
        guard case .invalidValue(let value, _) = self else { return "it cannot be encoded" }
        return switch value {
        case is Date: "a date in it lies before the year 0 or after 9999, and could not be read again"
        case is Double, is Float: "a number in it is not finite"
        default: "a value in it cannot be encoded"
        }
    }
}
