/// Prepared statements by their text, the least recently used dropped first.
struct StatementCache {
    private struct Entry {
        let statement: Statement
        var lastUse: Int
    }

    private let capacity: Int
    private var entries: [String: Entry] = [:]
    private var clock = 0

    init(capacity: Int) { self.capacity = capacity }

    /// The cached statement of a text, unless it is in use.
    mutating func statement(for sql: String) -> Statement? {
        clock += 1
        guard let entry = entries[sql], !entry.statement.isInUse else { return nil }
        entries[sql]?.lastUse = clock
        return entry.statement
    }

    /// Keeps a statement; one that is in use under the same text stays instead.
    mutating func insert(_ statement: Statement, for sql: String) {
        guard entries[sql] == nil else { return }
        if entries.count >= capacity,
            let oldest = entries.filter({ !$0.value.statement.isInUse })
                .min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            entries[oldest.key] = nil
        }
        entries[sql] = Entry(statement: statement, lastUse: clock)
    }

    /// Drops the statement of a text.
    mutating func remove(_ sql: String) { entries[sql] = nil }

    /// Drops all.
    mutating func removeAll() { entries = [:] }
}
