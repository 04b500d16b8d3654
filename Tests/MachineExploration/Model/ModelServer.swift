/// One row on a server with soft deletion, as protocol 3 has it: versions that grow, If-Match, tombstones.
struct ModelServer {
    /// The row or tombstone; without a version when there is none.
    var row: ModelRow

    /// Whether the answer to the deletion of a deleted row shows the tombstone; there is nothing in it otherwise.
    let showsTombstones: Bool

    var exists: Bool { row.version != nil }

    /// Whether bringing a row back takes two requests: one that gives the tombstone its content, one that makes it live.
    let restoresInSteps: Bool

    /// Whether it can only show a tombstone as it is before it writes it: it gets its content behind that, then.
    let showsBefore: Bool

    /// The last version that fits.
    static let lastVersion: UInt8 = 15

    /// Carries out a request, or not.
    mutating func carryOut(_ message: Message) -> Answer {
        switch message.kind {
        case .lookUp:
            return exists ? Answer(.shown, row) : Answer(.absent)
        case .insert, .newTombstone:
            guard !exists else { return Answer(.shown, row) }
            write(message, isDeleted: message.kind == .newTombstone)
            return Answer(.taken, row)
        case .update:
            guard exists else { return Answer(.absent) }
            guard !row.isDeleted, matches(message) else { return Answer(.shown, row) }
            write(message, isDeleted: false)
            return Answer(.taken, row)
        case .restore, .tombstone:
            guard exists else { return Answer(.absent) }
            guard matches(message) else { return Answer(.shown, row) }
            let content = row.content
            write(message, isDeleted: message.kind == .tombstone)
            // A tombstone is written with what the request carries; what brings one back in steps has given it that before.
            if message.kind == .tombstone {
                row.content = message.content
            } else if restoresInSteps, !showsBefore {
                row.content = content
            }
            return Answer(.taken, row)
        case .fill:
            guard exists else { return Answer(.absent) }
            guard row.isDeleted, matches(message) else { return Answer(.shown, row) }
            // No edit has arrived by that: nobody can see it.
            touch()
            row.content = message.content
            return Answer(.taken, row)
        case .delete:
            guard exists else { return Answer(.absent) }
            guard !row.isDeleted else { return showsTombstones ? Answer(.shown, row) : Answer(.absent) }
            guard matches(message) else { return Answer(.shown, row) }
            write(message, isDeleted: true)
            return Answer(.takenUnseen)
        }
    }

    /// Whether a request can only show the tombstone as it is before it writes it.
    func wouldShow(_ message: Message) -> Bool {
        message.mayShow && exists && row.isDeleted && matches(message)
    }

    /// Shows the tombstone as it is.
    mutating func show() {
        row.version = nextVersion
        row.isDeleted = false
    }

    /// A third party changes a column that the app does not declare.
    mutating func touch() {
        row.version = nextVersion
        row.history.insert(.touch)
    }

    /// A third party deletes the row. It takes the place of the second device.
    mutating func remove() {
        let tip = Edits.perDevice + 1
        row.version = nextVersion
        row.isDeleted = true
        row.history.insert(Edits(tip: tip))
        row.tip = tip
    }

    private var nextVersion: UInt8 { (row.version ?? 0) + 1 }

    private func matches(_ message: Message) -> Bool { message.version == nil || message.version == row.version }

    private mutating func write(_ message: Message, isDeleted: Bool) {
        row = ModelRow(
            content: isDeleted && exists ? row.content : message.content,
            version: nextVersion,
            isDeleted: isDeleted,
            history: row.history.union(message.history),
            tip: message.tip
        )
    }
}
