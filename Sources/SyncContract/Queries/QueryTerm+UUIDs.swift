#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// A `UUID` is the same in upper and in lower case: this package writes the one, many servers the other. It is looked at
// here, and not in overloads for UUIDs, because each overload of an operator costs every condition time to be compiled.
extension QueryTerm {
    /// Whether a store may have a value in two forms.
    static func isInTwoForms(_ value: Value) -> Bool { Value.Base.self == UUID.self && !value.fieldValue.isNull }

    /// The forms in which a store may have a value.
    static func forms(of value: Value) -> [FieldValue] {
        guard isInTwoForms(value), let text = value.fieldValue.stringValue else { return [value.fieldValue] }
        return [.string(text), .string(text.asciiLowercased())]
    }
}
