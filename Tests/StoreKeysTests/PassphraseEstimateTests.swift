import SecretMemory
import Testing

@testable import StoreKeys

@Suite("How long a passphrase withstands guessing")
struct PassphraseEstimateTests {
    private func estimate(_ text: String, _ cost: ScryptCost = .standard) throws -> PassphraseEstimate {
        PassphraseUnlocker.estimate(of: try SecretBytes(text: text), cost: cost)
    }

    @Test(
        "is counted as NIST counts it",
        arguments: [
            ("", 0), ("x", 4), ("xz", 6), ("pjhfdzvr", 18), ("pjhfdzvrt", 19.5), ("pjhfdzvrtkhsqwmxncya", 36),
            ("pjhfdzvrtkhsqwmxncyaf", 37), ("Pjhf5zvr", 24), ("Pjhfdzvr", 18), ("pjhf5zvr", 18),
            // Rows and repetitions tell nothing; a character beyond ASCII is one.
            ("aaaaaaaa", 4), ("abcdefgh", 4), ("87654321", 4), ("a\u{E9}z", 8),
        ] as [(String, Double)]
    )
    func bits(text: String, bits: Double) throws {
        #expect(try estimate(text).bits == bits)
    }

    @Test("grows with the cost of a guess, and a year of a thousand cores is enough")
    func time() throws {
        #expect(try estimate("pjhfdzvr").guessingTime == 65.536)
        let dear = try ScryptCost(log2N: 18, blockSize: 8, parallelization: 1)
        #expect(try estimate("pjhfdzvr", dear).guessingTime == 131.072)
        #expect(try estimate("pjhfdzvr").isWeak)
        #expect(try estimate("correct horse").isWeak)
        #expect(try !estimate("correct horse battery staple").isWeak)
        #expect(try estimate(String(repeating: "az", count: 2_048)).guessingTime.isFinite)
    }
}
