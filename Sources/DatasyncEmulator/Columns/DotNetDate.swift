/// Dates in the forms in which a Datasync server reads them from bodies, which are many.
enum DotNetDate {
    /// Units of 100 nanoseconds since 1970; nil for what is no date, or lies outside the years 1 to 9999 in UTC.
    ///
    /// What has no zone is taken as UTC, where a genuine server takes its own zone.
    static func ticks(_ text: String) -> Int64? {
        let ticks =
            Timestamp.ticks(isoText: text) ?? Timestamp.ticks(isoText: withWholeZone(text))
            ?? Timestamp.ticks(httpText: text) ?? americanTicks(text)
        return ticks.flatMap { range.contains($0) ? $0 : nil }
    }

    private static let range =
        Timestamp.days(year: 1, month: 1, day: 1) * Timestamp.ticksPerDay..<Timestamp.days(
            year: 10_000,
            month: 1,
            day: 1
        ) * Timestamp.ticksPerDay

    /// `+02` and `+0200` as `+02:00`.
    private static func withWholeZone(_ text: String) -> String {
        guard let time = text.firstIndex(where: { $0 == "T" || $0 == " " }),
            let sign = text[time...].lastIndex(where: { $0 == "+" || $0 == "-" })
        else { return text }
        let digits = text[text.index(after: sign)...]
        guard digits.utf8.allSatisfy(ByteClasses.isDigit) else { return text }
        switch digits.utf8.count {
        case 2: return text + ":00"
        case 4: return text[...sign] + digits.prefix(2) + ":" + digits.suffix(2)
        default: return text
        }
    }

    /// `03/04/2024`: the month comes first.
    private static func americanTicks(_ text: String) -> Int64? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        return Timestamp.ticks(isoText: "\(parts[2])-\(parts[0])-\(parts[1])")
    }
}

extension Timestamp {
    /// `HH:mm:ss.fff`.
    static func timeText(ticks: Int64) -> String {
        String(text(milliseconds: ticks / ticksPerMillisecond).dropFirst(11).dropLast())
    }
}
