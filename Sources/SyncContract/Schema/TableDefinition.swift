/// A declared table.
///
/// Every table has a column `id`, which is not declared, and the system properties named here. A store keeps columns
/// that a server sends beyond the declared ones when it has the capability ``StoreCapabilities/unknownColumns``.
public struct TableDefinition: Sendable, Hashable {
    /// The name on this device; in the server's address as well, unless ``wireName`` says otherwise.
    public private(set) var name: String

    /// The name that the server has for the table. See ``ColumnDefinition/wireName``.
    ///
    /// Where tables lie at paths of their own (`DatasyncOptions.tableNames`), it is this name that is looked up there.
    public let wireName: String

    /// Whether the table belongs to this device: its changes are not queued, and pushing, pulling and purging it are errors.
    ///
    /// Everything else is as in other tables: transactions that change both kinds, queries, references and what a deletion
    /// does, migrations. It has no columns of the server.
    ///
    /// Nothing of this is stored with the schema. A table that was synced before keeps its rows. What waited of it is not sent
    /// any more, and counts as of an undeclared table: push before. Of a table that is synced from now on, the rows that no
    /// server has given a version or stamp wait as inserts: where a context was used meanwhile whose schema said that it stays
    /// here, which the engine notes in the store. Otherwise they count as the server's, and nothing says that it has none of them.
    public let isLocalOnly: Bool

    /// The kind of id the table has.
    public let idKind: IDKind

    /// The app's own columns, in declaration order.
    public private(set) var columns: [ColumnDefinition]

    /// The server's columns that the table keeps.
    public let systemProperties: SystemProperties

    /// Lists of column names that the store should find rows by, each once; the order of names counts.
    public let indexes: [[String]]

    /// Whether the server chooses the ids of new rows.
    ///
    /// Rows then keep the id they have on this device for ever, and the engine knows the server's id beside it. Nothing of
    /// this is stored with the schema: it may be declared later, for a table that has rows.
    ///
    /// A row that refers to one without an id on the server is sent after it; while that one is refused or in conflict, it
    /// waits. An insert whose answer was lost is found by its content: a row of the server with exactly what was sent, which
    /// is no other row here, is taken for it, be it that of somebody else who wrote the same. A server that changes content
    /// as it stores it, or carries the lost request out later, has the row twice.
    public let assignsIDs: Bool

    /// The values that stand in, in items, for nulls in columns whose property is not optional. Nothing of it is stored.
    package var standIns: [String: FieldValue] = [:]

    /// Declares a table. Names are checked when the schema is made.
    ///
    /// - Parameters:
    ///   - name: A letter or underscore, then letters, digits and underscores; at most 127 in all; not `sqlite_…` or
    ///     `MS_…`, which belong to SQLite and to the system tables.
    ///   - columns: The app's columns. `id` and the four system properties are not declared here.
    ///   - idComparison: How string ids are told apart, as the server's database does it. ``IDComparison/exact``, the
    ///     default, for protocol 3. For protocol 2 say ``IDComparison/asciiCaseInsensitive``: SQL Server, on which such
    ///     services run, takes `k1` and `K1` for one row. A server of protocol 2 that keeps both, as the Node server on
    ///     SQLite does, wants ``IDComparison/exact``: otherwise such rows are set aside by pulls and named in the report.
    ///   - systemProperties: The server's columns to keep. Without `version` no conflict is detected; without
    ///     `updatedAt` apps cannot show when a row changed (pulls work all the same). Without `createdAt` a service of
    ///     protocol 3 that has such a column loses what it holds with each change of the row.
    ///   - indexes: Column lists to find rows by.
    ///   - assignsIDs: Whether the server chooses the ids of new rows. Where this does not say so and it does, the first
    ///     insert fails.
    ///   - wireName: The server's name for the table; nil when it is the same.
    ///   - isLocalOnly: Whether the table stays on this device. Then it keeps no system properties, whatever is given.
    public init(
        _ name: String,
        columns: [ColumnDefinition],
        idComparison: IDComparison = .exact,
        systemProperties: SystemProperties = [.createdAt, .updatedAt, .version],
        indexes: [[String]] = [],
        assignsIDs: Bool = false,
        wireName: String? = nil,
        isLocalOnly: Bool = false
    ) {
        self.init(
            name,
            idKind: .string(idComparison),
            columns,
            isLocalOnly ? [] : systemProperties,
            indexes,
            assignsIDs,
            wireName: wireName,
            isLocalOnly: isLocalOnly
        )
    }

    package init(
        _ name: String,
        idKind: IDKind,
        _ columns: [ColumnDefinition],
        _ systemProperties: SystemProperties = [],
        _ indexes: [[String]] = [],
        _ assignsIDs: Bool = false,
        wireName: String? = nil,
        isLocalOnly: Bool = false
    ) {
        self.name = name
        self.wireName = wireName ?? name
        self.isLocalOnly = isLocalOnly
        self.idKind = idKind
        self.columns = columns
        self.systemProperties = systemProperties
        var known: Set<[String]> = []
        self.indexes = indexes.filter { known.insert($0).inserted }
        self.assignsIDs = assignsIDs
    }

    /// This table as the server knows it: with its names, and without the columns that stay on this device.
    package var onWire: TableDefinition {
        var table = self
        table.name = wireName
        table.columns = columns.filter { !$0.isLocal }.map(\.onWire)
        return table
    }

    /// This table with further columns.
    package func adding(_ columns: [ColumnDefinition]) -> TableDefinition {
        var table = self
        table.columns += columns
        return table
    }

    /// The app's columns followed by the system properties.
    public var allColumns: [ColumnDefinition] { columns + systemProperties.columns }

    /// The type of a declared column or system property; nil for `id` and for unknown names.
    public func type(of column: String) -> ColumnType? {
        columns.first { $0.name == column }?.type ?? systemProperties.columns.first { $0.name == column }?.type
    }

    /// A row without the columns that stay on this device.
    package func withoutLocalColumns(_ row: Record) -> Record {
        var row = row
        for column in columns where column.isLocal { row[column.name] = nil }
        return row
    }

    /// How string ids are compared; ``IDComparison/exact`` for tables with whole-number ids.
    public var idComparison: IDComparison {
        if case .string(let comparison) = idKind { comparison } else { .exact }
    }

    /// Whether two ids name the same row of this table: as ``idComparison`` says, and never when they are of two kinds.
    ///
    /// A store that looks rows up keeps them under ``RecordID/folded(for:)``, which is one form for all such ids.
    public func isSameID(_ left: RecordID, _ right: RecordID) -> Bool {
        left == right || left.folded(for: idComparison) == right.folded(for: idComparison)
    }
}

/// The kind of id a table has.
public enum IDKind: Sendable, Hashable {
    /// Strings, compared as given.
    case string(IDComparison)
    /// Whole numbers.
    case int64
}
