internal import RemoteContract
internal import SyncContract

/// Translates the rows, queries and errors of one table between the names of this device and those of the server.
///
/// A column that is not declared has the same name on both sides, unless that name is taken here by a column which the server
/// calls otherwise or does not have: then it is kept under a name that no column can be declared with.
struct WireNames: Sendable {
    /// The table as the server knows it: with its names, and without the columns that stay here.
    let table: TableDefinition

    private let local: TableDefinition
    /// The server's names of the columns that are called otherwise there.
    private let wireNames: [String: String]
    /// The names of the same columns here.
    private let localNames: [String: String]
    private let taken: TakenNames

    /// Whether a table has anything that is called otherwise on the server, or is not there.
    static func areNeeded(for table: TableDefinition) -> Bool {
        table.wireName != table.name || table.columns.contains { $0.isLocal || $0.wireName != $0.name }
    }

    init(_ table: TableDefinition) {
        local = table
        let renamed = table.columns.filter { !$0.isLocal && $0.wireName != $0.name }
        wireNames = Dictionary(renamed.map { ($0.name, $0.wireName) }) { first, _ in first }
        localNames = Dictionary(renamed.map { ($0.wireName, $0.name) }) { first, _ in first }
        taken = TakenNames(table)
        self.table = table.onWire
    }

    /// What the server calls a column.
    func wireName(of column: String) -> String {
        wireNames[column] ?? taken.given(column)
    }

    /// What is called so by the server.
    func localName(of column: String) -> String {
        localNames[column] ?? taken.kept(column)
    }

    // MARK: Rows

    /// A row as it is sent: without what stays here.
    ///
    /// A value under the server's name of a column is from before the column was declared. It is what the server has as long
    /// as the column has no value of its own.
    func outgoing(_ row: Record) -> Record {
        var sent = Record(id: row.id)
        var earlier: [(name: String, value: FieldValue)] = []
        for (name, value) in zip(row.slotNames, row.slotValues) {
            guard let value else { continue }
            // A column that stays here.
            if taken.contain(name), wireNames[name] == nil { continue }
            if localNames[name] != nil, wireNames[name] == nil {
                earlier.append((name, value))
            } else {
                sent[wireName(of: name)] = value
            }
        }
        for (name, value) in earlier where sent[name]?.isNull ?? true { sent[name] = value }
        return sent
    }

    /// Rows as they came.
    func incoming(_ rows: [Record]) -> [Record] {
        // The rows of a page share their list of names.
        var last: (theirs: [String], mine: [String]) = ([], [])
        return rows.map { row in
            if last.theirs != row.slotNames { last = (row.slotNames, row.slotNames.map(localName)) }
            return Record(id: row.id, names: last.mine, values: row.slotValues)
        }
    }

    func incoming(_ row: Record) -> Record { incoming([row])[0] }

    /// Rows that were set aside.
    func incoming(_ rows: [SetAsideRow]) -> [SetAsideRow] {
        rows.map { row in
            var row = row
            row.reason = incoming(message: row.reason)
            return row
        }
    }

    // MARK: Errors

    /// Runs a request, and translates its error.
    func translating<Value>(_ request: () async throws -> Value) async throws -> Value {
        do {
            return try await request()
        } catch {
            throw incoming(error)
        }
    }

    func incoming(_ error: any Error) -> any Error {
        guard let error = error as? RemoteError else { return error }
        var named = RemoteError(
            error.code,
            incoming(message: error.message),
            status: error.status,
            serverRecord: error.serverRecord.map(incoming),
            retryAfter: error.retryAfter,
            wasNotSent: error.wasNotSent,
            cause: error.cause,
            exchange: error.exchange
        )
        named.isWebPage = error.isWebPage
        named.wasPartlyDone = error.wasPartlyDone
        named.wouldShowTombstone = error.wouldShowTombstone
        return named
    }

    /// A message with the names that are known here in front of those that the server has; names stand in quotes.
    func incoming(message: String) -> String {
        var parts = message.split(separator: "'", omittingEmptySubsequences: false).map(String.init)
        for index in parts.indices.dropFirst().dropLast() {
            let name = parts[index]
            let isTable = name == table.name && (parts[index - 1].hasSuffix("able ") || localNames[name] == nil)
            guard let known = isTable ? local.name : localNames[name], known != name else { continue }
            parts[index] = known
            parts[index + 1] = " ('\(name)' on the server)" + parts[index + 1]
        }
        return parts.joined(separator: "'")
    }
}
