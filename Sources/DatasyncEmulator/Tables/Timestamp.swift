/// Instants in units of 100 nanoseconds since 1970, the resolution of the finest literal either dialect knows.
///
/// Written out by hand, in the proleptic Gregorian calendar and UTC, so that no locale or calendar setting of the
/// machine can show through.
enum Timestamp {
    static let ticksPerMillisecond: Int64 = 10_000
    static let ticksPerSecond: Int64 = 10_000_000
    static let ticksPerDay: Int64 = 86_400 * ticksPerSecond

    struct Fields: Equatable {
        var year: Int64
        var month: Int64
        var day: Int64
        var hour: Int64
        var minute: Int64
        var second: Int64
        var millisecond: Int64
        /// 0 is Sunday.
        var weekday: Int64
    }

    // MARK: Calendar

    static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func fields(ticks: Int64) -> Fields {
        let days = floorDivide(ticks, ticksPerDay)
        let time = ticks - days * ticksPerDay
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let seconds = time / ticksPerSecond
        return Fields(
            year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
            month: month,
            day: dayOfYear - (153 * shiftedMonth + 2) / 5 + 1,
            hour: seconds / 3_600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            millisecond: time % ticksPerSecond / ticksPerMillisecond,
            weekday: (days + 4) - floorDivide(days + 4, 7) * 7
        )
    }

    static func daysInMonth(_ month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }

    /// The start of the millisecond an instant lies in.
    static func wholeMilliseconds(_ ticks: Int64) -> Int64 {
        floorDivide(ticks, ticksPerMillisecond) * ticksPerMillisecond
    }

    // MARK: Text

    /// `yyyy-MM-ddTHH:mm:ss.fffZ`.
    static func text(milliseconds: Int64) -> String {
        let (ticks, overflow) = milliseconds.multipliedReportingOverflow(by: ticksPerMillisecond)
        let fields = fields(ticks: overflow ? 0 : ticks)
        return "\(pad(fields.year, 4))-\(pad(fields.month))-\(pad(fields.day))T\(pad(fields.hour)):"
            + "\(pad(fields.minute)):\(pad(fields.second)).\(pad(fields.millisecond, 3))Z"
    }

    /// The date form of HTTP headers, whole seconds.
    static func httpText(milliseconds: Int64) -> String {
        let (ticks, overflow) = milliseconds.multipliedReportingOverflow(by: ticksPerMillisecond)
        let fields = fields(ticks: overflow ? 0 : ticks)
        return "\(weekdays[Int(fields.weekday)]), \(pad(fields.day)) \(months[Int(fields.month) - 1]) "
            + "\(pad(fields.year, 4)) \(pad(fields.hour)):\(pad(fields.minute)):\(pad(fields.second)) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func pad(_ value: Int64, _ width: Int = 2) -> String {
        let text = value.description
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    /// Reads the date form of HTTP headers; nil when the text is anything else.
    static func ticks(httpText text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])),
            let day = Int64(parts[1]), let year = Int64(parts[3]), (1...9999).contains(year)
        else { return nil }
        let iso = "\(pad(year, 4))-\(pad(Int64(month) + 1))-\(pad(day))T\(parts[4])Z"
        return ticks(isoText: iso)
    }
}
