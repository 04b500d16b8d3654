import Foundation
import SeededNumbers
import SyncContract
import Testing

@Suite("Values of Swift types in columns")
struct ColumnValueTests {
    @Test(
        "days are read, written and ordered as text",
        arguments: ["2026-11-22", "0001-01-01", "9999-12-31", "2024-02-29"]
    )
    func days(_ text: String) throws {
        let day = try #require(Day(text))
        #expect(day.text == text && day.fieldValue == .string(text))
        #expect(Day(year: day.year, month: day.month, day: day.day) == day)
        let coded = try JSONDecoder().decode([Day].self, from: JSONEncoder().encode([day]))
        #expect(coded == [day])
    }

    @Test(
        "what is no day is none",
        arguments: [
            "2026-02-29", "2026-13-01", "26-1-1", "2026-1-01", "", "2026-11-22T", "+026-11-22", "2026-11-2２",
            "0000-02-29",
        ]
    )
    func noDays(_ text: String) { #expect(Day(text) == nil) }

    @Test("the day of an instant is that of the zone")
    func dayOfInstant() throws {
        let instant = try #require(Timestamp("2026-11-22T23:30:00Z")).date
        #expect(Day(instant, in: .gmt).text == "2026-11-22")
        #expect(Day(instant, in: try #require(TimeZone(secondsFromGMT: 3_600))).text == "2026-11-23")
        #expect(Day(Date(timeIntervalSince1970: -1), in: .gmt).text == "1969-12-31")
        var calendar = Calendar(identifier: .hebrew)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 3_600))
        #expect(Day(instant, in: calendar).text == "2026-11-23")
        #expect(try #require(Day("2026-11-22")) < #require(Day("2026-12-01")))
    }

    @Test("times of day are read, written and ordered as text")
    func times() throws {
        #expect(TimeOfDay("08:30")?.text == "08:30:00.000")
        #expect(TimeOfDay("23:59:59.9999")?.text == "23:59:59.999")
        #expect(TimeOfDay(hour: 8, minute: 30)?.fieldValue == .string("08:30:00.000"))
        for wrong in ["24:00", "8:30", "08:30:60", "08:30+01:00", "08:30:00Z", "", "08"] {
            #expect(TimeOfDay(wrong) == nil)
        }
        #expect(TimeOfDay(hour: 24) == nil && TimeOfDay(hour: 0, minute: 60) == nil)
        let time = try #require(TimeOfDay("07:05:03.001"))
        #expect(time.hour == 7 && time.minute == 5 && time.second == 3)
        let coded = try JSONDecoder().decode([TimeOfDay].self, from: JSONEncoder().encode([time]))
        #expect(coded == [time])
        #expect(time < (try #require(TimeOfDay("07:06"))))
    }

    @Test("dates and instants become each other, to the millisecond")
    func dates() {
        for milliseconds: Int64 in [0, -1, 1_700_000_000_123, -62_135_596_800_000, 253_402_300_799_999] {
            #expect(Timestamp(Timestamp(milliseconds: milliseconds).date).milliseconds == milliseconds)
        }
        #expect(Timestamp(Date(timeIntervalSince1970: 1.2349)).milliseconds == 1_234)
        // Where the steps of a Date become larger, on both sides.
        var generator = SeededGenerator(seed: SeededGenerator.seed())
        for _ in 0..<SeededGenerator.rounds(20_000, all: 1_000_000) {
            let step = Int64(1) << Int64.random(in: 33...37, using: &generator)
            let near = step * 1_000 + Int64.random(in: -1_000_000...step * 24, using: &generator)
            for milliseconds in [
                near, -near, Int64.random(in: -62_135_596_800_000...253_402_300_799_999, using: &generator),
            ] {
                let again = Timestamp(Timestamp(milliseconds: milliseconds).date).milliseconds
                #expect(again == milliseconds)
            }
        }
        #expect(Timestamp(Date(timeIntervalSince1970: .infinity)).milliseconds == .max)
        #expect(Timestamp(Date(timeIntervalSince1970: -1e300)).milliseconds == .min)
    }

    private enum Rank: Int, ColumnValue, CaseIterable { case low, high }

    @Test("what a type gives is read back, and nothing else is")
    func readBack() throws {
        func check<Value: ColumnValue>(_ value: Value, not others: FieldValue...) {
            #expect(Value(fieldValue: value.fieldValue) == value)
            for other in others { #expect(Value(fieldValue: other) == nil, "\(other) as \(Value.self)") }
        }
        let (text, one): (FieldValue, FieldValue) = (.string("x"), .int64(1))
        check(true, not: text, one, .null)
        check("x", not: one, .null)
        check(7, not: text, .double(1.5), .null)
        check(Int8(7), not: .int64(300))
        check(UInt16(7), not: .int64(-1))
        check(1.5, not: text, .int64(.max), .null)
        check(Float(1.5), not: text)
        check(try #require(Decimal(string: "1.10")), not: text, .double(.infinity), .null)
        check(Date(timeIntervalSince1970: 5.25), not: text, one)
        check(try #require(Day("2026-11-22")), not: text, one, .string(""))
        check(try #require(TimeOfDay("08:30")), not: text, one)
        check(UUID(), not: text, .string(""), one)
        check(try #require(URL(string: "https://example.org")), not: one)
        check(Data([1]), not: text)
        check(Rank.high, not: text, .int64(2))
        check(Timestamp(milliseconds: 5), not: one)
        check(RecordID.string("x"), not: .bool(true))
        check(SyncState.pending, not: text)
        check(Rank?.some(.low), not: .int64(2))
        check(Rank?.none)
        #expect(Double(fieldValue: .int64(3)) == 3 && Int(fieldValue: .double(3)) == 3)
        #expect(Decimal(fieldValue: .double(0.1)) == Decimal(string: "0.1") && Decimal(fieldValue: .int64(3)) == 3)
        let id = UUID()
        #expect(UUID(fieldValue: .string(id.uuidString.lowercased())) == id)
    }

    @Test("each type has its kind of value, and nil is null")
    func values() throws {
        #expect(
            1.fieldValue == .int64(1) && Int8(-1).fieldValue == .int64(-1)
                && UInt32.max.fieldValue == .int64(4_294_967_295)
        )
        #expect(0.5.fieldValue == .double(0.5) && Float(0.5).fieldValue == .double(0.5))
        #expect(true.fieldValue == .bool(true) && "x".fieldValue == .string("x"))
        let price = try #require(Decimal(string: "12.30"))
        #expect(price.fieldValue == .decimal(try #require(DecimalText("12.3"))))
        #expect(Decimal.nan.fieldValue == .double(.nan))
        #expect(Data([1]).fieldValue == .bytes([1]))
        #expect(Date(timeIntervalSince1970: 1).fieldValue == .date(Timestamp(milliseconds: 1_000)))
        #expect(Int?.none.fieldValue == .null && Int?(3).fieldValue == .int64(3))
        #expect(SyncState.pending.fieldValue == .string("pending"))
    }

    @Test("a column without a type means what its literals meant, and takes the type of a variable")
    func untyped() {
        let name = "x"
        let value = FieldValue.null
        let half = Column("a") / 2 == 3.5
        #expect(half == .comparison(.operation(.column("a"), .divide, .value(2)), .equal, .value(3.5)))
        #expect((Column("a") == name) == .comparison(.column("a"), .equal, .value("x")))
        #expect((Column("a") == value) == .comparison(.column("a"), .equal, .value(.null)))
        #expect(Column("a").isAny(of: [1, "2", .null]) == .isAnyOf(.column("a"), [1, "2", .null]))
        let column = Column("a")
        #expect(type(of: column) == Column<FieldValue>.self)
    }

    @Test("a truth value is a condition, and its negation holds where it does not")
    func truthValues() {
        let done = Column<Bool>("done")
        let isDone = QueryPredicate.comparison(.column("done"), .equal, .value(true))
        #expect(!done == .comparison(.column("done"), .notEqual, .value(true)))
        #expect((done && Column("a") == 1) == (isDone && Column("a") == 1))
        #expect((done || done) == .any([isDone, isDone]))
    }
}
