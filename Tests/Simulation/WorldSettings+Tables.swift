internal import SeededNumbers
package import SyncContract

/// The tables of an app, in each of its versions.
extension WorldSettings {
    /// The last version of the tables.
    static let lastVersion = 3

    /// What the last version fills its new column with.
    static let grade = "new"

    /// The tables of the first version.
    package var schema: StoreSchema { get throws { try schema(1) } }

    /// The tables of a version: in the second one columns have other names, in the third one a column is new and another one
    /// gone.
    func schema(_ version: Int) throws -> StoreSchema {
        let names = names(version)
        let tables = tables.map { name in
            TableDefinition(
                name,
                columns: Self.columns
                    .map { ColumnDefinition(names.local[$0] ?? $0, .string, wireName: names.wire[$0] ?? $0) }
                    + (hasLocalColumn ? [ColumnDefinition("mark", .string, isLocal: true)] : [])
                    + (migrates ? [ColumnDefinition(version < 3 ? "spare" : "grade", .string)] : [])
                    + (refers(name)
                        ? [ColumnDefinition("list", .string, references: "lists", onDelete: rule)] : []),
                idComparison: idsDifferByCase ? .exact : .asciiCaseInsensitive
            )
        }
        guard version > 1 else { return try StoreSchema(tables) }
        let migrations =
            [Migration(to: 2, steps: self.tables.flatMap(renaming))]
            + (version < 3 ? [] : [Migration(to: 3, steps: self.tables.flatMap(exchanging))])
        return try StoreSchema(version: version, tables, migrations: migrations)
    }

    private func renaming(_ table: String) -> [MigrationStep] {
        guard swapsColumns else { return [.renameColumn("note", to: "memo", in: table)] }
        return [
            .renameColumn("title", to: "between", in: table), .renameColumn("note", to: "title", in: table),
            .renameColumn("between", to: "note", in: table),
        ]
    }

    private func exchanging(_ table: String) -> [MigrationStep] {
        [.fillColumn("grade", in: table, with: .string(Self.grade)), .dropColumn("spare", in: table)]
    }

    /// What columns are called by a version of the app.
    func names(_ version: Int) -> ColumnNames {
        let first = ["title": "title", "note": hasOtherNames ? "remark" : "note"]
        guard version > 1 else {
            return ColumnNames(local: ["title": "title", "note": "note"], wire: first, version: 1, settings: self)
        }
        let local = swapsColumns ? ["title": "note", "note": "title"] : ["title": "title", "note": "memo"]
        return ColumnNames(local: local, wire: renamesOnWire ? local : first, version: version, settings: self)
    }
}

/// What columns are called on a device, and on the way to it.
struct ColumnNames: Sendable {
    let local: [String: String]
    let wire: [String: String]
    private let leavesOut: String?
    private let ofVersion: String?
    /// What no request may have: names that only the device knows.
    let unknown: Set<String>

    init(local: [String: String], wire: [String: String], version: Int, settings: WorldSettings) {
        self.local = local
        self.wire = wire
        leavesOut = settings.migrates ? (version < 3 ? "grade" : "spare") : nil
        ofVersion = settings.migrates ? (version < 3 ? "spare" : "grade") : nil
        unknown = Set(local.values).subtracting(wire.values).union(["mark"])
    }

    /// A row, or what is written into one, as the device has it.
    func onDevice(_ row: Record) -> Record { Self.renamed(row, local) }

    func onDevice(_ values: [String: FieldValue]) -> [String: FieldValue] {
        Dictionary(values.map { (local[$0.key] ?? $0.key, $0.value) }) { _, last in last }
    }

    /// A row of the device in the names of the simulation.
    func fromDevice(_ row: Record) -> Record { Self.renamed(row, Self.reversed(local)) }

    /// A row of the server as this version of the app is shown it.
    func onWire(_ row: Record) -> Record {
        var row = row
        if let leavesOut { row[leavesOut] = nil }
        return Self.renamed(row, wire)
    }

    /// A row that this version of the app has sent: a whole one has no value where it says nothing.
    func fromWire(_ row: Record, isWhole: Bool) -> Record {
        var row = Self.renamed(row, Self.reversed(wire))
        if isWhole, let ofVersion, row[ofVersion] == nil { row[ofVersion] = .null }
        return row
    }

    private static func reversed(_ names: [String: String]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: names.map { ($0.value, $0.key) })
    }

    private static func renamed(_ row: Record, _ names: [String: String]) -> Record {
        let isSame = names.allSatisfy { $0.key == $0.value }
        guard !isSame else { return row }
        return Record(
            id: row.id,
            Dictionary(row.fields.map { (names[$0.key] ?? $0.key, $0.value) }) { _, last in last }
        )
    }
}
