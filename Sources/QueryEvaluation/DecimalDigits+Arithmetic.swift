import SyncContract

/// Arithmetic on decimal numbers; nil where there is no result.
///
/// It is done with digits as on paper: the bound on the places keeps the numbers short.
extension DecimalDigits {
    /// The most places before and behind the point of a number that is computed with.
    private static let maximumPlaces = 100

    /// How many digits a quotient has that does not end.
    private static let quotientDigits = 34

    /// This number, when it is computed with; nil when a digit lies too far from the point.
    var computable: DecimalDigits? {
        exponent <= Self.maximumPlaces && digits.count - exponent <= Self.maximumPlaces ? self : nil
    }

    func adding(_ other: DecimalDigits) -> DecimalDigits? {
        let place = min(lowestPlace, other.lowestPlace)
        let left = whole(from: place)
        let right = other.whole(from: place)
        guard isNegative != other.isNegative else {
            return DecimalDigits(isNegative: isNegative, whole: left.sum(right), timesTenTo: place).computable
        }
        let isLess = left.isLess(than: right)
        let difference = isLess ? right.difference(left) : left.difference(right)
        return DecimalDigits(isNegative: isLess ? other.isNegative : isNegative, whole: difference, timesTenTo: place)
            .computable
    }

    func subtracting(_ other: DecimalDigits) -> DecimalDigits? {
        var opposite = other
        opposite.negate()
        return adding(opposite)
    }

    func multiplied(by other: DecimalDigits) -> DecimalDigits? {
        DecimalDigits(
            isNegative: isNegative != other.isNegative,
            whole: digits.product(other.digits),
            timesTenTo: lowestPlace + other.lowestPlace
        )
        .computable
    }

    /// The quotient, rounded half to even when it has more than 34 digits.
    func divided(by other: DecimalDigits) -> DecimalDigits? {
        guard !other.digits.isEmpty else { return nil }
        var rest: [UInt8] = []
        var quotient: [UInt8] = []
        var taken = 0
        // One digit more than there will be decides the rounding, with whether anything is left behind it.
        while quotient.count <= Self.quotientDigits, taken < digits.count || !rest.isEmpty {
            let digit = rest.bringDown(taken < digits.count ? digits[taken] : 0, dividingBy: other.digits)
            if digit != 0 || !quotient.isEmpty { quotient.append(digit) }
            taken += 1
        }
        let hasMore = !rest.isEmpty || taken < digits.count
        var place = digits.count - taken + lowestPlace - other.lowestPlace
        if quotient.count > Self.quotientDigits, let last = quotient.popLast() {
            place += 1
            let isOdd = quotient.last.map { $0 % 2 == 1 } ?? false
            if last > 5 || last == 5 && (hasMore || isOdd) { quotient = quotient.sum([1]) }
        }
        return DecimalDigits(isNegative: isNegative != other.isNegative, whole: quotient, timesTenTo: place).computable
    }

    /// What a division without fraction leaves, with the sign of this number.
    func remainder(dividingBy other: DecimalDigits) -> DecimalDigits? {
        guard !other.digits.isEmpty else { return nil }
        let place = min(lowestPlace, other.lowestPlace)
        let divisor = other.whole(from: place)
        var rest: [UInt8] = []
        for digit in whole(from: place) { _ = rest.bringDown(digit, dividingBy: divisor) }
        return DecimalDigits(isNegative: isNegative, whole: rest, timesTenTo: place)
    }

    /// The number without its fraction, rounded up, down, or to the nearest with halves away from zero.
    func withoutFraction(_ rule: FloatingPointRoundingRule) -> DecimalDigits? {
        guard digits.count > exponent else { return self }
        let whole = Array(digits.prefix(max(0, exponent)))
        let first = exponent < 0 ? 0 : digits[exponent]
        let goesAwayFromZero =
            switch rule {
            case .up: !isNegative
            case .down: isNegative
            default: first >= 5
            }
        return DecimalDigits(isNegative: isNegative, whole: goesAwayFromZero ? whole.sum([1]) : whole, timesTenTo: 0)
            .computable
    }

    /// The power of ten that the last digit counts.
    private var lowestPlace: Int { exponent - digits.count }

    private mutating func negate() {
        self = DecimalDigits(isNegative: !isNegative, whole: digits, timesTenTo: lowestPlace)
    }

    /// The digits down to a place at or below the last one.
    private func whole(from place: Int) -> [UInt8] {
        digits + repeatElement(0, count: digits.isEmpty ? 0 : lowestPlace - place)
    }
}

/// Whole numbers as digits, the highest first.
extension [UInt8] {
    fileprivate func isLess(than other: [UInt8]) -> Bool {
        count == other.count ? lexicographicallyPrecedes(other) : count < other.count
    }

    fileprivate func sum(_ other: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var carry: UInt8 = 0
        var first = reversed().makeIterator()
        var second = other.reversed().makeIterator()
        while true {
            let (a, b) = (first.next(), second.next())
            guard a != nil || b != nil || carry > 0 else { return result.reversed() }
            let digit = (a ?? 0) + (b ?? 0) + carry
            result.append(digit % 10)
            carry = digit / 10
        }
    }

    /// This number without another that is not larger; no zeros in front.
    fileprivate func difference(_ other: [UInt8]) -> [UInt8] {
        var result = self
        var borrow: UInt8 = 0
        for offset in 1...Swift.max(1, count) where offset <= count {
            let subtrahend = (offset <= other.count ? other[other.count - offset] : 0) + borrow
            let digit = self[count - offset]
            borrow = digit < subtrahend ? 1 : 0
            result[count - offset] = digit + borrow * 10 - subtrahend
        }
        return Array(result.drop { $0 == 0 })
    }

    fileprivate func product(_ other: [UInt8]) -> [UInt8] {
        var sums = [Int](repeating: 0, count: count + other.count)
        for (i, a) in enumerated() {
            for (j, b) in other.enumerated() { sums[i + j + 1] += Int(a) * Int(b) }
        }
        for index in sums.indices.dropFirst().reversed() {
            sums[index - 1] += sums[index] / 10
            sums[index] %= 10
        }
        return sums.map { UInt8($0) }
    }

    /// One step of a long division: appends a digit to the rest so far and takes the divisor out as often as it fits.
    /// Neither number has zeros in front; the rest is empty when it is 0.
    fileprivate mutating func bringDown(_ digit: UInt8, dividingBy divisor: [UInt8]) -> UInt8 {
        if !isEmpty || digit != 0 { append(digit) }
        var quotient: UInt8 = 0
        while !isLess(than: divisor) {
            self = difference(divisor)
            quotient += 1
        }
        return quotient
    }
}
