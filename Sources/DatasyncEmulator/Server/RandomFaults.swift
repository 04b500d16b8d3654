internal import SeededNumbers

/// What goes wrong by chance.
struct RandomFaults: Sendable {
    private let rate: Double
    private var generator: SeededGenerator

    init(rate: Double, seed: UInt64) {
        self.rate = rate
        // Another sequence than that of the delays, so that they do not go together.
        generator = SeededGenerator(seed: seed ^ 0xfa17)
    }

    /// What happens to the next request; nil when nothing does.
    mutating func next() -> Fault.Action? {
        guard rate > 0, Double.random(in: 0..<1, using: &generator) < rate else { return nil }
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: return .drop
        case 1: return .applyThenDrop
        case 2: return .delay(.milliseconds(Int64.random(in: 100...2_000, using: &generator)))
        case 3: return .applyTwice
        case 4: return .applyThenDeliver(.cut(after: Int.random(in: 1...400, using: &generator)))
        case 5: return .respond(EmulatorResponse(503))
        case 6: return .respond(EmulatorResponse(500))
        case 7: return .applyThenRespond(EmulatorResponse(500))
        case 8: return .respond(EmulatorResponse(429, headers: ["Retry-After": "1"]))
        default: return .respond(.html(502, "<html><body><h1>502 Bad Gateway</h1></body></html>"))
        }
    }
}
