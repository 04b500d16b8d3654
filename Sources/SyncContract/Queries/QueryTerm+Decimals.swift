#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension QueryTerm where Value: NumericColumnValue {
    /// The number as a decimal, to compare it and compute with numbers of another type: `$0.count.decimal * $0.price`.
    ///
    /// Whole numbers and decimals are exact; with a double on either side both count as doubles.
    public var decimal: ComputedTerm<Decimal> { ComputedTerm(expression) }
}
