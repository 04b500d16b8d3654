/// Reads and writes ISO 8601 instants without a calendar library.
enum TimestampText {
    struct Parsed {
        var milliseconds: Int64
        var isFinerThanMilliseconds: Bool
        var hasZone = true
    }

    /// Reads an instant. One without a zone is refused, unless such are to be taken as UTC.
    static func parse(_ text: ArraySlice<UInt8>, defaultsToUTC: Bool = false) -> Parsed? {
        var reader = DigitReader(bytes: text, position: text.startIndex)
        guard let year = reader.digits(4), reader.take("-"), let month = reader.digits(2), reader.take("-"),
            let day = reader.digits(2), reader.take("T") || reader.take("t"), let hour = reader.digits(2),
            reader.take(":"), let minute = reader.digits(2), reader.take(":"), let second = reader.digits(2),
            (1...12).contains(month), (1...daysIn(month: month, year: year)).contains(day), hour < 24, minute < 60,
            second < 60
        else { return nil }

        var fraction = 0
        var isFiner = false
        if reader.take(".") {
            guard let digits = reader.fraction() else { return nil }
            fraction = digits.milliseconds
            isFiner = digits.isFinerThanMilliseconds
        }

        var offset: Int64 = 0
        let hasZone = !(defaultsToUTC && reader.isAtEnd)
        if hasZone, !(reader.take("Z") || reader.take("z")) {
            let isNegative = reader.take("-")
            guard isNegative || reader.take("+"), let hours = reader.digits(2), reader.take(":"),
                let minutes = reader.digits(2), hours < 24, minutes < 60
            else { return nil }
            offset = Int64(hours * 60 + minutes) * 60_000 * (isNegative ? -1 : 1)
        }
        guard reader.isAtEnd else { return nil }

        let days = CivilTime.daysSince1970(year: year, month: month, day: day)
        let time = Int64(hour * 3_600 + minute * 60 + second) * 1_000 + Int64(fraction)
        return Parsed(
            milliseconds: days * 86_400_000 + time - offset,
            isFinerThanMilliseconds: isFiner,
            hasZone: hasZone
        )
    }

    static func format(milliseconds: Int64) -> String {
        let time = CivilTime(milliseconds: milliseconds)
        // Digits are put where they belong: to join fifteen texts takes as long as to write the rest of a row. A year has
        // nine digits at most.
        var text = [UInt8](repeating: UInt8(ascii: "-"), count: 32)
        var end = time.year < 0 ? 1 : 0
        put(time.year.magnitude, 4, "-", in: &text, &end)
        put(UInt64(time.month), 2, "-", in: &text, &end)
        put(UInt64(time.day), 2, "T", in: &text, &end)
        put(UInt64(time.hour), 2, ":", in: &text, &end)
        put(UInt64(time.minute), 2, ":", in: &text, &end)
        put(UInt64(time.second), 2, ".", in: &text, &end)
        put(UInt64(time.millisecond), 3, "Z", in: &text, &end)
        return String(decoding: text[..<end], as: UTF8.self)
    }

    /// Puts a number of at least so many digits, and what stands behind it.
    private static func put(
        _ number: UInt64,
        _ width: Int,
        _ separator: Unicode.Scalar,
        in text: inout [UInt8],
        _ end: inout Int
    ) {
        var (count, rest) = (1, number / 10)
        while rest > 0 { (count, rest) = (count + 1, rest / 10) }
        let start = end
        end += max(count, width)
        rest = number
        for place in (start..<end).reversed() {
            text[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        text[end] = UInt8(ascii: separator)
        end += 1
    }

    private static func daysIn(month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

private struct DigitReader {
    let bytes: ArraySlice<UInt8>
    var position: Int

    var isAtEnd: Bool { position == bytes.endIndex }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.endIndex, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func digits(_ count: Int) -> Int? {
        guard position + count <= bytes.endIndex else { return nil }
        var number = 0
        for byte in bytes[position..<position + count] {
            guard (48...57).contains(byte) else { return nil }
            number = number * 10 + Int(byte - 48)
        }
        position += count
        return number
    }

    mutating func fraction() -> (milliseconds: Int, isFinerThanMilliseconds: Bool)? {
        let start = position
        var milliseconds = 0
        var unit = 100
        var isFiner = false
        while position < bytes.endIndex, (48...57).contains(bytes[position]) {
            // Behind the third digit the unit is 0.
            milliseconds += Int(bytes[position] - 48) * unit
            if unit == 0, bytes[position] != 48 { isFiner = true }
            unit /= 10
            position += 1
        }
        return position == start ? nil : (milliseconds, isFiner)
    }
}
