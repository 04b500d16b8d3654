/// A decimal number: of any size to compare, of at most 100 places on either side of the point to compute with.
///
/// Results that would need more are nil. Sums, differences, products and remainders are exact; quotients have at most
/// 34 digits, rounded half to even.
struct ODataDecimal: Equatable, Sendable {
    private let isNegative: Bool
    /// 0 to 9 each, no zero at either end; empty for the number 0.
    private let digits: [UInt8]
    /// How many of the digits stand before the point: more than there are with zeros to follow, negative with zeros
    /// between the point and the first.
    private let point: Int

    private static let places = 100

    private init(isNegative: Bool, digits: [UInt8], point: Int) {
        let leading = digits.prefix { $0 == 0 }.count
        var significant = Array(digits.dropFirst(leading))
        while significant.last == 0 { significant.removeLast() }
        self.digits = significant
        self.isNegative = isNegative && !significant.isEmpty
        self.point = significant.isEmpty ? 0 : point - leading
    }

    /// Reads a sign, digits with or without a point, and an exponent; nil for anything else.
    init?(_ text: some StringProtocol) {
        let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
        let mantissa = parts[0].drop { $0 == "-" }
        let numerals = mantissa.split(separator: ".", omittingEmptySubsequences: false)
        guard numerals.count <= 2, mantissa.utf8.contains(where: { $0 != UInt8(ascii: ".") }),
            numerals.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }), parts[0].count - mantissa.count < 2,
            let exponent = parts.count == 1 ? 0 : Int(parts[1]), abs(exponent) < 1_000_000_000
        else { return nil }
        self.init(
            isNegative: text.hasPrefix("-"),
            digits: numerals.joined().utf8.map { $0 - 48 },
            point: numerals[0].utf8.count + exponent
        )
    }

    /// A whole number.
    init(_ value: Int64) {
        let digits = value.magnitude.description.utf8.map { $0 - 48 }
        self.init(isNegative: value < 0, digits: digits, point: digits.count)
    }

    /// The shortest number that reads back as the given one; nil when that is not finite.
    init?(_ value: Double) {
        guard value.isFinite else { return nil }
        self.init(value.description)
    }

    /// The nearest binary number; nil when that is not finite.
    var double: Double? {
        let text = (isNegative ? "-0." : "0.") + String(decoding: digits.map { $0 + 48 }, as: UTF8.self) + "0e\(point)"
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    /// Negative, zero or positive, as this number is smaller, the same or larger.
    func compare(to other: ODataDecimal) -> Int {
        let (first, second) = (sign, other.sign)
        guard first == second, first != 0 else { return first - second }
        if point != other.point { return point < other.point ? -first : first }
        if digits == other.digits { return 0 }
        return digits.lexicographicallyPrecedes(other.digits) ? -first : first
    }

    private var sign: Int { digits.isEmpty ? 0 : isNegative ? -1 : 1 }

    // MARK: Arithmetic, on whole numbers of hundredth places

    /// The number in units of the hundredth place behind the point; nil when it has digits elsewhere.
    private var units: [UInt8]? {
        guard point <= Self.places, digits.count - point <= Self.places else { return nil }
        return digits.isEmpty ? [] : digits + Array(repeating: 0, count: Self.places + point - digits.count)
    }

    private init?(isNegative: Bool, units: [UInt8], unitPlaces: Int = places) {
        self.init(isNegative: isNegative, digits: units, point: units.count - unitPlaces)
        if self.units == nil { return nil }
    }

    static func + (first: ODataDecimal, second: ODataDecimal) -> ODataDecimal? {
        guard let a = first.units, let b = second.units else { return nil }
        if first.isNegative == second.isNegative { return ODataDecimal(isNegative: first.isNegative, units: a.plus(b)) }
        return a.precedes(b)
            ? ODataDecimal(isNegative: second.isNegative, units: b.minus(a))
            : ODataDecimal(isNegative: first.isNegative, units: a.minus(b))
    }

    static func - (first: ODataDecimal, second: ODataDecimal) -> ODataDecimal? {
        first + ODataDecimal(isNegative: !second.isNegative, digits: second.digits, point: second.point)
    }

    static func * (first: ODataDecimal, second: ODataDecimal) -> ODataDecimal? {
        guard let a = first.units, let b = second.units else { return nil }
        let isNegative = first.isNegative != second.isNegative
        return ODataDecimal(isNegative: isNegative, units: a.times(b), unitPlaces: 2 * places)
    }

    static func / (first: ODataDecimal, second: ODataDecimal) -> ODataDecimal? {
        guard var a = first.units, let b = second.units, !b.isEmpty else { return nil }
        // Enough zeros for 36 digits of the quotient, whatever lies behind them.
        let zeros = Swift.max(0, b.count - a.count + 36)
        a += Array(repeating: 0, count: a.isEmpty ? 0 : zeros)
        var (quotient, rest) = a.divided(by: b)
        let cut = quotient.dropFirst(34)
        let count = cut.count
        if let next = cut.first {
            let isAboveHalf = next > 5 || next == 5 && (!rest.isEmpty || cut.dropFirst().contains { $0 != 0 })
            let isHalf = next == 5 && !isAboveHalf
            quotient.removeLast(count)
            if isAboveHalf || isHalf && (quotient.last ?? 0) % 2 == 1 { quotient = quotient.plus([1]) }
        }
        let places = zeros - count
        return ODataDecimal(isNegative: first.isNegative != second.isNegative, units: quotient, unitPlaces: places)
    }

    /// The remainder, with the sign of the first number.
    static func % (first: ODataDecimal, second: ODataDecimal) -> ODataDecimal? {
        guard let a = first.units, let b = second.units, !b.isEmpty else { return nil }
        return ODataDecimal(isNegative: first.isNegative, units: a.divided(by: b).rest)
    }

    func rounded(_ rule: FloatingPointRoundingRule) -> ODataDecimal? {
        guard let units else { return nil }
        let whole = Array(units.dropLast(Self.places))
        let fraction = units.suffix(Self.places)
        guard fraction.contains(where: { $0 != 0 }) else { return self }
        let hasHalf = fraction.count == Self.places && (fraction.first ?? 0) >= 5
        let goesUp =
            switch rule {
            case .up: !isNegative
            case .down: isNegative
            default: hasHalf
            }
        return ODataDecimal(isNegative: isNegative, units: goesUp ? whole.plus([1]) : whole, unitPlaces: 0)
    }
}

