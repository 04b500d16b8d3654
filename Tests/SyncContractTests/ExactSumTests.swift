import SeededNumbers
import SyncContract
import Testing

@Suite("Exact sums")
struct ExactSumTests {
    @Test("of decimals are exact, whatever their lengths, signs and exponents")
    func decimals() throws {
        #expect(Self.sum([]) == "0")
        #expect(Self.sum(["0.1", "0.2"]) == "0.3")
        #expect(Self.sum(["1.10", "1.1"]) == "2.2")
        #expect(Self.sum(["-0.1", "0.10"]) == "0")
        #expect(Self.sum(["-0", "-0.00"]) == "0")
        #expect(Self.sum(["5", "-7.25"]) == "-2.25")
        #expect(Self.sum(["999999999999999999", "1"]) == "1000000000000000000")
        #expect(Self.sum(["123456789012345678901234567890.1", "0.9"]) == "123456789012345678901234567891")
        #expect(Self.sum(["1e3", "1E-3", "1e+0"]) == "1001.001")
        #expect(Self.sum(["-123456789012345678901", "1"]) == "-123456789012345678900")
        #expect(Self.sum(["1e99999", "1e-100000"])?.utf8.count == 200_001)
        #expect(Self.sum(["1e100000"]) == nil)
        #expect(Self.sum(["1e-100001"]) == nil)
        #expect(Self.sum(["0e999999999"]) == "0")
    }

    @Test("of decimals agree with sums of whole numbers")
    func randomDecimals() {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            var (whole, texts): (Int128, [String]) = (0, [])
            for _ in 0..<Int.random(in: 0..<40, using: &random) {
                let bits = Int.random(in: 1...100, using: &random)
                let limit = Int128(1) << bits
                let value = Int128.random(in: -limit...limit, using: &random)
                whole += value
                // The same number with a point somewhere, or with an exponent: all counted in units of 10^-20.
                texts.append(Bool.random(using: &random) ? "\(value)e-20" : Self.fixed(value))
            }
            let sum = Self.sum(texts)
            #expect(sum == DecimalText("\(whole)e-20").map { Self.canonical($0.text) }, "seed \(seed): \(texts)")
        }
    }

    @Test("of doubles are rounded once, and do not depend on the order")
    func doubles() {
        let next = (1 as Double).nextUp
        #expect(Self.sum([]) == 0)
        #expect(Self.sum([0.1, 0.2]) == 0.30000000000000004)
        #expect(Self.sum([0.1, 0.2, -0.3]) == 2.7755575615628914e-17)
        #expect(Self.sum([1e308, 1e308, -1e308]) == 1e308)
        #expect(Self.sum([1e308, 1e308]) == .infinity)
        #expect(Self.sum([-.greatestFiniteMagnitude, -.greatestFiniteMagnitude]) == -.infinity)
        #expect(Self.sum([1e300, 1, -1e300]) == 1)
        #expect(Self.sum([.leastNonzeroMagnitude, .leastNonzeroMagnitude]) == 2 * .leastNonzeroMagnitude)
        #expect(Self.sum([.leastNormalMagnitude, -.leastNonzeroMagnitude]) == .leastNormalMagnitude.nextDown)
        #expect(Self.sum([1, 0x1p-53]) == 1)
        #expect(Self.sum([1, 0x1p-53, 0x1p-1000]) == next)
        #expect(Self.sum([next, 0x1p-53]) == next.nextUp)
        #expect(Self.sum([.infinity, 1e308]) == .infinity)
        #expect(Self.sum([.infinity, -.infinity]).isNaN)
    }

    @Test("of doubles agree with sums of whole numbers")
    func randomDoubles() {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let place = Int.random(in: -1060...900, using: &random)
            var (whole, values): (Int128, [Double]) = (0, [])
            for _ in 0..<Int.random(in: 0..<40, using: &random) {
                let significand = Int64.random(in: -(1 << 50)...1 << 50, using: &random)
                let shift = Int.random(in: 0...60, using: &random)
                whole += Int128(significand) << shift
                values.append(Double(sign: .plus, exponent: place + shift, significand: Double(significand)))
            }
            let expected = Double(sign: .plus, exponent: place, significand: Double(whole))
            #expect(Self.sum(values) == expected, "seed \(seed): \(values)")
            #expect(Self.sum(values.shuffled(using: &random)) == expected, "seed \(seed): \(values)")
        }
    }

    @Test("of whole numbers fit 64 bits at the end, not on the way")
    func wholeNumbers() {
        #expect(Self.sum([Int64.max, 1, -1]) == .max)
        #expect(Self.sum([Int64.min, -1, 1]) == .min)
        #expect(Self.sum([Int64.max, .max, .min, .min, 2]) == 0)
        #expect(Self.sum([Int64.max, 1]) == nil)
        #expect(Self.sum([Int64.min, -1]) == nil)
    }

    @Test("of whole numbers that come many times are the nearest double, beyond 64 bits as well")
    func manyWholeNumbers() {
        var sum = WholeSum()
        sum.add(.max, times: 6)
        sum.add(.min, times: 2)
        #expect(sum.rounded == 0x1p65 && sum.value == nil)
        sum.add(.max, times: -4)
        #expect(sum.rounded == -2 && sum.value == -2)
    }

    private static func sum(_ texts: [String]) -> String? {
        var sum = DecimalSum()
        for text in texts where !sum.add(text.utf8) { return nil }
        return sum.value.text
    }

    private static func sum(_ values: [Double]) -> Double {
        var sum = DoubleSum()
        for value in values { sum.add(value) }
        return sum.value
    }

    private static func sum(_ values: [Int64]) -> Int64? {
        var sum = WholeSum()
        for value in values { sum.add(value) }
        return sum.value
    }

    /// So many units of 10^-20, with a point.
    private static func fixed(_ value: Int128) -> String {
        let digits = "\(value.magnitude)"
        let padded = String(repeating: "0", count: max(0, 21 - digits.count)) + digits
        return (value < 0 ? "-" : "") + padded.dropLast(20) + "." + padded.suffix(20)
    }

    /// The number without an exponent and without zeros that mean nothing.
    private static func canonical(_ text: String) -> String {
        let parts = text.split(separator: "e")
        guard let value = Int128(parts[0]) else { return text }
        var fixed = fixed(value)
        while fixed.hasSuffix("0") { fixed.removeLast() }
        if fixed.hasSuffix(".") { fixed.removeLast() }
        return fixed
    }
}
