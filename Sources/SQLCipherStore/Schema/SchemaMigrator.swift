import RecordJSON
package import SyncContract

/// Brings the tables of a database to the declared ones, in one transaction.
package struct SchemaMigrator {
    /// How tables, extra values and the memory of columns are laid out, in the database's `user_version`.
    static let layoutVersion: Int64 = 1

    let database: Database
    let schema: StoreSchema
    let translation: (any QueueTranslation)?

    package init(database: Database, schema: StoreSchema, translation: (any QueueTranslation)? = nil) {
        self.database = database
        self.schema = schema
        self.translation = translation
    }

    /// Does what is missing and returns the tables as they are then.
    ///
    /// - Throws: As ``SchemaPlan/init(from:to:)``, before anything is touched; ``StoreError/Code/schemaMismatch`` for a
    ///   stored value that does not fit a column declared for it now, after which nothing is kept; as
    ///   ``SchemaMigration/init(from:of:to:)`` and its ``QueueTranslation``.
    package func migrate() throws -> StoreCatalog {
        try schema.check()
        let stored = try StoredSchema(database)
        if let migration = try migration(of: stored) { return try run(migration, from: stored) }
        let plan = try SchemaPlan(from: stored, to: schema)
        if !plan.steps.isEmpty {
            try database.transaction(.writing) {
                try perform(plan)
                guard stored.tables.isEmpty else { return }
                try write(plan.layouts) { try SchemaMigration.record(schema.version, &$0) }
            }
        }
        return StoreCatalog(plan.layouts)
    }

    /// Throws as ``migrate()`` does, when the tables cannot be brought to the declared ones. Nothing is touched. Of a
    /// migration that has steps to do, nothing is known in advance.
    package func check() throws {
        try schema.check()
        let stored = try StoredSchema(database)
        guard try migration(of: stored) == nil else { return }
        _ = try SchemaPlan(from: stored, to: schema)
    }

    /// Does the steps of a plan, in the transaction that is open.
    func perform(_ plan: SchemaPlan) throws {
        try database.run(SchemaSQL.createMemory)
        for step in plan.steps { try perform(step) }
        for layout in plan.layouts { try adoptExtraValues(layout, plan) }
    }

    func perform(_ step: SchemaPlan.Step) throws {
        switch step {
        case .createTable(let table):
            try database.run(SchemaSQL.createTable(table))
            try remember("id", table.idKind.storedName, of: table.name)
            for column in table.allColumns { try remember(column.name, column.type.rawValue, of: table.name) }
        case .addColumn(let column, let table):
            try database.run(SchemaSQL.addColumn(column, to: table))
            try remember(column.name, column.type.rawValue, of: table)
        case .declareAgain(let column, let table): try mark(column.name, of: table, declared: true)
        case .undeclare(let column, let table): try mark(column, of: table, declared: false)
        case .createIndex(let columns, let table): try database.run(SchemaSQL.createIndex(columns, of: table))
        case .dropIndex(let name): try database.run("DROP INDEX \(name.sqlIdentifier)")
        case .createSearchIndex(let index): try database.createSearchIndex(index)
        case .dropSearchIndex(let index): try database.dropSearchIndex(index)
        }
    }

    private func remember(_ column: String, _ type: String, of table: String) throws {
        try database.run(SchemaSQL.remember, [.text(table), .text(column), .text(type)])
    }

    private func mark(_ column: String, of table: String, declared: Bool) throws {
        try database.run(SchemaSQL.markDeclared, [.text(table), .text(column), .int64(declared ? 1 : 0)])
    }

    /// Moves the values that were kept under an undeclared key into the column that is declared for them now.
    private func adoptExtraValues(_ layout: TableLayout, _ plan: SchemaPlan) throws {
        let columns = plan.steps.compactMap { step -> ColumnDefinition? in
            switch step {
            case .addColumn(let column, layout.definition.name), .declareAgain(let column, layout.definition.name):
                column
            default: nil
            }
        }
        guard !columns.isEmpty else { return }
        let (table, extraColumn) = (layout.sqlName, TableLayout.extraColumn.sqlIdentifier)
        // The rows are updated while the walk goes on: no column it goes by changes.
        let rows = "SELECT \"id\", \(extraColumn) FROM \(table) WHERE \(extraColumn) IS NOT NULL"
        let isNumeric = layout.definition.idKind == .int64
        try database.withStatement(rows) { statement in
            while try statement.step() {
                let id: SQLValue = isNumeric ? .int64(statement.int64(0)) : .text(statement.text(0))
                var extra = try ExtraValues(text: statement.text(1))
                for column in columns {
                    guard let value = try extra.removeValue(for: column.name) else { continue }
                    guard let fitting = column.type.adopting(value) else {
                        throw StoreError(
                            .schemaMismatch,
                            "Rows of table '\(layout.definition.name)' have values under '\(column.name)' that are no"
                                + " \(column.type.rawValue); declare the column with the type the server uses."
                        )
                    }
                    if case .date(let date) = fitting { extra.setFinerText(date.finerText, for: column.name) }
                    let update = "UPDATE \(table) SET \(column.name.sqlIdentifier) = ?2 WHERE \"id\" = ?1"
                    try database.run(update, [id, SQLValue(fitting)])
                }
                let update = "UPDATE \(table) SET \(extraColumn) = ?2 WHERE \"id\" = ?1"
                try database.run(update, [id, extra.text.map(SQLValue.text) ?? .null])
            }
        }
    }
}

extension ColumnType {
    /// The value as this type stores it: as it is, or read again from the JSON it came in.
    func adopting(_ value: FieldValue) -> FieldValue? {
        if let accepted = accepting(value) { return accepted }
        do {
            let json = try RecordCoding.json(value, column: "")
            return try FieldValue.parse(Array(json.utf8), as: self).flatMap { accepting($0) }
        } catch {
            // What JSON cannot express came from no server and has no other type.
            return nil
        }
    }
}
