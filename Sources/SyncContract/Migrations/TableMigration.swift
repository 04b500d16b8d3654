internal import Synchronization

/// What the steps of an opening make of one stored table.
public struct TableMigration: Sendable {
    /// The table as it is stored.
    public let old: TableDefinition

    /// The table as it is declared now; nil for one that is dropped.
    public let new: TableDefinition?

    let steps: [(column: String, action: MigrationStep.ColumnAction)]

    /// The names that mean nothing to the server now, or something else.
    private let taken: TakenNames

    /// The stored columns whose names are free now, for what the server calls so.
    private var freed: Set<String> = []

    package init(
        old: TableDefinition,
        new: TableDefinition?,
        steps: [(column: String, action: MigrationStep.ColumnAction)]
    ) {
        (self.old, self.new, self.steps) = (old, new, steps)
        taken = TakenNames(new)
        freed = Set(old.columns.map(\.name).filter { name(of: $0, from: 0) != $0 && !taken.contain($0) })
    }

    /// What is remembered of stored rows while the tables are written anew.
    package let rememberedValues = RememberedValues()

    /// What a row of the table, or one that a waiting change knows of, is under the new declaration.
    ///
    /// Values under names that no step mentions stay as they are, those of undeclared keys among them. What the server has in a
    /// column that is not declared follows its name, which a column here may take or set free.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/schemaMismatch`` that names the row when a closure throws.
    public func row(_ row: Record) throws(StoreError) -> Record {
        var row = row
        for (column, action) in steps {
            do {
                try apply(action, to: column, of: &row)
            } catch {
                throw failure(of: column, in: row, error)
            }
        }
        releaseNames(&row)
        return row
    }

    /// What a row is under the new declaration that a change keeps, and that may lack columns which the stored row has: what
    /// is filled is made from the row with those columns, and they are absent again afterwards.
    ///
    /// Nothing is filled in a tombstone: its content is nobody's.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - local: What the stored row has in local columns, as before the migration: see ``localValues(of:)``. Nil when it is
    ///     not known; then a column whose closure throws stays as it is, as the closure may miss just these values.
    ///   - hasLocalColumns: Whether the row is one of this device, with its local columns. Otherwise those are not filled.
    /// - Returns: The row under the new declaration.
    /// - Throws: As ``row(_:)``.
    package func row(
        _ row: Record,
        completedBy local: Record?,
        hasLocalColumns: Bool = false
    ) throws(StoreError) -> Record {
        guard !row.isDeleted else { return tombstone(row) }
        var row = row
        var rest = Record(id: row.id)
        for column in old.allColumns { rest[column.name] = .null }
        if let local { rest.merge(local) }
        for name in row.names { rest[name] = nil }
        for (index, step) in steps.enumerated() {
            do {
                guard case .fill(let value) = step.action else {
                    try apply(step.action, to: step.column, of: &row)
                    try apply(step.action, to: step.column, of: &rest)
                    continue
                }
                var whole = rest
                whole.merge(row)
                let filled = try value(whole)
                if hasLocalColumns || !isLocal(name(of: step.column, from: index)) {
                    row[step.column] = filled
                    rest[step.column] = nil
                } else {
                    rest[step.column] = filled
                }
            } catch {
                if local == nil, case .fill = step.action { continue }
                throw failure(of: step.column, in: row, error)
            }
        }
        releaseNames(&row)
        return row
    }

    /// What a stored row has, before the migration, in columns that are not declared to be the server's now. Of a column that
    /// is dropped a store does not remember whether it was local.
    package func localValues(of row: Record) -> Record {
        row.selecting(
            row.names.filter { column in
                guard !SystemProperties.names.contains(column), row[column]?.isNull == false else { return false }
                let current = name(of: column, from: 0)
                guard let declared = new?.columns.first(where: { $0.name == current }) else { return true }
                return declared.isLocal || old.columns.contains { $0.name == column && $0.isLocal }
            }
        )
    }

