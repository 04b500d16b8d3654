public import SecretMemory

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// How long somebody who has the keyslot file would guess at a passphrase that a person has thought up.
///
/// An estimate, to warn with: it knows the length and nothing of words, names and dates, and what a machine has made at random
/// is stronger than it says. ``PassphraseUnlocker/estimate(of:cost:)`` makes one.
public struct PassphraseEstimate: Sendable, Hashable {
    /// How much is unknown about the passphrase, in bits, after NIST SP 800-63 (version 1.0.2, appendix A.2.1): 4 for the
    /// first character, 2 each for the next seven, 1.5 each up to the twentieth, 1 each from then on, and 6 more when there are
    /// both a capital letter and something that is no letter. A character that repeats the one before it, or follows it in
    /// a row (`abc`, `321`), tells nothing.
    public let bits: Double

    /// How long it takes on average to guess it, in seconds, on ``cores`` cores. Finite for every passphrase that can be.
    public let guessingTime: TimeInterval

    /// Whether ``guessingTime`` is less than ``enough``.
    public var isWeak: Bool { guessingTime < Self.enough }

    /// How many processor cores the one who guesses is taken to have: 1,000, which can be rented.
    public static let cores = 1_000

    /// The time below which a passphrase is called weak: a year of 365 days, in seconds.
    public static let enough: TimeInterval = 365 * 24 * 60 * 60

    /// What one guess at ``ScryptCost/standard`` takes on a core, in seconds.
    private static let secondsOfStandard = 0.5

    init(_ passphrase: SecretBytes, cost: ScryptCost) {
        let bits = Self.bits(of: passphrase)
        let secondsOfGuess = Self.secondsOfStandard * Double(cost.work) / Double(ScryptCost.standard.work)
        self.bits = bits
        // Half of the guesses on average; the exponent is bounded so that the number is one.
        guessingTime = exp2(min(bits, 1_000) - 1) * secondsOfGuess / Double(Self.cores)
    }

    private static func bits(ofCharacter index: Int) -> Double {
        switch index {
        case 0: 4
        case 1..<8: 2
        case 8..<20: 1.5
        default: 1
        }
    }

    /// Looks at the bytes where they lie, and copies none.
    private static func bits(of passphrase: SecretBytes) -> Double {
        unsafe passphrase.withUnsafeBytes { bytes in
            var (characters, hasCapital, hasOther) = (0, false, false)
            var previous = 0
            for index in bytes.indices {
                let byte = unsafe bytes[index]
                let isRow = abs(Int(byte) - previous) <= 1
                previous = Int(byte)
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): hasCapital = true
                case UInt8(ascii: "a")...UInt8(ascii: "z"): break
                default: hasOther = true
                }
                // The later bytes of a character beyond ASCII are a part of it.
                if !isRow, byte & 0xC0 != 0x80 { characters += 1 }
            }
            let length = (0..<characters).reduce(0.0) { sum, index in sum + Self.bits(ofCharacter: index) }
            return length + (hasCapital && hasOther ? 6 : 0)
        }
    }
}

extension PassphraseUnlocker {
    /// Estimates how long a passphrase withstands guessing, so that an app can warn before it takes one. Takes no time that
    /// matters, and refuses nothing: how strong is strong enough is for the app to say.
    ///
    /// - Parameters:
    ///   - passphrase: The passphrase; it is lent.
    ///   - cost: The cost of the slot that it is for.
    /// - Returns: The estimate.
    public static func estimate(of passphrase: SecretBytes, cost: ScryptCost = .standard) -> PassphraseEstimate {
        PassphraseEstimate(passphrase, cost: cost)
    }
}
