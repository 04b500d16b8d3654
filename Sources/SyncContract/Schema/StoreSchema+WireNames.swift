/// The names that tables and columns have on the wire.
extension StoreSchema {
    static func checkWireNames(of tables: [TableDefinition]) throws(StoreError) {
        var seen: [String: String] = [:]
        for table in tables {
            if table.isLocalOnly {
                try checkLocalOnly(table)
                continue
            }
            let name = table.wireName
            guard isTableName(name) else {
                throw .invalidSchema(
                    "'\(name)' cannot be the server's name for table '\(table.name)': use ASCII letters, digits, '_', '-' and"
                        + " '.', 127 at most. A path is a setting of the remote."
                )
            }
            if let other = seen.updateValue(table.name, forKey: name.asciiLowercased()) {
                throw .invalidSchema(
                    "Tables '\(other)' and '\(table.name)' have the same name '\(name)' on the wire; a table of the server is one"
                        + " table here. Give one of them another wire name."
                )
            }
            try checkWireNames(ofColumnsIn: table)
        }
    }

    private static func checkLocalOnly(_ table: TableDefinition) throws(StoreError) {
        guard table.wireName == table.name, !table.assignsIDs else {
            throw .invalidSchema(
                "Table '\(table.name)' is local only, so that no server has a name for it or makes its ids; leave out"
                    + " \(table.assignsIDs ? "assignsIDs" : "its wire name"), or let it be synced."
            )
        }
        for column in table.columns where column.wireName != column.name {
            throw .invalidSchema(
                "Table '\(table.name)' is local only; leave out the wire name of its column '\(column.name)'."
            )
        }
    }

    private static func checkWireNames(ofColumnsIn table: TableDefinition) throws(StoreError) {
        let systemNames = SystemProperties.names.map { $0.asciiLowercased() } + ["id"]
        var seen: [String: String] = [:]
        for column in table.columns {
            let name = column.wireName
            guard !column.isLocal else {
                guard name == column.name else {
                    throw .invalidSchema(
                        "Column '\(column.name)' of '\(table.name)' is local and is never sent; leave out its wire name."
                    )
                }
                continue
            }
            guard isIdentifier(name), !name.hasPrefix("__") else {
                throw .invalidSchema(
                    "'\(name)' cannot be the server's name for column '\(column.name)' of '\(table.name)': use a letter or"
                        + " underscore, then letters, digits and underscores, 127 at most, and no two underscores in front."
                )
            }
            guard !systemNames.contains(name.asciiLowercased()) else {
                throw .invalidSchema(
                    "Column '\(column.name)' of '\(table.name)' has the wire name '\(name)', under which servers keep something of"
                        + " their own; give it another one, or leave the column out."
                )
            }
            if let other = seen.updateValue(column.name, forKey: name.asciiLowercased()) {
                throw .invalidSchema(
                    "Columns '\(other)' and '\(column.name)' of '\(table.name)' have the same name '\(name)' on the wire; give one"
                        + " of them another wire name, or make one local."
                )
            }
        }
    }

    private static func isTableName(_ name: String) -> Bool {
        let allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
        return (1...127).contains(name.utf8.count) && name.contains { $0 != "." } && name.allSatisfy(allowed.contains)
    }
}
