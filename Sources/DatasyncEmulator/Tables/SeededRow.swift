/// A row that a test or demonstration puts in place, checked.
struct SeededRow {
    let row: EmulatedRow

    init(_ members: [String: JSONValue], configuration: EmulatorConfiguration, table: inout EmulatedTable) throws {
        var values = members
        let id = RowID(try Self.take("id", from: &values, \.string) ?? configuration.makeID())
        let given = try Self.takeTicks("updatedAt", from: &values)
        let stamp = given.map(table.keptStamp) ?? table.nextStamp(now: configuration.clock())
        let isDotNet = configuration.isDotNet
        let createdAt = isDotNet ? stamp : try Self.takeTicks("createdAt", from: &values) ?? stamp
        let version = try Self.take("version", from: &values, \.string)
        let deleted = try Self.take("deleted", from: &values, \.bool) ?? false
        if isDotNet {
            do {
                values = try table.definition.stored(values.lazy.map { (name: $0, value: $1) })
            } catch {
                throw EmulatorError(.invalidRow, "A seeded row does not fit its table: \(error.message)")
            }
        }
        // Declared columns are known; the others come in a certain order.
        let others = isDotNet && !table.definition.columns.isEmpty ? [] : values.sorted { $0.key < $1.key }
        for (name, value) in others where isDotNet || value != .null {
            table.noteColumn(name, ColumnConversion.type(of: value))
        }
        row = EmulatedRow(
            id: id,
            values: values,
            createdAt: Timestamp.wholeMilliseconds(createdAt) / Timestamp.ticksPerMillisecond,
            stamp: stamp,
            version: version ?? configuration.makeVersion(after: table[id]?.version),
            deleted: deleted
        )
    }

    private static func take<Value>(
        _ name: String,
        from values: inout [String: JSONValue],
        _ read: (JSONValue) -> Value?
    ) throws -> Value? {
        guard let member = values.removeValue(forKey: name), member != .null else { return nil }
        guard let value = read(member) else {
            throw EmulatorError(.invalidRow, "The member \(name) of a seeded row has the wrong type.")
        }
        return value
    }

    /// Units of 100 nanoseconds, as fine as they were given. Years outside 1...9999 do not parse, so no later arithmetic
    /// can overflow.
    private static func takeTicks(_ name: String, from values: inout [String: JSONValue]) throws -> Int64? {
        try take(name, from: &values) { member in
            member.string.flatMap { Timestamp.ticks(isoText: $0) }
        }
    }
}
