import Foundation
import SeededNumbers
import SyncContract
import Testing

@Suite("Instants")
struct TimestampTests {
    @Test(
        "are read to the millisecond, rounded down",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00.001Z", 1), ("1969-12-31T23:59:59.999Z", -1),
            ("1969-12-31T23:59:59.9991Z", -1), ("1970-01-01T00:00:00.0009Z", 0), ("1970-01-01T00:00:00.1Z", 100),
            ("1970-01-01T00:00:00.12Z", 120), ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("1900-03-01T00:00:00Z", -2_203_891_200_000), ("2024-02-29T12:30:15.1234567Z", 1_709_209_815_123),
            ("2100-02-28T23:59:59.999Z", 4_107_542_399_999), ("0001-01-01T00:00:00Z", -62_135_596_800_000),
            ("9999-12-31T23:59:59.9999999Z", 253_402_300_799_999), ("1970-01-01T02:00:00+02:00", 0),
            ("1969-12-31T18:30:00.5-05:30", 500), ("2016-11-21T01:02:03.004005+02:00", 1_479_682_923_004),
            ("1970-01-01t00:00:00z", 0), ("1970-01-01T00:00:00+00:00", 0), ("1970-01-01T00:00:00-00:00", 0),
        ] as [(String, Int64)]
    )
    func reading(_ text: String, _ milliseconds: Int64) {
        #expect(Timestamp(text)?.milliseconds == milliseconds)
    }

    @Test(
        "that do not exist, or have no zone, are refused",
        arguments: [
            "", "1970", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01T00:00Z", "1970-01-01 00:00:00Z",
            "1970-1-1T00:00:00Z", "1900-02-29T00:00:00Z", "2023-02-29T00:00:00Z", "2100-02-29T00:00:00Z",
            "2024-02-30T00:00:00Z", "2024-04-31T00:00:00Z", "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z",
            "2024-01-00T00:00:00Z", "2024-01-32T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z",
            "2024-01-01T00:00:60Z", "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00,5Z", "2024-01-01T00:00:00+0200",
            "2024-01-01T00:00:00+02", "2024-01-01T00:00:00+24:00", "2024-01-01T00:00:00+02:60",
            "2024-01-01T00:00:00ZZ", " 2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z ", "-2024-01-01T00:00:00Z",
            "+2024-01-01T00:00:00Z", "20240-01-01T00:00:00Z", "٢٠٢٤-01-01T00:00:00Z", "2024-01-01T00:00:00.5",
            "2024-01-01T00:00:00UTC", "2567-01-01TT00:00:00Z",
        ]
    )
    func refusing(_ text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test(
        "keep a text that says more than milliseconds do, and only such a text",
        arguments: [
            ("2024-01-01T00:00:00Z", nil), ("2024-01-01T00:00:00.1Z", nil), ("2024-01-01T00:00:00.12Z", nil),
            ("2024-01-01T00:00:00.123Z", nil), ("2024-01-01T00:00:00.1230Z", nil),
            ("2024-01-01T00:00:00.1230000Z", nil), ("2024-01-01T01:00:00.123+01:00", nil),
            ("2024-01-01T00:00:00.1234Z", "2024-01-01T00:00:00.1234Z"),
            ("2024-01-01T00:00:00.1230001Z", "2024-01-01T00:00:00.1230001Z"),
            ("2024-01-01T01:00:00.1234567+01:00", "2024-01-01T01:00:00.1234567+01:00"),
        ] as [(String, String?)]
    )
    func finerText(_ text: String, _ finer: String?) throws {
        let timestamp = try #require(Timestamp(text))
        #expect(timestamp.finerText == finer)
        #expect(Timestamp(timestamp.wireText) == timestamp, "what is stored and read again, or comes back, is the same")
    }

    /// PostgreSQL takes no zone but UTC behind a genuine server, and every push would meet 500.
    @Test(
        "go to servers in UTC, with all their digits",
        arguments: [
            ("2024-01-01T00:00:00.5Z", "2024-01-01T00:00:00.500Z"),
            ("2024-01-01T01:00:00.123+01:00", "2024-01-01T00:00:00.123Z"),
            ("2024-01-01T00:00:00.1234Z", "2024-01-01T00:00:00.1234Z"),
            ("2024-01-01T00:00:00.1234z", "2024-01-01T00:00:00.1234Z"),
            ("2024-01-01t00:00:00.1234Z", "2024-01-01T00:00:00.1234Z"),
            ("2024-01-01T01:00:00.1234567+01:00", "2024-01-01T00:00:00.1234567Z"),
            ("2024-01-01T01:00:00.0000007-23:59", "2024-01-02T00:59:00.0000007Z"),
            ("1969-12-31T18:30:00.99999-05:30", "1970-01-01T00:00:00.99999Z"),
            ("1970-01-01T00:30:00.123456+01:00", "1969-12-31T23:30:00.123456Z"),
            ("0001-01-01T00:00:00.1234567+00:00", "0001-01-01T00:00:00.1234567Z"),
            ("9999-12-31T23:59:59.9999999-08:00", "9999-12-31T23:59:59.9999999-08:00"),
            ("0000-01-01T00:30:00.1234567+01:00", "0000-01-01T00:30:00.1234567+01:00"),
        ]
    )
    func wireText(_ text: String, _ sent: String) throws {
        let timestamp = try #require(Timestamp(text))
        #expect(timestamp.wireText == sent)
        #expect(Timestamp(sent) == timestamp && Timestamp(sent)?.hashValue == timestamp.hashValue)
        #expect(timestamp != Timestamp(milliseconds: timestamp.milliseconds) || timestamp.finerText == nil)
    }

    @Test(
        "are written with three digits in UTC",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (999, "1970-01-01T00:00:00.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (-62_135_596_800_001, "0000-12-31T23:59:59.999Z"),
            (253_402_300_800_000, "10000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)]
    )
    func writing(_ milliseconds: Int64, _ text: String) {
        #expect(Timestamp(milliseconds: milliseconds).text == text)
    }

    @Test("the extremes can be written")
    func extremes() {
        #expect(Timestamp(milliseconds: .min).text.hasPrefix("-"))
        #expect(Timestamp(milliseconds: .max).text.hasSuffix("Z"))
    }

    @Test("agree with Foundation's calendar and read back as they were")
    func roundTrip() {
        let seed = SeededGenerator.seed()
        var generator = SeededGenerator(seed: seed)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for _ in 0..<2_000 {
            // From 1589 on, because Foundation takes dates before 1582 for Julian ones. Multiples of 8 ms, which a Date
            // holds exactly, so that Foundation does not round them.
            let milliseconds = Int64.random(in: -1_500_000_000_000...30_000_000_000_000, using: &generator) * 8
            let timestamp = Timestamp(milliseconds: milliseconds)
            #expect(Timestamp(timestamp.text) == timestamp, "seed \(seed)")
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
            #expect(date.formatted(style).prefix(19) == timestamp.text.prefix(19), "seed \(seed)")
        }
    }
}
