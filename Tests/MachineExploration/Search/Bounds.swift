/// What one exploration covers.
struct Bounds: Sendable {
    /// Whether the server and both devices have the row at the beginning.
    var rowExists = true
    /// Changes made by people, on both devices together.
    var edits = 0
    /// Things that go wrong.
    var faults = 0
    /// Discards and deletions that are taken back.
    var discards = 0
    /// Decisions for something of the own device: its change, another content, or a deletion.
    var keeps = 1
    /// Changes by third parties of columns that the app does not declare.
    var touches = 0
    /// Deletions by third parties, who take the place of the second device: only where that does nothing.
    var removals = 0
    /// Whether items are held in editors on the first device.
    var hasEditor = false
    /// Whether the second device does nothing: then there is room for longer stories of one.
    var isAlone = false
    /// The contents that edits write, counted from the one of the beginning.
    var contents: UInt8 = 2
    /// Whether the answer to the deletion of a deleted row shows the tombstone.
    var showsTombstones = true
    /// Whether bringing a row back takes two requests, as in protocol 2.
    var restoresInSteps = false
    /// Whether the server can only show a tombstone as it is before it writes it, as version 4 of the Node server does in
    /// protocol 2, and the predecessor in protocol 3.
    var showsBefore = false
    /// The most states to visit.
    var limit = Int.max

    var budget: Budget {
        var budget = Budget()
        budget[.edits] = edits
        budget[.faults] = faults
        budget[.discards] = discards
        budget[.keeps] = keeps
        budget[.touches] = touches
        // All have one number: two could not be told apart.
        budget[.removals] = isAlone ? min(removals, 1) : 0
        return budget
    }

    /// The devices that do something.
    var sides: [Side] { isAlone ? [.a] : Side.allCases }

    var description: String {
        var parts = [rowExists ? "the row exists" : "no row yet"]
        for (count, name) in [
            (edits, "edit"), (faults, "fault"), (discards, "discard"), (keeps, "decision"), (touches, "touch"),
            (removals, "foreign deletion"),
        ] where count > 0 {
            parts.append("\(count) \(name)\(count == 1 ? "" : name == "touch" ? "es" : "s")")
        }
        if hasEditor { parts.append("an editor") }
        if isAlone { parts.append("one device") }
        if contents > 2 { parts.append("\(contents) contents") }
        if restoresInSteps { parts.append("restored in two steps") }
        if showsBefore { parts.append("shown as it was first") }
        if !showsTombstones { parts.append("410 is empty") }
        return parts.joined(separator: ", ")
    }
}
