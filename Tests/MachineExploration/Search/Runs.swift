// Which bounds are explored.
extension Bounds {
    /// About a million states, all of what is within the bounds.
    static let brief: [Bounds] = [
        Bounds(edits: 2, faults: 1, keeps: 0),
        Bounds(rowExists: false, edits: 2, faults: 1, keeps: 0),
        Bounds(edits: 1, faults: 1, discards: 1),
        Bounds(rowExists: false, edits: 1, faults: 1, discards: 1),
        Bounds(edits: 2, discards: 1, keeps: 0),
        Bounds(edits: 2),
        Bounds(edits: 2, keeps: 0, touches: 1),
        Bounds(edits: 2, hasEditor: true),
        Bounds(edits: 1, faults: 1, touches: 1, hasEditor: true),
        Bounds(edits: 3, discards: 1, hasEditor: true, limit: 700_000),
        Bounds(edits: 2, faults: 1, keeps: 0, showsTombstones: false),
        Bounds(edits: 3, faults: 1, keeps: 0, isAlone: true),
        Bounds(edits: 3, faults: 1, keeps: 0, hasEditor: true, isAlone: true),
        Bounds(edits: 3, discards: 1, keeps: 0, isAlone: true, restoresInSteps: true),
        Bounds(edits: 2, faults: 2, keeps: 0, removals: 1, isAlone: true),
        Bounds(edits: 2, faults: 1, discards: 1, keeps: 0, isAlone: true, restoresInSteps: true, showsBefore: true),
        Bounds(edits: 3, faults: 1, keeps: 0, isAlone: true, showsBefore: true),
        Bounds(edits: 2, faults: 1, discards: 1, keeps: 0, touches: 1, hasEditor: true, isAlone: true, limit: 500_000),
    ]

    /// Tens of millions.
    static let all: [Bounds] = [
        Bounds(edits: 2, faults: 1),
        Bounds(rowExists: false, edits: 2, faults: 1),
        Bounds(edits: 1, faults: 2, discards: 1),
        Bounds(rowExists: false, edits: 1, faults: 2, discards: 1),
        Bounds(edits: 2, faults: 1, discards: 1, keeps: 0),
        Bounds(rowExists: false, edits: 2, faults: 1, discards: 1, keeps: 0, showsTombstones: false),
        Bounds(edits: 2, faults: 2, keeps: 0),
        Bounds(edits: 2, faults: 1, keeps: 0, touches: 1),
        Bounds(edits: 2, touches: 1),
        Bounds(edits: 3, discards: 1, keeps: 0, limit: 6_000_000),
        Bounds(rowExists: false, edits: 3, faults: 1, limit: 6_000_000),
        Bounds(edits: 2, faults: 1, discards: 1, hasEditor: true, limit: 6_000_000),
        Bounds(edits: 3, discards: 1, hasEditor: true, limit: 3_000_000),
        Bounds(edits: 2, keeps: 0, contents: 3),
        Bounds(edits: 2, faults: 1, restoresInSteps: true),
        Bounds(edits: 2, faults: 1, discards: 1, keeps: 0, restoresInSteps: true, limit: 6_000_000),
        Bounds(edits: 3, faults: 1, discards: 1, keeps: 0, isAlone: true),
        Bounds(edits: 3, faults: 1, discards: 1, keeps: 0, isAlone: true, restoresInSteps: true),
        Bounds(edits: 2, faults: 2, discards: 1, removals: 1, isAlone: true, limit: 6_000_000),
        Bounds(edits: 2, faults: 2, removals: 1, isAlone: true, restoresInSteps: true, limit: 6_000_000),
        Bounds(edits: 3, faults: 2, discards: 1, keeps: 0, isAlone: true, showsBefore: true, limit: 6_000_000),
        Bounds(
            edits: 3,
            faults: 2,
            discards: 1,
            keeps: 0,
            isAlone: true,
            restoresInSteps: true,
            showsBefore: true,
            limit: 6_000_000
        ),
        Bounds(
            edits: 2,
            faults: 2,
            removals: 1,
            isAlone: true,
            restoresInSteps: true,
            showsBefore: true,
            limit: 6_000_000
        ),
        Bounds(edits: 2, faults: 1, showsBefore: true, limit: 6_000_000),
        Bounds(edits: 2, faults: 1, restoresInSteps: true, showsBefore: true, limit: 6_000_000),
        Bounds(rowExists: false, edits: 3, faults: 2, removals: 1, isAlone: true, limit: 6_000_000),
        Bounds(rowExists: false, edits: 4, faults: 2, discards: 1, keeps: 0, isAlone: true, limit: 6_000_000),
        Bounds(edits: 3, faults: 2, discards: 1, touches: 1, hasEditor: true, isAlone: true, limit: 6_000_000),
        Bounds(edits: 3, faults: 1, keeps: 0, hasEditor: true, limit: 6_000_000),
    ]

    /// What finds a rule that is missing: small enough to be done for each of them.
    static let rules: [Bounds] = [
        Bounds(edits: 3, faults: 1, discards: 1, keeps: 0, isAlone: true),
        Bounds(edits: 2, faults: 2, keeps: 0, removals: 1, isAlone: true),
        Bounds(edits: 2, faults: 2, keeps: 0, removals: 1, isAlone: true, restoresInSteps: true),
        Bounds(edits: 3, faults: 1, keeps: 0, isAlone: true, showsBefore: true),
        Bounds(edits: 1, faults: 2, discards: 1, keeps: 0),
        Bounds(rowExists: false, edits: 1, faults: 2, discards: 1, keeps: 0),
        Bounds(edits: 2, faults: 1, discards: 1, keeps: 0, limit: 1_500_000),
        Bounds(rowExists: false, edits: 2, faults: 1, discards: 1, keeps: 0, limit: 1_500_000),
        Bounds(edits: 2, faults: 1, limit: 1_500_000),
        Bounds(edits: 3, faults: 1, keeps: 0, limit: 2_500_000),
        Bounds(rowExists: false, edits: 3, faults: 1, keeps: 0, limit: 1_500_000),
        Bounds(edits: 2, hasEditor: true),
        Bounds(edits: 3, faults: 1, keeps: 0, hasEditor: true, isAlone: true),
        Bounds(edits: 2, faults: 1, discards: 1, keeps: 0, touches: 1, hasEditor: true, isAlone: true, limit: 500_000),
        Bounds(edits: 3, keeps: 0, hasEditor: true, limit: 1_500_000),
        Bounds(edits: 3, discards: 1, hasEditor: true, limit: 1_500_000),
    ]

    /// Bounds from words such as `edits=3`.
    init?(words: [String]) {
        self.init()
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1)
            let number = parts.count == 2 ? Int(parts[1]) : nil
            switch (parts.first, number) {
            case ("edits", let number?): edits = number
            case ("faults", let number?): faults = number
            case ("discards", let number?): discards = number
            case ("keeps", let number?): keeps = number
            case ("touches", let number?): touches = number
            case ("removals", let number?): removals = number
            case ("contents", let number?) where (2...3).contains(number): contents = UInt8(number)
            case ("limit", let number?): limit = number
            case ("new", nil): rowExists = false
            case ("editor", nil): hasEditor = true
            case ("alone", nil): isAlone = true
            case ("steps", nil): restoresInSteps = true
            case ("shown", nil): showsBefore = true
            case ("hidden", nil): showsTombstones = false
            default: return nil
            }
        }
    }
}
