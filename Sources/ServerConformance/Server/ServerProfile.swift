internal import ConformanceRunner

/// What was found out about a table before the rules.
struct ServerProfile: Sendable {
    /// The columns that the table has, by kind.
    var columns: [ColumnKind: String] = [:]
    /// What a column of a kind does not take, for people.
    var restrictions: [ColumnKind: String] = [:]
    /// Columns that were named and are not what they were named for, in sentences.
    var remarks: [String] = []
    /// Whether a deletion leaves the row as a tombstone.
    var softDelete = false
    /// The largest `$top` that is taken; nil when no number is too large.
    var largestTop: Int?
    /// How many rows a page holds, when it holds few and does not say that there are more.
    var silentPageSize: Int?
    /// Whether inserts are answered with the row as it was sent, which the database then keeps otherwise under that version.
    var answersAsSent = false
    /// What the server is known as.
    var server = KnownServer.standard

    static let softDeleteName = "softDelete"
    static let fractionName = "fraction"

    /// Whether numbers may have fractions.
    var keepsFractions: Bool { columns[.number] != nil && restrictions[.number] == nil }

    /// As rules name them: the kinds of columns, `fraction`, and `softDelete`.
    var capabilities: Set<String> {
        var names = Set(columns.keys.map(\.rawValue))
        if softDelete { names.insert(Self.softDeleteName) }
        if keepsFractions { names.insert(Self.fractionName) }
        return names
    }

    /// A number for `$top` that the server takes.
    func top(_ number: Int) -> Int { min(number, largestTop ?? number) }

    /// The columns in a line.
    var columnText: String {
        let columns = ColumnKind.allCases.compactMap { kind in
            self.columns[kind].map { "\(kind)=\($0)" + (restrictions[kind].map { " (\($0))" } ?? "") }
        }
        return columns.isEmpty ? "none" : columns.joined(separator: ", ")
    }
}

/// The server cannot be judged at all.
public struct ServerUnavailable: Error, Sendable, CustomStringConvertible {
    /// Why, and what to do.
    public let description: String

    init(_ description: String) { self.description = description.visible }
}
