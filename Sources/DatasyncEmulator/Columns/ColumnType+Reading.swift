import Foundation

extension EmulatedTableDefinition.ColumnType {
    /// A sent value as this column keeps it; nil when it does not fit. A number out of range becomes infinite.
    func stored(_ value: JSONValue) -> JSONValue? {
        // Spelled out: a bare nil could be taken for JSON's.
        if value == .null { return isNullable ? .some(.null) : .none }
        return switch kind {
        case .text: value.string.map { .string($0) }
        case .boolean: value.bool.map { .bool($0) }
        case .integer: value.digits.flatMap { Int64($0) }.map { .integer($0) }
        case .number: value.digits.flatMap { Double($0) }.map { .double($0) }
        case .decimal: value.digits.flatMap(DecimalDigits.text).map { .decimal($0) }
        case .date:
            value.string.flatMap(DotNetDate.ticks)
                .map { ticks in
                    // Whole first: a negative number of ticks would be rounded up.
                    let milliseconds = Timestamp.wholeMilliseconds(ticks) / Timestamp.ticksPerMillisecond
                    return .string(Timestamp.text(milliseconds: milliseconds))
                }
        case .day:
            value.string.flatMap { $0.utf8.count == 10 && Timestamp.ticks(isoText: $0) != nil ? .some(value) : .none }
        case .time: value.string.flatMap(Timestamp.timeOfDayTicks).map { .string(Timestamp.timeText(ticks: $0)) }
        case .bytes: value.string.flatMap { Data(base64Encoded: $0) }.map { .string($0.base64EncodedString()) }
        case .uuid: value.string.flatMap { Self.isIdentifier($0) ? .some(.string($0.lowercased())) : .none }
        case .json: value.withoutDigits
        }
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 36
            && text.utf8.enumerated()
                .allSatisfy { index, byte in
                    [8, 13, 18, 23].contains(index)
                        ? byte == UInt8(ascii: "-") : Character(UnicodeScalar(byte)).isHexDigit
                }
    }
}

extension JSONValue {
    /// The text of a number, also of one that was sent as a text; nil for anything else, such as `Infinity`.
    fileprivate var digits: String? {
        switch self {
        case .integer(let value): value.description
        case .double(let value): value.isFinite ? value.description : nil
        case .decimal(let text): text
        case .string(let text):
            text.utf8.allSatisfy { ByteClasses.isDigit($0) || "+-.eE".utf8.contains($0) } ? text : nil
        case .null, .bool, .array, .object: nil
        }
    }

    /// The same with doubles for numbers whose digits were kept; nil when one of them is out of range.
    var withoutDigits: JSONValue? {
        switch self {
        case .null, .bool, .integer, .double, .string: return self
        case .decimal(let text):
            if let whole = Int64(text) { return .integer(whole) }
            return Double(text).flatMap { $0.isFinite ? .some(.double($0)) : .none }
        case .array(let elements):
            let plain = elements.compactMap(\.withoutDigits)
            return plain.count == elements.count ? .some(.array(plain)) : .none
        case .object(let members):
            let plain = members.compactMapValues(\.withoutDigits)
            return plain.count == members.count ? .some(.object(plain)) : .none
        }
    }
}

/// Decimal numbers as .NET keeps them: up to 28 digits, zeros at the end included.
enum DecimalDigits {
    /// The number without an exponent; nil when it is no number or out of range.
    static func text(_ digits: String) -> String? {
        guard ODataDecimal(digits.drop { $0 == "+" }) != nil else { return nil }
        let isNegative = digits.hasPrefix("-")
        let parts = digits.drop { $0 == "-" || $0 == "+" }.split { $0 == "e" || $0 == "E" }
        let numerals = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        guard let exponent = parts.count == 1 ? 0 : Int(parts[1]), abs(exponent) <= 1_000 else { return nil }
        var all = numerals.joined().utf8.map { $0 - 48 }
        var point = (numerals.first?.utf8.count ?? 0) + exponent
        if point > all.count { all += Array(repeating: 0, count: point - all.count) }
        if point < 1 {
            all = Array(repeating: 0, count: 1 - point) + all
            point = 1
        }
        let leading = all.prefix(point - 1).prefix { $0 == 0 }.count
        all.removeFirst(leading)
        point -= leading
        guard point <= maximumCount else { return nil }
        let zeros = all.prefix { $0 == 0 }.count
        round(&all, to: maximumCount + min(zeros, point))
        let text = String(decoding: all.map { $0 + 48 }, as: UTF8.self)
        let fraction = text.dropFirst(point)
        let isZero = all.allSatisfy { $0 == 0 }
        return (isNegative && !isZero ? "-" : "") + text.prefix(point) + (fraction.isEmpty ? "" : "." + fraction)
    }

    private static let maximumCount = 28

    /// Cuts digits behind the point, to the nearest; a half goes to the even digit.
    private static func round(_ digits: inout [UInt8], to count: Int) {
        guard digits.count > count else { return }
        let rest = digits[count...]
        digits = Array(digits[..<count])
        let isHalf = rest.first == 5 && rest.dropFirst().allSatisfy { $0 == 0 }
        guard let first = rest.first, first >= 5, !isHalf || digits[count - 1] % 2 == 1 else { return }
        guard let last = digits.lastIndex(where: { $0 < 9 }) else { return }
        digits[last] += 1
        for index in digits.indices.dropFirst(last + 1) { digits[index] = 0 }
    }
}
