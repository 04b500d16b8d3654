#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// A `UUID` is the same in upper and in lower case: this package writes the one, many servers the other. It is looked at
// here, and not in overloads for UUIDs, because each overload of an operator costs every condition time to be compiled.
extension QueryTerm {
    /// Whether a store may have a value in two forms: a UUID, or the name of a file that is one.
    static func isInTwoForms(_ value: Value) -> Bool { text(ofUUID: value) != nil }

    /// The forms in which a store may have a value.
    static func forms(of value: Value) -> [FieldValue] {
        guard let text = text(ofUUID: value) else { return [value.fieldValue] }
        return [.string(text.asciiUppercased()), .string(text.asciiLowercased())]
    }

    private static func text(ofUUID value: Value) -> String? {
        if Value.Base.self == UUID.self { return value.fieldValue.stringValue }
        guard Value.Base.self is any AttachmentName.Type, let text = value.fieldValue.stringValue else { return nil }
        return UUID(uuidString: text) == nil ? nil : text
    }
}
