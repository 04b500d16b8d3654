/// A table's rows by id and by stamp, so that no page makes the table sort or search all of them.
///
/// The indexes hold references, for a row is put in the middle of them.
struct RowIndexes: Sendable {
    /// A row and what it is looked up by.
    final class Entry: Sendable {
        let row: EmulatedRow
        /// The id, without its case where the table ignores that.
        let key: RowID

        init(_ row: EmulatedRow, key: RowID) {
            self.row = row
            self.key = key
        }

        static func isBefore(_ first: Entry, _ second: Entry) -> Bool {
            first.key < second.key
        }

        static func isStampedBefore(_ first: Entry, _ second: Entry) -> Bool {
            first.row.stamp == second.row.stamp ? first.key < second.key : first.row.stamp < second.row.stamp
        }
    }

    private var entries: [RowID: Entry] = [:]
    /// All rows by id.
    private(set) var byID: [Entry] = []
    /// All rows by stamp, then id.
    private(set) var byStamp: [Entry] = []
    /// How many rows are marked as deleted.
    private(set) var deletedCount = 0

    subscript(key: RowID) -> EmulatedRow? {
        entries[key]?.row
    }

    // MARK: Ranges

    func entriesByID(in range: IndexRange) -> ArraySlice<Entry> {
        let start = range.lowerID.map { bound in
            byID.partition { bound.isInclusive ? $0.key < bound.id : !(bound.id < $0.key) }
        }
        let end = range.upperID.map { bound in
            byID.partition { bound.isInclusive ? !(bound.id < $0.key) : $0.key < bound.id }
        }
        return byID[(start ?? 0)..<max(start ?? 0, end ?? byID.count)]
    }

    func entriesByStamp(in range: IndexRange) -> ArraySlice<Entry> {
        let start = range.stamps.lowerBound == .min ? 0 : byStamp.partition { $0.row.stamp < range.stamps.lowerBound }
        let end =
            range.stamps.upperBound == .max
            ? byStamp.count : byStamp.partition { $0.row.stamp < range.stamps.upperBound }
        return byStamp[start..<max(start, end)]
    }

    // MARK: Changes

    mutating func store(_ row: EmulatedRow, key: RowID) {
        let entry = Entry(row, key: key)
        let place = byID.partition { Entry.isBefore($0, entry) }
        if let old = entries.updateValue(entry, forKey: key) {
            deletedCount -= old.row.deleted ? 1 : 0
            removeStamp(of: old)
            byID[place] = entry
        } else {
            byID.insert(entry, at: place)
        }
        deletedCount += row.deleted ? 1 : 0
        byStamp.insert(entry, at: byStamp.partition { Entry.isStampedBefore($0, entry) })
    }

    /// Stores many rows, of which the last one of an id counts, in the time of one sort.
    mutating func store(_ rows: [(row: EmulatedRow, key: RowID)]) {
        for (row, key) in rows { entries[key] = Entry(row, key: key) }
        byID = entries.values.sorted(by: Entry.isBefore)
        byStamp = byID.sorted(by: Entry.isStampedBefore)
        deletedCount = byID.count { $0.row.deleted }
    }

    mutating func remove(_ key: RowID) {
        guard let old = entries.removeValue(forKey: key) else { return }
        deletedCount -= old.row.deleted ? 1 : 0
        byID.remove(at: byID.partition { Entry.isBefore($0, old) })
        removeStamp(of: old)
    }

    private mutating func removeStamp(of entry: Entry) {
        byStamp.remove(at: byStamp.partition { Entry.isStampedBefore($0, entry) })
    }
}

extension Array {
    /// How many elements at the beginning satisfy a condition that none satisfies after the first that does not.
    fileprivate func partition(_ isInFirstPart: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isInFirstPart(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