    /// A tombstone under the names that its columns have now. A value that its conversion does not take is left out.
    private func tombstone(_ row: Record) -> Record {
        var row = row
        for (column, action) in steps {
            if case .fill = action { continue }
            do {
                try apply(action, to: column, of: &row)
            } catch {
                row[column] = nil
            }
        }
        releaseNames(&row)
        return row
    }

    private func isLocal(_ name: String?) -> Bool {
        new?.columns.contains { $0.name == name && $0.isLocal } ?? false
    }

    private func failure(of column: String, in row: Record, _ cause: any Error) -> StoreError {
        StoreError(
            .schemaMismatch,
            "Row '\(row.id)' of table '\(old.name)' cannot be migrated: the step for its column '\(column)' has"
                + " failed. Let the step give a value for every row; until then the store stays as it was.",
            cause: cause
        )
    }

    /// The row of a request that has left, as it left, under the names that its columns have now.
    ///
    /// Its values are those that the server was sent, and a column that is filled here was not among them.
    package func renamed(_ row: Record) -> Record {
        var row = row
        for case (let column, .rename(let name)) in steps { rename(column, to: name, in: &row) }
        releaseNames(&row)
        return row
    }

    /// The names of the stored columns that are dropped: those among them as well that were not declared last, and of which
    /// the rows still have values.
    package var droppedColumns: [String] {
        var names = old.columns.map(\.name)
        for (index, step) in steps.enumerated() {
            guard case .drop = step.action else { continue }
            let name = storedName(of: step.column, before: index)
            if !names.contains(name) { names.append(name) }
        }
        return names.filter { name(of: $0, from: 0) == nil }
    }

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

    /// What a stored column is called now; nil for one that is dropped.
    package func currentName(of column: String) -> String? { name(of: column, from: 0) }

    /// What a column is called after the steps from one on; nil for one that is dropped.
    private func name(of column: String, from index: Int) -> String? {
        var name: String? = column
        for (column, action) in steps[index...] where column == name {
            if case .rename(let other) = action { name = other }
            if case .drop = action { name = nil }
        }
        return name
    }

    /// What a column was called before the steps up to one.
    private func storedName(of column: String, before index: Int) -> String {
        var name = column
        for (column, action) in steps[..<index].reversed() {
            if case .rename(let other) = action, other == name { name = column }
        }
        return name
    }

    private func apply(
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

    private func rename(_ column: String, to name: String, in row: inout Record) {
        if taken.contain(name), let theirs = row[name], !old.columns.contains(where: { $0.name == name }) {
            row[name] = nil
            row[taken.kept(name)] = theirs
        }
        guard let value = row[column] else { return }
        row[column] = nil
        row[name] = value
    }

    /// Gives what the server has under a name that is free now that very name, unless it does not fit the column that is called
    /// so now.
    private func releaseNames(_ row: inout Record) {
        guard !freed.isEmpty else { return }
        for kept in row.names {
            guard let name = TakenNames.withoutMark(kept), freed.contains(TakenNames.root(of: kept)),
                let value = row[kept]
            else { continue }
            row[kept] = nil
            guard row[name]?.isNull ?? true else { continue }
            guard let type = new?.type(of: name) else {
                row[name] = value
                continue
            }
            row[name] =
                type.accepting(value)
                ?? value.stringValue.flatMap { text in
                    type == .date ? Timestamp(text).map(FieldValue.date) : nil
                }
        }
    }
}

/// What rows have in local columns, by the ids of their items in the form that their table compares ids by, and what files
/// dropped columns have named: kept from before a table is written anew until what waits is translated.
package final class RememberedValues: Sendable {
    private let rows = Mutex<[String: Record]>([:])
    private let remembered = Mutex<Set<String>>([])

    /// What was remembered of a row; nil when nothing was.
    package subscript(itemKey: String) -> Record? { rows.withLock { $0[itemKey] } }

    /// Remembers values of a row.
    package func remember(_ values: Record, of itemKey: String) { rows.withLock { $0[itemKey] = values } }

    /// The names of files that were in columns which are dropped, and that are wanted all the same.
    package var names: Set<String> { remembered.withLock { $0 } }

    /// Remembers names of files.
    package func remember(_ names: Set<String>) { remembered.withLock { $0.formUnion(names) } }
}
