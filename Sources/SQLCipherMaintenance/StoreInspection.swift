public import SQLCipherStore
public import SyncContract

/// What the files of a store say without their key.
public struct StoreInspection: Sendable, Hashable {
    /// The settings the store is encrypted with, from the header that is in clear.
    public let format: StoreFormat

    /// The size of the database file in bytes.
    public let databaseSize: Int64

    /// The size of the WAL in bytes; 0 when the store was closed properly.
    public let walSize: Int64

    /// Whether the store is open, in this process or another one, or being worked on.
    public let isInUse: Bool

    /// The names of files that an interrupted work has left and that nothing needs. The next opening removes them.
    public let leftovers: [String]
}

/// What is in a store, as it says itself: the declarations of its app are not needed.
public struct StoreContent: Sendable, Hashable {
    /// A table of the app or of the sync engine.
    public struct Table: Sendable, Hashable {
        /// The name.
        public let name: String
        /// The kind of id it has.
        public let idKind: IDKind
        /// Whether the table belongs to the sync engine.
        public let isSystemTable: Bool
        /// The number of rows.
        public let rows: Int
        /// The columns beside the id, in the order in which they were first declared, the declared ones first.
        public let columns: [Column]
    }

    /// A column of a table.
    public struct Column: Sendable, Hashable {
        /// The name.
        public let name: String
        /// The type.
        public let type: ColumnType
        /// Whether the app that opened the store last declares it. The values of other columns are kept.
        public let isDeclared: Bool
    }

    /// The versions of the linked library, not of the one that wrote the store.
    public let engineVersion: EngineVersion

    /// How tables lie in the database: a number that rises when a version of this package changes it.
    public let layoutVersion: Int

    /// The number of pages of 4,096 bytes, those in use and those that are free.
    public let pages: Int

    /// The number of pages that are not in use: compacting gives them back.
    public let freePages: Int

    /// The tables in the order in which they were made.
    public let tables: [Table]

    /// How many changes wait to be sent, those in conflict included.
    public let pendingOperations: Int

    /// How many changes the server did not take.
    public let operationErrors: Int

    /// For how many queries it is known how far they were pulled.
    public let deltaTokens: Int
}
