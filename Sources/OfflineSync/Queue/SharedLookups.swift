internal import SyncContract

/// What several items of one transaction share, looked up once: it holds as long as nothing but these items is written.
struct SharedLookups {
    /// What puts rows of the server in the place of local ones, by table.
    private var merges: [String: ServerRowMerge] = [:]
    /// The tables of whose rows something is remembered, and those of whose rows nothing is.
    private var remembers: [String: Bool] = [:]
    private var hasErrors: Bool?
    private var highestNumber: Int64?

    /// What puts rows of the server in the place of a table's.
    mutating func merge(
        _ table: TableDefinition,
        storesUndeclaredColumns: Bool,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> ServerRowMerge {
        if let merge = merges[table.name] { return merge }
        let merge = try ServerRowMerge(table, storesUndeclaredColumns: storesUndeclaredColumns, &transaction)
        merges[table.name] = merge
        return merge
    }

    /// Keeps what a merge has learned from a row.
    mutating func keep(_ merge: ServerRowMerge) { merges[merge.table.name] = merge }

    /// Whether something was remembered of a row of a table when this was asked first.
    mutating func remembersAny(
        of table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Bool {
        if let known = remembers[table.name] { return known }
        let found = try ItemMemoryStorage.remembersAny(of: table.name, &transaction)
        remembers[table.name] = found
        return found
    }

    /// Whether the server has said something about an operation, of whichever.
    mutating func hasAnyErrors(_ transaction: inout some StoreReading & ~Copyable) throws -> Bool {
        if let hasErrors { return hasErrors }
        let found = try OperationQueue.hasErrors(&transaction)
        hasErrors = found
        return found
    }

    /// The highest number in use, which stays until that operation is removed.
    mutating func highestNumber(_ transaction: inout some StoreReading & ~Copyable) throws -> Int64 {
        if let highestNumber { return highestNumber }
        let found = try OperationQueue.highestNumber(&transaction)
        highestNumber = found
        return found
    }

    /// Forgets which number is the highest: its operation was removed.
    mutating func removeHighestNumber() { highestNumber = nil }
}
