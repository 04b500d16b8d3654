public import Foundation
import Synchronization

extension Emulator {
    // MARK: Rows

    /// All rows of a table as the dialect shows them, deleted ones included, sorted by id.
    ///
    /// - Parameters:
    ///   - table: The table's name.
    ///   - user: Whose rows, where there are users.
    /// - Returns: The rows; none when there is no such table.
    public func rows(in table: String, of user: String? = nil) -> [[String: JSONValue]] {
        state.withLock { state in
            guard let index = state.tableIndexes[TableName(table, of: user)] else { return [] }
            return members(of: state.tables[index])
        }
    }

    private func members(of table: EmulatedTable) -> [[String: JSONValue]] {
        table.rowsByID.map { row in
            configuration.isDotNet
                ? Protocol3Handler.members(of: row, in: table) : Protocol2Handler.members(of: row, in: table)
        }
    }

    /// Stores rows as if they had always been there, replacing those of the same id.
    ///
    /// `id` is made when missing. `updatedAt`, `createdAt` (protocol 2), `version` and `deleted` are taken as given;
    /// what is missing is made as an insert would make it, or for a row that is there already, as a change would.
    ///
    /// - Parameters:
    ///   - rows: The rows.
    ///   - table: The table's name.
    ///   - user: Whose rows they become, where there are users.
    /// - Throws: `EmulatorError` with code `unknownTable`, or `invalidRow` when a system member has the wrong form; then
    ///   nothing is stored.
    public func seed(_ rows: [[String: JSONValue]], in table: String, of user: String? = nil) throws {
        try state.withLock { state in
            try store(rows, in: TableName(table, of: user), of: &state)
        }
    }

    private func store(_ rows: [[String: JSONValue]], in table: TableName, of state: inout State) throws {
        guard let index = state.tableIndexes[table] else {
            throw EmulatorError(.unknownTable, "Configure a table named \(table.name) first.")
        }
        var copy = state.tables[index]
        // Few rows see each other's versions; many are put in place at once.
        var many: [EmulatedRow] = []
        for row in rows {
            let seeded = try SeededRow(row, configuration: configuration, table: &copy).row
            if rows.count > 1_000 { many.append(seeded) } else { copy.store(seeded) }
        }
        if !many.isEmpty { copy.store(many) }
        state.tables[index] = copy
    }

    // MARK: Files

    /// Stores the rows of a JSON text, an object of arrays of rows by table, as `seed` does, and makes them what
    /// ``reset()`` goes back to.
    ///
    /// Where there are users, a row with the member `user` becomes a row of that user's, and any other one a row of each.
    ///
    /// - Throws: `EmulatorError` with code `invalidJSON`, `unknownTable` or `invalidRow`, which name table and place; then
    ///   nothing is stored.
    public func load(_ json: Data) throws {
        guard let tables = try JSONValue(parsing: json).object else {
            throw EmulatorError(.invalidJSON, "The rows must be an object of arrays by table, as {\"TodoItem\": []}.")
        }
        let users: [String?] = configuration.users.isEmpty ? [nil] : Set(configuration.users.values).sorted()
        try state.withLock { state in
            var loaded = state
            for (table, rows) in tables.sorted(by: { $0.key < $1.key }) {
                let rows = try Self.rows(rows, of: table, users)
                for user in users {
                    let own = rows.filter { $0.user == nil || $0.user == user }.map(\.members)
                    try store(own, in: TableName(table, of: user), of: &loaded)
                }
            }
            state = loaded
            (state.initialTables, state.initialIndexes) = (state.tables, state.tableIndexes)
        }
    }

    private static func rows(
        _ value: JSONValue,
        of table: String,
        _ users: [String?]
    ) throws -> [(members: [String: JSONValue], user: String?)] {
        guard let elements = value.array else {
            throw EmulatorError(.invalidJSON, "The rows of the table \(table) must be an array.")
        }
        return try elements.enumerated()
            .map { index, element in
                guard var members = element.object else {
                    throw EmulatorError(.invalidRow, "Element \(index + 1) of the table \(table) is not a row.")
                }
                guard users != [nil], let owner = members.removeValue(forKey: "user") else { return (members, nil) }
                guard let name = owner.string, users.contains(name) else {
                    throw EmulatorError(.invalidRow, "Row \(index + 1) of the table \(table) is of an unknown user.")
                }
                return (members, name)
            }
    }

    /// All rows of all tables as JSON that `load` takes, deleted ones included, a row a line.
    public var contents: Data {
        let tables = state.withLock { state in
            state.tableIndexes.sorted { ($0.key.name, $0.key.user ?? "") < ($1.key.name, $1.key.user ?? "") }
                .map { (user: $0.key.user, table: state.tables[$0.value]) }
        }
        var lines: [String: [Data]] = [:]
        for (user, table) in tables {
            for (row, var members) in zip(table.rowsByID, members(of: table)) {
                members["updatedAt"] = .string(Timestamp.fullText(ticks: row.stamp))
                members["user"] = user.map { .string($0) } ?? members["user"]
                lines[table.definition.name, default: []].append(JSONValue.object(members).encoded)
            }
            lines[table.definition.name] = lines[table.definition.name] ?? []
        }
        var output = Data("{".utf8)
        for (index, (name, rows)) in lines.sorted(by: { $0.key < $1.key }).enumerated() {
            output += Data((index > 0 ? ",\n" : "\n").utf8) + JSONValue.string(name).encoded + Data(": [".utf8)
            for (place, row) in rows.enumerated() { output += Data((place > 0 ? ",\n" : "\n").utf8) + row }
            output += Data("\n]".utf8)
        }
        return output + Data("\n}\n".utf8)
    }

    /// Takes all tables back to how they were after the last `load`, or empty, and forgets scripted faults and the log.
    ///
    /// A write that still waits for its commit is dropped and answered 503.
    public func reset() {
        state.withLock { state in
            (state.tables, state.tableIndexes) = (state.initialTables, state.initialIndexes)
            state.resetCount += 1
            state.faults.clear()
            state.log.clear()
        }
    }
}

extension Timestamp {
    /// An instant with as many digits of its fraction as it needs, at least three.
    static func fullText(ticks: Int64) -> String {
        let whole = wholeMilliseconds(ticks)
        let text = text(milliseconds: whole / ticksPerMillisecond)
        guard ticks != whole else { return text }
        let digits = (ticks - whole).description
        return text.dropLast() + String(repeating: "0", count: 4 - digits.count) + digits + "Z"
    }
}
