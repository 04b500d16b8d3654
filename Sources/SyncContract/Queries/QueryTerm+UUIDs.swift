#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Comparisons with a `UUID`, which is the same in upper and in lower case: this package writes the one, many servers the
/// other.
extension QueryTerm where Value.Base == UUID {
    /// Whether the term has the value; null equals null.
    public static func == (term: Self, value: Value) -> QueryPredicate { term.isAny(of: [value]) }

    /// Whether the term has another value.
    public static func != (term: Self, value: Value) -> QueryPredicate { !term.isAny(of: [value]) }

    /// Whether the term has one of the values.
    public func isAny(of values: [Value]) -> QueryPredicate {
        .isAnyOf(
            expression,
            values.flatMap { value -> [FieldValue] in
                guard let text = value.fieldValue.stringValue else { return [value.fieldValue] }
                return [.string(text), .string(text.asciiLowercased())]
            }
        )
    }
}
