/// An exact sum of doubles, rounded when it is asked for.
///
/// Every double is a whole multiple of 2^-1074: it is added at its place to one long whole number, in limbs of 32 bits
/// that have room for carries.
package struct DoubleSum {
    /// 2^31 additions of 32 bits fit beside the sign.
    private static let additionsBetweenCarries = 1 << 30
    private static let limbCount = 68

    private var limbs: [Int64] = []
    private var additions = 0
    private var infinities: Double = 0

    package init() {}

    /// Adds a number.
    package mutating func add(_ value: Double) {
        guard value.isFinite else {
            infinities += value
            return
        }
        if limbs.isEmpty { limbs = Array(repeating: 0, count: Self.limbCount) }
        let isSubnormal = value.exponentBitPattern == 0
        let significand = value.significandBitPattern | (isSubnormal ? 0 : 1 << 52)
        let position = isSubnormal ? 0 : Int(value.exponentBitPattern) - 1
        let (limb, shift) = (position >> 5, UInt64(position & 31))
        let (low, middle) = (significand << shift, significand >> (32 - shift))
        let sign: Int64 = value.sign == .minus ? -1 : 1
        limbs[limb] += sign * Int64(low & 0xFFFF_FFFF)
        limbs[limb + 1] += sign * Int64(middle & 0xFFFF_FFFF)
        limbs[limb + 2] += sign * Int64(middle >> 32)
        additions += 1
        if additions == Self.additionsBetweenCarries {
            additions = 0
            let carry = Self.carry(&limbs)
            limbs[Self.limbCount - 1] += carry << 32
        }
    }

    /// The sum, rounded to the nearest double, halves to even; not a number for infinities of both signs.
    package var value: Double {
        guard infinities == 0 else { return infinities }
        var limbs = limbs
        var carry = Self.carry(&limbs)
        let isNegative = carry < 0
        if isNegative {
            for index in limbs.indices { limbs[index] = -limbs[index] }
            carry = Self.carry(&limbs) - carry
        }
        // What is carried is at most as many as there were additions.
        limbs.append(carry & 0xFFFF_FFFF)
        limbs.append(carry >> 32)
        guard let top = limbs.lastIndex(where: { $0 != 0 }) else { return 0 }
        let topBit = top * 32 + 63 - limbs[top].leadingZeroBitCount
        let magnitude = Self.rounded(limbs, topBit)
        return isNegative ? -magnitude : magnitude
    }

    /// Leaves 32 bits in each limb, and returns what is carried beyond the last one.
    private static func carry(_ limbs: inout [Int64]) -> Int64 {
        var carry: Int64 = 0
        for index in limbs.indices {
            let sum = limbs[index] + carry
            limbs[index] = sum & 0xFFFF_FFFF
            carry = sum >> 32
        }
        return carry
    }

    private static func rounded(_ limbs: [Int64], _ topBit: Int) -> Double {
        // Below this every bit has a place of its own.
        let lowest = max(0, topBit - 52)
        var significand: UInt64 = 0
        for bit in stride(from: topBit, through: lowest, by: -1) {
            significand = significand << 1 | self.bit(bit, limbs)
        }
        if lowest > 0, bit(lowest - 1, limbs) == 1 {
            let hasMore = (0..<lowest - 1).contains { bit($0, limbs) == 1 }
            if hasMore || significand & 1 == 1 { significand += 1 }
        }
        return Double(sign: .plus, exponent: lowest - 1074, significand: Double(significand))
    }

    private static func bit(_ position: Int, _ limbs: [Int64]) -> UInt64 {
        UInt64(truncatingIfNeeded: limbs[position >> 5] >> (position & 31)) & 1
    }
}
