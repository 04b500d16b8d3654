/// A member of a body that a column cannot hold.
struct ColumnMismatch: Error {
    let message: String
}

extension EmulatedTableDefinition {
    /// What a row keeps of the members of a body, the last of those of one name, without the system's.
    ///
    /// A table without columns keeps all of them as they are. Otherwise every column has a value, and what is no column
    /// is dropped.
    func stored(_ members: some Sequence<(name: String, value: JSONValue)>) throws(ColumnMismatch) -> [String:
        JSONValue]
    {
        if columns.isEmpty { return try plain(members) }
        var values = columns.types.mapValues(\.defaultValue)
        for (name, value) in members {
            guard let column = columns.name(ignoringCase: name), let type = columns.types[column] else { continue }
            guard let stored = type.stored(value) else {
                throw ColumnMismatch(
                    message: "The column '\(column)' is of the kind \(type.kind.rawValue)"
                        + (type.isNullable ? "" : ", never null") + ", and the value does not fit."
                )
            }
            values[column] = stored
        }
        return values
    }

    private func plain(
        _ members: some Sequence<(name: String, value: JSONValue)>
    ) throws(ColumnMismatch) -> [String: JSONValue] {
        var values: [String: JSONValue] = [:]
        for (name, value) in members {
            guard let plain = value.withoutDigits else {
                throw ColumnMismatch(message: "The member '\(name)' holds a number out of range.")
            }
            values[name] = plain
        }
        return values
    }
}
