extension Timestamp {
    /// Reads `yyyy-MM-dd`, optionally followed by `T` or a space, `HH:mm`, seconds, a fraction and a zone.
    ///
    /// Digits of a fraction beyond the seventh are cut. Without a zone the text is taken as UTC, unless
    /// `requiresZone` forbids that. Returns nil for anything else.
    static func ticks(isoText text: String, requiresZone: Bool = false) -> Int64? {
        var scanner = Scanner(text)
        guard let year = scanner.digits(4), scanner.take("-"), let month = scanner.digits(2), scanner.take("-"),
            let day = scanner.digits(2), (1...12).contains(month), year > 0,
            (1...daysInMonth(month, of: year)).contains(day)
        else { return nil }
        var ticks = days(year: year, month: month, day: day) * ticksPerDay
        guard !scanner.isAtEnd else { return requiresZone ? nil : ticks }
        guard scanner.take("T") || scanner.take("t") || scanner.take(" "), let time = scanner.timeOfDay() else { return nil }
        ticks += time
        if scanner.isAtEnd { return requiresZone ? nil : ticks }
        if scanner.take("Z") || scanner.take("z") { return scanner.isAtEnd ? ticks : nil }
        let isWest = scanner.take("-")
        guard isWest || scanner.take("+"), let hours = scanner.digits(2), hours <= 14, scanner.take(":"),
            let minutes = scanner.digits(2), minutes < 60, scanner.isAtEnd
        else { return nil }
        let offset = (hours * 60 + minutes) * 60 * ticksPerSecond
        return isWest ? ticks + offset : ticks - offset
    }

    /// Reads `HH:mm`, optionally with seconds and a fraction, as ticks since midnight.
    static func timeOfDayTicks(_ text: String) -> Int64? {
        var scanner = Scanner(text)
        guard let time = scanner.timeOfDay(), scanner.isAtEnd else { return nil }
        return time
    }

    private struct Scanner {
        private let bytes: [UInt8]
        private var position = 0

        init(_ text: String) {
            bytes = Array(text.utf8)
        }

        var isAtEnd: Bool { position == bytes.count }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        mutating func digit() -> Int64? {
            guard position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) else { return nil }
            defer { position += 1 }
            return Int64(bytes[position] - UInt8(ascii: "0"))
        }

        mutating func digits(_ count: Int) -> Int64? {
            var value: Int64 = 0
            for _ in 0..<count {
                guard let digit = digit() else { return nil }
                value = value * 10 + digit
            }
            return value
        }

        mutating func timeOfDay() -> Int64? {
            guard let hour = digits(2), take(":"), let minute = digits(2), hour < 24, minute < 60 else { return nil }
            var ticks = (hour * 60 + minute) * 60 * Timestamp.ticksPerSecond
            guard take(":") else { return ticks }
            guard let second = digits(2), second < 60 else { return nil }
            ticks += second * Timestamp.ticksPerSecond
            guard take(".") else { return ticks }
            guard var fraction = digit() else { return nil }
            var count = 1
            while let digit = digit() {
                if count < 7 {
                    fraction = fraction * 10 + digit
                    count += 1
                }
            }
            while count < 7 {
                fraction *= 10
                count += 1
            }
            return ticks + fraction
        }
    }
}
