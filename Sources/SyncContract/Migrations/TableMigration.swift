/// What the steps of an opening make of one stored table.
public struct TableMigration: Sendable {
    /// The table as it is stored.
    public let old: TableDefinition

    /// The table as it is declared now; nil for one that is dropped.
    public let new: TableDefinition?

    let steps: [(column: String, action: MigrationStep.ColumnAction)]

    /// What a row of the table, or one that a waiting change knows of, is under the new declaration.
    ///
    /// Values under names that no step mentions stay as they are, those of undeclared keys among them.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/schemaMismatch`` that names the row when a closure throws.
    public func row(_ row: Record) throws(StoreError) -> Record {
        var row = row
        for (column, action) in steps {
            do {
                try Self.apply(action, to: column, of: &row)
            } catch {
                throw StoreError(
                    .schemaMismatch,
                    "Row '\(row.id)' of table '\(old.name)' cannot be migrated: the step for its column '\(column)' has"
                        + " failed. Let the step give a value for every row; until then the store stays as it was.",
                    cause: error
                )
            }
        }
        return row
    }

    /// The row of a request that has left, as it left, under the names that its columns have now.
    ///
    /// Its values are those that the server was sent, and a column that is filled here was not among them.
    package func renamed(_ row: Record) -> Record {
        var row = row
        for case (let column, .rename(let name)) in steps { Self.rename(column, to: name, in: &row) }
        return row
    }

    /// The names of the stored columns that are dropped.
    package var droppedColumns: [String] { old.columns.map(\.name).filter { name(of: $0, from: 0) == nil } }

    /// The names that the stored columns have now, and those of the columns that are filled.
    package var knownColumns: Set<String> {
        Set(old.allColumns.compactMap { name(of: $0.name, from: 0) }).union(filledColumns)
    }

    /// The names that the columns have now which are filled.
    package var filledColumns: [String] {
        steps.enumerated()
            .compactMap { index, step in
                if case .fill = step.action { name(of: step.column, from: index) } else { nil }
            }
    }

    /// What a column is called after the steps from one on; nil for one that is dropped.
    private func name(of column: String, from index: Int) -> String? {
        var name: String? = column
        for (column, action) in steps[index...] where column == name {
            if case .rename(let other) = action { name = other }
            if case .drop = action { name = nil }
        }
        return name
    }

    private static func apply(
        _ action: MigrationStep.ColumnAction,
        to column: String,
        of row: inout Record
    ) throws {
        switch action {
        case .rename(let name): rename(column, to: name, in: &row)
        case .convert(let convert):
            if let value = row[column], !value.isNull { row[column] = try convert(value) }
        case .fill(let value): row[column] = try value(row)
        case .drop: row[column] = nil
        }
    }

    private static func rename(_ column: String, to name: String, in row: inout Record) {
        guard let value = row[column] else { return }
        row[column] = nil
        row[name] = value
    }
}
