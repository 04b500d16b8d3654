/// An instant in milliseconds since 1970, in the form that both protocols write: `2026-01-02T03:04:05.678Z`.
///
/// By hand: the formatters of the system round, and go by the device's calendar.
struct Instant: Sendable, Comparable {
    var milliseconds: Int64

    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Reads exactly that form; nil for any other.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 24 else { return nil }
        let signs: [Int: Character] = [4: "-", 7: "-", 10: "T", 13: ":", 16: ":", 19: ".", 23: "Z"]
        for (index, byte) in bytes.enumerated() {
            if let sign = signs[index] {
                guard byte == sign.asciiValue else { return nil }
            } else {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            }
        }
        func number(_ range: Range<Int>) -> Int64 {
            bytes[range].reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }
        let days = Self.days(year: number(0..<4), month: number(5..<7), day: number(8..<10))
        let seconds = (days * 24 + number(11..<13)) * 3_600 + number(14..<16) * 60 + number(17..<19)
        milliseconds = seconds * 1_000 + number(20..<23)
    }

    /// Reads any ISO 8601 instant: with no fraction or one of any length, which is cut, with an offset or without a zone,
    /// which means UTC; nil for anything else.
    init?(reading text: String) {
        let bytes = Array(text.utf8)
        func isDigit(_ byte: UInt8) -> Bool { 48...57 ~= byte }
        guard bytes.count >= 19 else { return nil }
        var rest = bytes[19...]
        var fraction: ArraySlice<UInt8> = []
        if rest.first == UInt8(ascii: ".") {
            fraction = rest.dropFirst().prefix(while: isDigit)
            guard !fraction.isEmpty else { return nil }
            rest = rest.dropFirst(1 + fraction.count)
        }
        let digits = String(decoding: fraction.prefix(3), as: UTF8.self) + "000"
        let plain = String(decoding: bytes[..<19], as: UTF8.self) + ".\(digits.prefix(3))Z"
        // There is no thirteenth month.
        guard let local = Instant(plain), local.text == plain else { return nil }
        milliseconds = local.milliseconds
        let zone = Array(rest)
        if zone.isEmpty || zone == [UInt8(ascii: "Z")] { return }
        let isAhead = zone[0] == UInt8(ascii: "+")
        guard zone.count == 6, isAhead || zone[0] == UInt8(ascii: "-"), zone[3] == UInt8(ascii: ":"),
            [1, 2, 4, 5].allSatisfy({ isDigit(zone[$0]) })
        else { return nil }
        let parts = [1, 2, 4, 5].map { Int64(zone[$0] - 48) }
        milliseconds -= (isAhead ? 1 : -1) * ((parts[0] * 10 + parts[1]) * 60 + parts[2] * 10 + parts[3]) * 60_000
    }

    static func < (first: Instant, second: Instant) -> Bool { first.milliseconds < second.milliseconds }

    /// The instant as it stands in rows.
    var text: String {
        let (year, month, day) = date
        return "\(Self.digits(year, 4))-\(Self.digits(month, 2))-\(Self.digits(day, 2))T\(time)"
            + ".\(Self.digits(milliseconds - seconds * 1_000, 3))Z"
    }

    /// The instant with other digits after the seconds, such as none or seven, and another zone.
    func text(fraction: String, zone: String, minutes: Int64 = 0) -> String {
        let (year, month, day) = Instant(milliseconds: milliseconds + minutes * 60_000).date
        return "\(Self.digits(year, 4))-\(Self.digits(month, 2))-\(Self.digits(day, 2))"
            + "T\(Instant(milliseconds: milliseconds + minutes * 60_000).time)\(fraction)\(zone)"
    }

    /// The instant as header fields have it, in whole seconds.
    var httpDate: String {
        let (year, month, day) = date
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int((dayNumber % 7 + 7) % 7)]
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return "\(weekday), \(Self.digits(day, 2)) \(names[Int(month) - 1]) \(Self.digits(year, 4)) \(time) GMT"
    }

    var seconds: Int64 { Self.floored(milliseconds, 1_000) }

    private var dayNumber: Int64 { Self.floored(seconds, 86_400) }

    private var time: String {
        let second = seconds - dayNumber * 86_400
        return [second / 3_600, second / 60 % 60, second % 60].map { Self.digits($0, 2) }.joined(separator: ":")
    }

    /// Year, month and day in the Gregorian calendar (Howard Hinnant's days to civil).
    private var date: (year: Int64, month: Int64, day: Int64) {
        let shifted = dayNumber + 719_468
        let era = Self.floored(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let year = yearOfEra + era * 400
        return month < 10 ? (year, month + 3, day) : (year + 1, month - 9, day)
    }

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = floored(year, 400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func floored(_ value: Int64, _ divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((divisor - 1 - value) / divisor)
    }

    private static func digits(_ value: Int64, _ count: Int) -> String {
        let text = "\(value)"
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