/// Whole numbers as digits, the highest first, without zeros in front.
extension [UInt8] {
    fileprivate func precedes(_ other: [UInt8]) -> Bool {
        count != other.count ? count < other.count : lexicographicallyPrecedes(other)
    }

    fileprivate func plus(_ other: [UInt8]) -> [UInt8] {
        let width = Swift.max(count, other.count) + 1
        var sum = Array(repeating: 0, count: width - count) + self
        for (offset, digit) in other.reversed().enumerated() { sum[width - 1 - offset] += digit }
        for index in (1..<width).reversed() where sum[index] > 9 {
            sum[index] -= 10
            sum[index - 1] += 1
        }
        return Array(sum.drop { $0 == 0 })
    }

    /// The other number must not be larger.
    fileprivate func minus(_ other: [UInt8]) -> [UInt8] {
        var left = map(Int8.init)
        for (offset, digit) in other.reversed().enumerated() { left[count - 1 - offset] -= Int8(digit) }
        for index in left.indices.dropFirst().reversed() where left[index] < 0 {
            left[index] += 10
            left[index - 1] -= 1
        }
        return left.drop { $0 == 0 }.map { UInt8($0) }
    }

    fileprivate func times(_ other: [UInt8]) -> [UInt8] {
        var product: [UInt8] = []
        for digit in self {
            if !product.isEmpty { product.append(0) }
            for _ in 0..<digit { product = product.plus(other) }
        }
        return product
    }

    fileprivate func divided(by divisor: [UInt8]) -> (quotient: [UInt8], rest: [UInt8]) {
        var quotient: [UInt8] = []
        var rest: [UInt8] = []
        for digit in self {
            if !rest.isEmpty || digit != 0 { rest.append(digit) }
            var times: UInt8 = 0
            while !rest.precedes(divisor) {
                rest = rest.minus(divisor)
                times += 1
            }
            if !quotient.isEmpty || times != 0 { quotient.append(times) }
        }
        return (quotient, rest)
    }
}
