internal import SeededNumbers

/// What a simulation does, move by move: all that chance has a say in.
///
/// A script is played the same way every time, and so is what is left of one when moves are taken out.
package struct Script: Sendable, Hashable {
    /// What the world is like.
    package let seed: UInt64
    package var moves: [Move]

    package init(seed: UInt64, moves: [Move] = []) {
        self.seed = seed
        self.moves = moves
    }
}

/// One move of the scheduler.
package struct Move: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// Something new begins: a step of a device, or something that happens to it or to the server.
        case begin
        /// One of those that wait goes on.
        case goOn
    }

    package let kind: Kind
    /// Where the choices come from that the move needs.
    package let seed: UInt64
    /// Whether the network does no harm in this move.
    package var isCalm = false

    init(using random: inout SeededGenerator) {
        kind = random.chance(1, of: 5) ? .begin : .goOn
        seed = random.next()
    }
}

extension SeededGenerator {
    /// True as often as said.
    mutating func chance(_ part: Int, of whole: Int) -> Bool { below(whole) < part }

    /// A number from 0.
    mutating func below(_ bound: Int) -> Int { Int(next() >> 33) % bound }

    /// An element of a list that is not empty.
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
