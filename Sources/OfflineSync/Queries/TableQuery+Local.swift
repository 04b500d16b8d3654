internal import ItemCoding
public import SyncContract

// What the device's tables can do beside reading.
extension TableQuerying {
    /// The rows, in order: now, and after each commit of the app or of a sync that changes them.
    ///
    /// What is promised, and how it ends, is said at `StoreObservation`.
    public func observe<Item>() -> StoreObservation<[Item]> where Table == SyncTable<Item> {
        rows.table.observe(rows.source)
    }

    /// The rows in batches of at most so many, for results larger than memory. See
    /// `SyncContextDataSource.batches(of:size:)`.
    public func batches<Item>(of size: Int) -> ItemBatches<Item> where Table == SyncTable<Item> {
        ItemBatches(table: rows.table, query: rows.source, size: size)
    }

    /// Brings the rows that changed on the server since the last pull of the same rows, or with the same query id.
    ///
    /// See ``SyncContext/pull(_:_:options:)`` and ``SyncContext/pull(_:queryID:options:)``.
    @discardableResult
    public func pull<Item>(queryID: String? = nil, options: PullOptions = .init()) async throws -> PullReport
    where Table == SyncTable<Item> {
        let (context, source) = (rows.table.context, rows.source)
        guard let queryID else { return try await context.pull(source, options: options) }
        return try await context.pull(source, queryID: queryID, options: options)
    }

    /// Deletes the rows here, and with the next push on the server: all or nothing.
    ///
    /// - Returns: How many there were.
    /// - Throws: As `SyncTransaction.delete(_:)`.
    @discardableResult
    public func delete<Item>() async throws -> Int where Table == SyncTable<Item> {
        let source = rows.source
        return try await rows.table.context.write { try $0.delete(source) }
    }

    /// Removes the rows here without telling the server, when no change of them waits, and says how many there were. See
    /// ``SyncContext/purge(_:resettingDeltaTokens:)``.
    @discardableResult
    public func purge<Item>(resettingDeltaTokens: Bool? = nil) async throws -> Int where Table == SyncTable<Item> {
        try await rows.table.context.purge(rows.source, resettingDeltaTokens: resettingDeltaTokens)
    }

    /// Removes the rows here with the changes of them that wait, and says how many changes that were. See
    /// ``SyncContext/forcePurge(_:resettingDeltaTokens:)``.
    @discardableResult
    public func forcePurge<Item>() async throws -> Int where Table == SyncTable<Item> {
        try await rows.table.context.forcePurge(rows.source)
    }
}

extension SyncTable where Item: Codable, Item.ID: RowID {
    /// The rows of a query that was made before. As ``TableQuerying/observe()``.
    public func observe(_ query: TableQuery<SyncTable<Item>>) -> StoreObservation<[Item]> { query.observe() }
}

extension TableQuery: SyncSource where Table: LocalTable {}

extension SyncReading where Self: ~Copyable {
    /// The items of a query, in order.
    public mutating func read<Item>(_ query: some TableQuerying<SyncTable<Item>>) throws -> [Item] {
        try read(query.rows.source, in: query.rows.table)
    }

    /// The first item of a query; nil when there is none.
    public mutating func first<Item>(_ query: some TableQuerying<SyncTable<Item>>) throws -> Item? {
        try first(query.rows.source, in: query.rows.table)
    }

    /// How many rows satisfy a query's condition, whatever its limit and offset.
    public mutating func count<Item>(_ query: some TableQuerying<SyncTable<Item>>) throws -> Int {
        try count(query.rows.source)
    }

    /// Hands every item of a query to a closure, in order.
    public mutating func forEach<Item>(
        _ query: some TableQuerying<SyncTable<Item>>,
        _ body: (Item) throws -> Void
    ) throws {
        try forEach(query.rows.source, in: query.rows.table, body)
    }
}

extension SyncTransaction {
    /// Deletes the rows of a query, here and with the next push on the server. As ``delete(_:)``.
    @discardableResult
    public mutating func delete<Item>(_ query: some TableQuerying<SyncTable<Item>>) throws -> Int {
        try delete(query.rows.source)
    }
}

/// The items of a query in batches: see ``TableQuerying/batches(of:)``. Each iteration begins anew.
public struct ItemBatches<Item: TableItem>: AsyncSequence, Sendable where Item.ID: RowID {
    let table: SyncTable<Item>
    let query: Query
    let size: Int

    /// Begins with the first batch.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Reads one batch after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private let batches: ItemBatches
        private let reading: ItemReading<Item>
        private var records: QueryBatches.AsyncIterator?
        private var hasItems = false

        fileprivate init(_ batches: ItemBatches) {
            self.batches = batches
            reading = ItemReading(batches.table.definition)
        }

        /// The next batch, which is never empty; nil when there are no more rows.
        ///
        /// Rows that the type cannot be made from are left out, and told as ``SyncEvent/itemLeftOut(table:id:reason:)``.
        public mutating func next() async throws -> [Item]? {
            let table = batches.table
            var following: QueryBatches.AsyncIterator
            if let records {
                following = records
            } else {
                // The first item tells whether they ask for states.
                let query = batches.query
                _ = try await table.context.read { try $0.firstItem(query, in: table) }
                following = begin()
            }
            defer { records = following }
            while let next = try await following.next() {
                let read: (items: [Item], leftOut: [ItemReading<Item>.LeftOut])
                do {
                    read = try reading.items(next)
                } catch {
                    guard !hasItems else { throw error }
                    // They ask for states, which no row has told that was there at the beginning.
                    following = begin()
                    continue
                }
                table.context.events.tell(read.leftOut, of: table.name)
                hasItems = hasItems || !read.items.isEmpty
                if !read.items.isEmpty { return read.items }
            }
            return nil
        }

        private func begin() -> QueryBatches.AsyncIterator {
            batches.table.context.store.batches(of: batches.query.forItems(of: Item.self), size: batches.size)
                .makeAsyncIterator()
        }
    }
}
