/// An exact sum of whole numbers.
package struct WholeSum {
    private var high: Int64 = 0
    private var low: UInt64 = 0

    package init() {}

    /// Adds a number. So many that 128 bits do not hold their sum is more than there are rows.
    @inline(__always)
    package mutating func add(_ value: Int64) {
        let (sum, carries) = low.addingReportingOverflow(UInt64(bitPattern: value))
        low = sum
        high &+= (value >> 63) &+ (carries ? 1 : 0)
    }

    /// Adds a number so many times.
    package mutating func add(_ value: Int64, times count: Int64) {
        let product = value.multipliedFullWidth(by: count)
        let (sum, carries) = low.addingReportingOverflow(product.low)
        low = sum
        high &+= product.high &+ (carries ? 1 : 0)
    }

    /// The sum as the nearest double.
    package var rounded: Double {
        let (isNegative, digits) = digits
        // Digits are a number.
        return Double(DecimalDigits(isNegative: isNegative, whole: digits.reversed(), timesTenTo: 0).text) ?? .nan
    }

    /// The sum; nil when it does not fit 64 bits.
    package var value: Int64? {
        let value = Int64(bitPattern: low)
        return high == value >> 63 ? value : nil
    }

    /// The sum as its sign and its decimal digits, the lowest first.
    var digits: (isNegative: Bool, lowestFirst: [UInt8]) {
        var (high, low) = (UInt64(bitPattern: high), low)
        let isNegative = self.high < 0
        if isNegative {
            low = ~low &+ 1
            high = ~high &+ (low == 0 ? 1 : 0)
        }
        var digits: [UInt8] = []
        while high > 0 || low > 0 {
            let (quotientHigh, rest) = high.quotientAndRemainder(dividingBy: 10)
            let (quotientLow, digit) = (10 as UInt64).dividingFullWidth((rest, low))
            digits.append(UInt8(digit))
            (high, low) = (quotientHigh, quotientLow)
        }
        return (isNegative, digits)
    }
}
