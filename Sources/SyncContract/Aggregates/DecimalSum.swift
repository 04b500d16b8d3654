/// An exact sum of decimal numbers of any length.
///
/// Numbers of up to 18 digits, which most are, are added as whole numbers, one sum for each number of places behind the
/// point. The digits of all others are added place by place, and carried when the sum is asked for.
package struct DecimalSum {
    /// The most places before and behind the point of a number that is added.
    private static let maximumPlaces = 100_000

    private static let shortDigits = 18

    private var short: [WholeSum] = []

    /// The sum of the digits at each place, of either sign, from ``lowestPlace`` upwards.
    private var columns: [Int64] = []
    private var lowestPlace = 0

    package init() {}

    /// Adds a number in the JSON grammar. Returns false, and adds nothing, for one with too many places.
    package mutating func add(_ text: some Collection<UInt8>) -> Bool {
        if addShort(text) { return true }
        let number = DecimalDigits(utf8: text)
        guard number.exponent <= Self.maximumPlaces, number.digits.count - number.exponent <= Self.maximumPlaces else {
            return false
        }
        add(number)
        return true
    }

    /// Adds a number with few digits and no exponent.
    @inline(__always)
    private mutating func addShort(_ text: some Collection<UInt8>) -> Bool {
        guard text.count <= Self.shortDigits + 2 else { return false }
        var magnitude: Int64 = 0
        var (count, scale) = (0, 0)
        var (isNegative, hasPoint) = (false, false)
        for byte in text {
            let digit = byte &- 48
            if digit < 10 {
                magnitude = magnitude &* 10 &+ Int64(digit)
                count += 1
                if hasPoint { scale += 1 }
            } else if byte == UInt8(ascii: "-") {
                isNegative = true
            } else if byte == UInt8(ascii: ".") {
                hasPoint = true
            } else {
                return false
            }
        }
        guard count <= Self.shortDigits else { return false }
        while short.count <= scale { short.append(WholeSum()) }
        short[scale].add(isNegative ? -magnitude : magnitude)
        return true
    }

    private mutating func add(_ number: DecimalDigits) {
        add(number.digits.reversed(), isNegative: number.isNegative, from: number.exponent - number.digits.count)
    }

    private mutating func add(_ digits: some Collection<UInt8>, isNegative: Bool, from place: Int) {
        guard !digits.isEmpty else { return }
        if columns.isEmpty { lowestPlace = place }
        if place < lowestPlace {
            columns.insert(contentsOf: repeatElement(0, count: lowestPlace - place), at: 0)
            lowestPlace = place
        }
        let start = place - lowestPlace
        if columns.count < start + digits.count {
            columns.append(contentsOf: repeatElement(0, count: start + digits.count - columns.count))
        }
        for (index, digit) in digits.enumerated() {
            columns[start + index] += isNegative ? -Int64(digit) : Int64(digit)
        }
    }

    /// The sum.
    package var value: DecimalText {
        var sum = self
        for (scale, part) in short.enumerated() {
            let (isNegative, digits) = part.digits
            sum.add(digits, isNegative: isNegative, from: -scale)
        }
        return DecimalText(sum.carried)
    }

    private var carried: DecimalDigits {
        var columns = columns
        var carry = Self.carry(&columns)
        let isNegative = carry < 0
        if isNegative {
            for index in columns.indices { columns[index] = -columns[index] }
            carry = Self.carry(&columns) - carry
        }
        while carry > 0 {
            columns.append(carry % 10)
            carry /= 10
        }
        return DecimalDigits(
            isNegative: isNegative,
            whole: columns.reversed().map { UInt8($0) },
            timesTenTo: lowestPlace
        )
    }

    /// Leaves a digit at each place, and returns what is carried beyond the last one.
    private static func carry(_ columns: inout [Int64]) -> Int64 {
        var carry: Int64 = 0
        for index in columns.indices {
            let sum = columns[index] + carry
            let digit = (sum % 10 + 10) % 10
            columns[index] = digit
            carry = (sum - digit) / 10
        }
        return carry
    }
}
