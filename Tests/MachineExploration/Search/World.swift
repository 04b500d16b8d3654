/// A state of everything, in 32 bytes: two devices by their numbers in the table, the server's row, requests that may
/// still arrive, notes about edits, and what may still happen.
struct World: Hashable {
    var a: UInt32
    var b: UInt32
    var server: ModelRow
    /// Requests that nobody waits for; 0 is none. In ascending order.
    var late: (UInt32, UInt32) = (0, 0)
    /// Edits that somebody decided against.
    var givenUp: Edits = []
    /// Edits that need not arrive.
    var satisfied: Edits = []
    var budget: Budget

    subscript(side: Side) -> UInt32 {
        get { side == .a ? a : b }
        set { if side == .a { a = newValue } else { b = newValue } }
    }

    var hasRoomForLate: Bool { late.0 == 0 }

    /// A request will arrive at some time, or never.
    mutating func delay(_ message: Message) {
        late = (min(message.bits, late.1), max(message.bits, late.1))
    }

    /// Takes one out.
    mutating func arrive(_ index: Int) -> Message {
        let message = Message(bits: index == 0 ? late.0 : late.1)
        late = (0, index == 0 ? late.1 : late.0)
        return message
    }

    /// No insert with a content arrives any more.
    mutating func forgetLateInserts(of content: UInt8) {
        let kept = [late.0, late.1]
            .map { bits -> UInt32 in
                let message = Message(bits: bits)
                return message.kind == .insert && message.content == content ? 0 : bits
            }
        late = (min(kept[0], kept[1]), max(kept[0], kept[1]))
    }

    static func == (one: World, other: World) -> Bool {
        one.a == other.a && one.b == other.b && one.server == other.server && one.late == other.late
            && one.givenUp == other.givenUp && one.satisfied == other.satisfied && one.budget == other.budget
    }

    func hash(into hasher: inout Hasher) { hasher.combine(mixed) }

    /// A number that spreads well.
    var mixed: UInt64 {
        var mixed: UInt64 = 0x9E37_79B9_7F4A_7C15
        func mix(_ part: UInt64) {
            mixed = (mixed ^ part) &* 0xFF51_AFD7_ED55_8CCD
            mixed ^= mixed >> 32
        }
        mix(UInt64(a) << 32 | UInt64(b))
        mix(UInt64(server.bits) << 32 | UInt64(budget.bits))
        mix(UInt64(late.0) << 32 | UInt64(late.1))
        mix(UInt64(givenUp.rawValue) << 16 | UInt64(satisfied.rawValue))
        return mixed
    }
}

/// What may still happen, four bits each.
struct Budget: Hashable {
    enum Kind: UInt8 {
        case edits, faults, discards, keeps, touches, removals
    }

    private(set) var bits: UInt32 = 0

    subscript(kind: Kind) -> Int {
        get { Int(bits >> (UInt32(kind.rawValue) * 4) & 15) }
        set {
            let shift = UInt32(kind.rawValue) * 4
            bits = bits & ~(15 << shift) | UInt32(newValue) << shift
        }
    }
}
