/// Finds out in constant memory that a sequence goes round in a circle: a value is kept, from farther and farther on, and
/// met again when there is a circle (Brent).
struct CycleDetector<Value: Equatable & Sendable>: Sendable {
    /// How often a kept value may be met again.
    private let mostMeetings: Int
    private var kept: Value?
    private var meetings = 0
    private var steps = 0
    private var patience: Int

    init(mostMeetings: Int) {
        self.mostMeetings = mostMeetings
        patience = mostMeetings + 1
    }

    /// Takes a value in; true when the sequence is known to go round.
    mutating func closesCircle(_ value: Value) -> Bool {
        if value == kept {
            meetings += 1
            if meetings > mostMeetings { return true }
        }
        steps += 1
        if kept == nil || steps > patience {
            kept = value
            meetings = 0
            steps = 0
            patience *= 2
        }
        return false
    }
}
