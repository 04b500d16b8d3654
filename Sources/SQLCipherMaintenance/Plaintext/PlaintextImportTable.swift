import SQLCipherStore
import SyncContract

/// A table of a foreign file and the table of the store that it becomes.
struct PlaintextImportTable {
    let definition: TableDefinition
    let droppedIndexes: [String]
    private let idColumn: String
    private let columns: [PlaintextImportColumn]

    var name: String { definition.name }

    /// Decides how a table is taken over: as declared, or by its values.
    ///
    /// - Throws: ``StoreError/Code/schemaMismatch``.
    init(_ table: PlainTable, declared: TableDefinition?, _ database: Database) throws {
        guard table.primaryKey.count == 1, let id = table.primaryKey.first, id.asciiLowercased() == "id" else {
            throw StoreError.notTakenOver(
                "table '\(table.name)' has no primary key 'id'",
                "give it a column of that name with a text or number that is unique in each row"
            )
        }
        let others = table.columns.filter { $0.name != id }
        let shown = try database.withStatement("SELECT * FROM \(table.sqlName)") { $0.columnCount }
        guard shown == table.columns.count else {
            throw StoreError.notTakenOver("table '\(table.name)' has generated columns", "drop them")
        }
        idColumn = id
        if let declared {
            columns = try others.map {
                try PlaintextImportColumn(name: $0.name, type: Self.type(of: $0.name, declared))
            }
            definition = declared
            droppedIndexes = table.indexes.filter { !declared.indexes.contains($0.columns ?? []) }.map(\.name)
        } else {
            let types = try others.map { try Self.type(of: $0, table, database) }
            columns = zip(others, types).map { PlaintextImportColumn(name: $0.name, type: $1) }
            definition = try Self.definition(table, columns)
            droppedIndexes = table.indexes.filter { $0.columns == nil }.map(\.name)
        }
    }

    /// Reads every row as a record.
    func forEach(_ database: Database, _ body: (Record) throws -> Void) throws {
        let names = ([idColumn] + columns.map(\.name)).map(\.sqlIdentifier).joined(separator: ", ")
        try database.withStatement("SELECT \(names) FROM \(name.sqlIdentifier)") { row in
            while try row.step() { try body(record(row)) }
        }
    }

    private func record(_ row: Statement) throws -> Record {
        var fields: [String: FieldValue] = [:]
        for (index, column) in columns.enumerated() {
            guard let value = column.value(row, index + 1) else {
                throw StoreError.notTakenOver(
                    "column '\(column.name)' of table '\(name)' has a value that is no \(column.type?.rawValue ?? "text")",
                    "declare the column with the type it has, or correct the value"
                )
            }
            // A key that is not declared has a value or is not there.
            if column.type != nil || !value.isNull { fields[column.name] = value }
        }
        return Record(id: .string(try id(row)), fields)
    }

    private func id(_ row: Statement) throws -> String {
        switch row.storageClass(0) {
        case .integer: return String(row.int64(0))
        case .text:
            if let text = String(validating: row.bytes(0), as: UTF8.self) { return text }
        default: break
        }
        throw StoreError.notTakenOver(
            "table '\(name)' has an id that is null or neither a text nor a whole number",
            "give each row a unique text"
        )
    }
}

extension PlaintextImportTable {
    /// The type that a declared table has for a column; nil for a column that it does not name.
    private static func type(of column: String, _ declared: TableDefinition) throws -> ColumnType? {
        if let type = declared.type(of: column) { return type }
        let folded = column.asciiLowercased()
        guard let other = declared.allColumns.first(where: { $0.name.asciiLowercased() == folded }) else { return nil }
        throw StoreError.notTakenOver(
            "column '\(column)' of table '\(declared.name)' is declared as '\(other.name)'",
            "declare it in the spelling it has"
        )
    }

    /// The type of an undeclared column.
    private static func type(
        of column: PlainTable.Column,
        _ table: PlainTable,
        _ database: Database
    ) throws -> ColumnType {
        let system = SystemProperties([.createdAt, .updatedAt, .version, .deleted]).columns
        if let property = system.first(where: { $0.name == column.name }) { return property.type }
        let name = column.name.sqlIdentifier
        let classes = try database.withStatement("SELECT DISTINCT typeof(\(name)) FROM \(table.sqlName)") { row in
            var classes: Set<StorageClass> = []
            while try row.step() { classes.insert(StorageClass(typeName: row.text(0))) }
            return classes.subtracting([.null])
        }
        let other = try database.int64("SELECT 1 FROM \(table.sqlName) WHERE \(name) NOT IN (0, 1) LIMIT 1")
        let type = PlaintextImportColumn.type(declaration: column.declaration, classes: classes, isTruth: other == nil)
        guard let type else {
            throw StoreError.notTakenOver(
                "column '\(column.name)' of table '\(table.name)' has values of several types, or of another than it is"
                    + " declared with",
                "declare the column in a schema, or make its values of one type"
            )
        }
        return type
    }

    private static func definition(_ table: PlainTable, _ columns: [PlaintextImportColumn]) throws -> TableDefinition {
        let names = columns.map(\.name)
        var properties: SystemProperties = [.createdAt, .updatedAt, .version]
        if names.contains("deleted") { properties.insert(.deleted) }
        let kept = Set(properties.columns.map(\.name))
        let definition = TableDefinition(
            table.name,
            columns: columns.filter { !kept.contains($0.name) }
                .compactMap { column in column.type.map { ColumnDefinition(column.name, $0) } },
            idComparison: table.foldsKey ? .asciiCaseInsensitive : .exact,
            systemProperties: properties,
            indexes: Array(Set(table.indexes.compactMap(\.columns))).sorted { $0.joined() < $1.joined() }
        )
        do throws(StoreError) {
            _ = try StoreSchema([definition])
        } catch {
            throw StoreError.notTakenOver(
                "table '\(table.name)' does not fit: \(error.message)",
                "rename what is named"
            )
        }
        return definition
    }
}

extension StorageClass {
    /// The class of which SQL's `typeof` gives the name.
    fileprivate init(typeName: String) {
        self =
            switch typeName {
            case "integer": .integer
            case "real": .real
            case "text": .text
            case "blob": .blob
            default: .null
            }
    }
}
