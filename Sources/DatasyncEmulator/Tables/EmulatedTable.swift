/// The rows of one table and what the table has to keep between them: stamps, versions and the columns seen.
///
/// A value; whoever holds it holds the lock.
struct EmulatedTable: Sendable {
    let definition: EmulatedTableDefinition
    /// Every column that is declared or that a row has had, except the system's.
    private(set) var columns: [String: EmulatedTableDefinition.ColumnType]
    /// The same columns in the order of answers.
    private(set) var layout: RowLayout
    private var rows: [RowID: EmulatedRow] = [:]
    /// All ids in order.
    private var ids: [RowID] = []
    /// All rows by `updatedAt`, then id: pulls read in this order, and large tables should not be sorted for each page.
    private var stamps: [Stamp] = []
    private var lastStamp: Int64 = .min
    private(set) var hasHadRows = false

    struct Stamp: Comparable, Sendable {
        let updatedAt: Int64
        let id: RowID

        static func < (first: Stamp, second: Stamp) -> Bool {
            first.updatedAt == second.updatedAt ? first.id < second.id : first.updatedAt < second.updatedAt
        }
    }

    init(_ definition: EmulatedTableDefinition) {
        self.definition = definition
        self.columns = definition.columns.types
        self.layout = RowLayout(definition.columns.names)
    }

    subscript(id: RowID) -> EmulatedRow? {
        rows[id]
    }

    /// All rows by id.
    var rowsByID: some Sequence<EmulatedRow> {
        ids.lazy.compactMap { rows[$0] }
    }

    /// All rows by `updatedAt` and id, beginning at an instant.
    func rowsByStamp(from milliseconds: Int64) -> some Sequence<EmulatedRow> {
        let start = stamps.insertionIndex(of: Stamp(updatedAt: milliseconds, id: RowID("")))
        return stamps[start...].lazy.compactMap { rows[$0.id] }
    }

    /// The stamp of the next change: later than every stamp given before, even if the clock stands still or goes back.
    mutating func nextStamp(now: Int64) -> Int64 {
        lastStamp = lastStamp == .min ? now : max(now, lastStamp + 1)
        return lastStamp
    }

    mutating func store(_ row: EmulatedRow) {
        if let old = rows.updateValue(row, forKey: row.id) {
            stamps.removeSorted(Stamp(updatedAt: old.updatedAt, id: old.id))
        } else {
            ids.insertSorted(row.id)
        }
        stamps.insertSorted(Stamp(updatedAt: row.updatedAt, id: row.id))
        lastStamp = max(lastStamp, row.updatedAt)
        hasHadRows = true
    }

    mutating func remove(_ id: RowID) {
        guard let old = rows.removeValue(forKey: id) else { return }
        ids.removeSorted(id)
        stamps.removeSorted(Stamp(updatedAt: old.updatedAt, id: id))
    }

    mutating func noteColumn(_ name: String, _ type: EmulatedTableDefinition.ColumnType) {
        guard columns[name] == nil else { return }
        columns[name] = type
        layout.append(name)
    }
}

extension Array where Element: Comparable {
    /// Where an element is or belongs in a sorted array.
    fileprivate func insertionIndex(of element: Element) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < element { low = middle + 1 } else { high = middle }
        }
        return low
    }

    fileprivate mutating func insertSorted(_ element: Element) {
        insert(element, at: insertionIndex(of: element))
    }

    fileprivate mutating func removeSorted(_ element: Element) {
        let index = insertionIndex(of: element)
        if index < count, self[index] == element { remove(at: index) }
    }
}
