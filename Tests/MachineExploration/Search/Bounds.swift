/// What one exploration covers.
struct Bounds: Sendable {
    var name: String
    /// Whether the server and both devices have the row at the beginning.
    var rowExists = true
    /// Changes made by people, on both devices together.
    var edits = 0
    /// Things that go wrong.
    var faults = 0
    /// Discards and deletions that are taken back.
    var discards = 0
    /// Decisions for the own change.
    var keeps = 1
    /// Changes by third parties of columns that the app does not declare.
    var touches = 0
    /// Whether items are held in editors on the first device.
    var hasEditor = false
    /// The contents that edits write, counted from the one of the beginning.
    var contents: UInt8 = 2
    /// Whether answers about deleted rows show the tombstone.
    var showsTombstones = true
    /// The most states to visit.
    var limit = Int.max

    var budget: Budget {
        var budget = Budget()
        budget[.edits] = edits
        budget[.faults] = faults
        budget[.discards] = discards
        budget[.keeps] = keeps
        budget[.touches] = touches
        return budget
    }
}
