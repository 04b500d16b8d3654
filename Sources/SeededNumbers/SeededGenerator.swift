internal import Foundation

/// Random numbers that a seed repeats (SplitMix64): for tests, benchmarks and the conformance kit.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension SeededGenerator {
    /// The seed that the environment variable `SEALEDSYNC_TEST_SEED` chooses. Without it 1, so that `make test` says the
    /// same of the same code each time; and nil, for a new one, when unknown faults are looked for.
    package static var chosenSeed: UInt64? {
        ProcessInfo.processInfo.environment["SEALEDSYNC_TEST_SEED"].flatMap(UInt64.init) ?? (looksForOthers ? nil : 1)
    }

    /// The seed of a test: the chosen one or a new one. Printed, so that a failure can be repeated.
    package static func seed(of test: String = #function) -> UInt64 {
        let seed = chosenSeed ?? .random(in: 0...UInt64.max)
        print("\(test): SEALEDSYNC_TEST_SEED=\(seed)")
        return seed
    }

    /// How often a test repeats what chance varies: as often as finds the faults it is known to find, or, when
    /// `SEALEDSYNC_ALL_ROUNDS` is set as `make test-all` does, as often as looks for others.
    package static func rounds(_ usual: Int, all: Int) -> Int {
        looksForOthers ? all : usual
    }

    private static var looksForOthers: Bool { ProcessInfo.processInfo.environment["SEALEDSYNC_ALL_ROUNDS"] != nil }
}
