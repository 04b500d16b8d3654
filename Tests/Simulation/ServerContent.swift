/// What a row says: a value in each column, or that it was deleted.
///
/// Every edit writes values of its own, so that a value says which edit it comes from.
struct ServerContent: Equatable {
    var values: [String: String]
    /// The list that an item names.
    var list: String?
    /// What nobody declares, written by others.
    var extra: String?
    /// What only some versions of the app know, as far as it was written.
    var others: [String: String?] = [:]
    /// Whether its title is of a kind that the tables here cannot have. A tombstone's content is not looked at.
    var isUnfit = false
    /// The deletion, when the row is a tombstone.
    var deletion: String?

    /// What there is to be lost.
    var tokens: [String] { deletion.map { [$0] } ?? WorldSettings.columns.compactMap { values[$0] } }

    var description: String {
        deletion.map { "deleted by \($0)" }
            ?? WorldSettings.columns.map { "\($0) \(values[$0] ?? "-")" }.joined(separator: ", ")
    }
}

/// A row as of one write.
struct ServerVersion {
    let number: String
    var content: ServerContent
    /// The device; nil for somebody at the server.
    let author: Int?
    let stamp: Int64
    /// The place among all writes.
    let sequence: Int
    /// What is finer in the stamp than milliseconds.
    let fraction: Int
}

struct ServerRow {
    let id: String
    let created: Int64
    var history: [ServerVersion]

    var current: ServerVersion { history[history.count - 1] }

    /// Whether somebody has removed it without a trace; then only the simulation knows of it.
    var isGone = false
    /// The last write before each time that this has happened: nothing keeps away what arrives after that.
    var removals: [Int] = []
    /// The device that has removed it last; nil when somebody at the server has.
    var remover: Int?

    /// The latest write that left a version.
    func version(_ number: String?) -> ServerVersion? { history.last { $0.number == number } }
}
