/// An instant as day and time of day, in UTC and the proleptic Gregorian calendar.
package struct CivilTime {
    /// The year before 1 is 0.
    package let year: Int64
    package let month: Int
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int
    package let millisecond: Int

    /// Takes apart milliseconds since 1970-01-01T00:00:00Z.
    package init(milliseconds: Int64) {
        let (days, time) = milliseconds.flooredDivision(by: 86_400_000)
        // Years start in March inside: the day that is not always there comes last.
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
        day = Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        hour = Int(time / 3_600_000)
        minute = Int(time / 60_000 % 60)
        second = Int(time / 1_000 % 60)
        millisecond = Int(time % 1_000)
    }

    /// Days between 1970-01-01 and a date; years start in March inside.
    static func daysSince1970(year: Int, month: Int, day: Int) -> Int64 {
        let y = Int64(month <= 2 ? year - 1 : year)
        let (era, yearOfEra) = y.flooredDivision(by: 400)
        let dayOfYear = Int64((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

extension Int64 {
    /// Quotient rounded towards negative infinity, and the non-negative remainder.
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
