internal import SeededNumbers

/// Random numbers that a seed repeats (SplitMix64).
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var generator: SeededGenerator

    /// Starts with a seed. Texts, such as the id of a rule, make the numbers of one seed differ between uses.
    public init(seed: UInt64, for text: String = "") {
        // FNV-1a: `Hasher` differs from process to process.
        generator = SeededGenerator(seed: text.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
    }

    /// The next number.
    public mutating func next() -> UInt64 { generator.next() }

    /// One of the values, which must not be empty.
    public mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &self)]
    }

    /// True in so many of a hundred cases.
    public mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}
