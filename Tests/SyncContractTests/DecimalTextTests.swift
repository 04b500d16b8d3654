import SeededNumbers
import SyncContract
import Testing

@Suite("Decimal texts")
struct DecimalTextTests {
    @Test(
        "follow the grammar of JSON numbers",
        arguments: ["0", "-0", "1.10", "12345678901234567890.5", "1e5", "1E-5", "-2.5e+10"]
    )
    func valid(_ text: String) {
        #expect(DecimalText(text)?.text == text)
    }

    @Test("refuse anything else", arguments: ["", "+1", "01", "1.", ".5", "1e", "NaN", "Infinity", "1,5", " 1", "0x1"])
    func invalid(_ text: String) {
        #expect(DecimalText(text) == nil)
    }

    @Test("in this order are each less than the next, and none is equal to another")
    func order() throws {
        let texts = [
            "-1e400", "-123456789012345678901234567890", "-10", "-9.99", "-1.0000000000000000000000001", "-1", "-0.5",
            "-1e-400", "0", "1e-400", "0.009", "0.01", "0.099999999999999999999999", "0.1", "0.5", "1",
            "1.0000000000000000000000001", "9.99", "10", "99", "100", "123456789012345678901234567890",
            "123456789012345678901234567891", "1e400",
        ]
        let decimals = try texts.map { try #require(DecimalText($0)) }
        for (i, a) in decimals.enumerated() {
            for (j, b) in decimals.enumerated() {
                #expect(a.isNumericallyLess(than: b) == (i < j), "\(a) and \(b)")
                #expect(a.isNumericallyEqual(to: b) == (i == j), "\(a) and \(b)")
            }
        }
    }

    @Test(
        "stand for the same number in different spellings, and differ as texts",
        arguments: [
            ["0", "-0", "0.00", "0e99", "-0.0e-5"], ["1", "1.0", "1.000", "10e-1", "0.1e1", "0.01E+2", "100e-2"],
            ["-1200", "-1200.0", "-1.2e3", "-0.0012e6", "-12000000e-4"], ["0.05", "5e-2", "0.0500", "50e-3"],
            ["123.456", "0.123456e3", "123456e-3"],
        ]
    )
    func equality(_ texts: [String]) throws {
        let decimals = try texts.map { try #require(DecimalText($0)) }
        for a in decimals {
            for b in decimals {
                #expect(a.isNumericallyEqual(to: b), "\(a) and \(b)")
                #expect(!a.isNumericallyLess(than: b), "\(a) and \(b)")
                #expect((a == b) == (a.text == b.text))
            }
        }
    }

    @Test("with absurd exponents are compared without overflow")
    func absurdExponents() throws {
        let huge = try #require(DecimalText("1e99999999999999999999999"))
        let tiny = try #require(DecimalText("1e-99999999999999999999999"))
        let one = DecimalText(Int64(1))
        #expect(one.isNumericallyLess(than: huge))
        #expect(tiny.isNumericallyLess(than: one))
        #expect(DecimalText(Int64(0)).isNumericallyLess(than: tiny))
    }

    @Test(
        "are divided by whole numbers, rounded to so many digits",
        arguments: [
            ("1", 3, "0.333"), ("20", 3, "6.67"), ("-20", 3, "-6.67"), ("2", 2, "1"), ("0", 7, "0"),
            ("1e5", 4, "25000"),
            ("0.0001", 8, "0.0000125"), ("9999", 10, "1000"), ("8996", 10, "900"), ("12345", 1, "12300"),
            ("0.5", 1_000, "0.0005"), ("1", Int64.max, "0.000000000000000000108"), ("1e-400", 2, nil),
        ] as [(String, Int64, String?)]
    )
    func quotients(_ text: String, _ divisor: Int64, _ quotient: String?) throws {
        let quotient = quotient ?? "0." + String(repeating: "0", count: 400) + "5"
        #expect(try #require(DecimalText(text)).divided(by: divisor, digits: 3).text == quotient)
    }

    @Test("of doubles are the shortest that read back; there is none of what is not finite")
    func doubles() {
        #expect(DecimalText(shortestOf: 0.1)?.text == "0.1")
        #expect(DecimalText(shortestOf: .nan) == nil)
        #expect(DecimalText(shortestOf: -.infinity) == nil)
    }

    @Test("compare like whole numbers do")
    func againstIntegers() {
        let seed = SeededGenerator.seed()
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let shift = Int64.random(in: 0...62, using: &generator)
            let a = Int64.random(in: .min ... .max, using: &generator) >> shift
            let b = Bool.random(using: &generator) ? a : Int64.random(in: .min ... .max, using: &generator) >> shift
            #expect(DecimalText(a).isNumericallyLess(than: DecimalText(b)) == (a < b), "seed \(seed)")
            #expect(DecimalText(a).isNumericallyEqual(to: DecimalText(b)) == (a == b), "seed \(seed)")
        }
    }
}
