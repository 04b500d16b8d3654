import SeededNumbers
import Testing

@testable import OfflineSync

@Suite("Ranges of numbers")
struct NumberRangesTests {
    @Test("hold what a set holds, whatever is put in and taken out, in as few ranges as there can be")
    func set() {
        var random = SeededGenerator(seed: SeededGenerator.seed())
        for _ in 0..<SeededGenerator.rounds(50, all: 2_000) {
            var (ranges, expected) = (NumberRanges(), Set<Int64>())
            for _ in 0..<200 {
                let number = Int64.random(in: 1...40, using: &random)
                if Bool.random(using: &random) || Bool.random(using: &random) {
                    ranges.insert(number)
                    expected.insert(number)
                } else {
                    ranges.remove(number)
                    expected.remove(number)
                }
                #expect((0...41).filter { ranges.contains($0) } == expected.sorted())
                let begins = expected.count { !expected.contains($0 - 1) }
                #expect(ranges.ranges.count == begins)
                #expect(ranges.ranges == ranges.ranges.sorted { $0.lowerBound < $1.lowerBound })
            }
        }
    }

    @Test("are one for numbers that come one after the other, a few at a time in any order")
    func pushed() {
        var ranges = NumberRanges()
        for window in stride(from: Int64(1), to: 10_000, by: 8) {
            for number in (window..<window + 8).reversed() { ranges.insert(number) }
        }
        #expect(ranges.ranges == [1...10_000])
    }
}
