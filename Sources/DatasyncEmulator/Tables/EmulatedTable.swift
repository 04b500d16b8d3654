internal import SeededNumbers

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
    /// In units of 100 nanoseconds.
    private var lastStamp: Int64 = .min
    private let resolution: StoreBehaviour.StampResolution
    private var generator: SeededGenerator
    /// Whether changes are held back, and the one that was.
    private var isPreparing = false
    private var prepared: TableChange?
    private(set) var hasHadRows = false

    struct Stamp: Comparable, Sendable {
        let ticks: Int64
        let id: RowID

        static func < (first: Stamp, second: Stamp) -> Bool {
            first.ticks == second.ticks ? first.id < second.id : first.ticks < second.ticks
        }
    }

    init(_ definition: EmulatedTableDefinition, store: StoreBehaviour) {
        self.definition = definition
        self.resolution = store.stamps
        self.generator = SeededGenerator(seed: store.effectiveSeed)
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
    func rowsByStamp(from ticks: Int64) -> some Sequence<EmulatedRow> {
        let start = stamps.insertionIndex(of: Stamp(ticks: ticks, id: RowID("")))
        return stamps[start...].lazy.compactMap { rows[$0.id] }
    }

    /// The stamp of the next change, in units of 100 nanoseconds: later than every stamp given before, even if the clock
    /// stands still or goes back.
    ///
    /// - Parameter now: Milliseconds since 1970.
    /// - Returns: The stamp.
    mutating func nextStamp(now: Int64) -> Int64 {
        let unit = resolution.ticks
        let steps = Timestamp.ticksPerMillisecond / unit
        let fraction = steps == 1 ? 0 : Int64.random(in: 1..<steps, using: &generator) * unit
        let stamp = now * Timestamp.ticksPerMillisecond + fraction
        lastStamp = lastStamp == .min ? stamp : max(stamp, lastStamp + unit)
        return lastStamp
    }

    /// A stamp as fine as the table keeps it.
    func keptStamp(_ ticks: Int64) -> Int64 {
        let whole = Timestamp.wholeMilliseconds(ticks)
        return whole + (ticks - whole) / resolution.ticks * resolution.ticks
    }

    /// Carries a write out without letting anybody see what it changes.
    ///
    /// - Returns: What the write returned, and the change to be committed; nil when there is none.
    mutating func preparing<Answer>(_ write: (inout EmulatedTable) -> Answer) -> (Answer, TableChange?) {
        isPreparing = true
        defer { (isPreparing, prepared) = (false, nil) }
        let answer = write(&self)
        return (answer, prepared)
    }

    mutating func commit(_ change: TableChange) {
        if let row = change.row { store(row) } else { remove(change.id) }
    }

    mutating func store(_ row: EmulatedRow) {
        if isPreparing {
            prepared = TableChange(id: row.id, row: row, base: rows[row.id]?.version)
            return
        }
        if let old = rows.updateValue(row, forKey: row.id) {
            stamps.removeSorted(Stamp(ticks: old.stamp, id: old.id))
        } else {
            ids.insertSorted(row.id)
        }
        stamps.insertSorted(Stamp(ticks: row.stamp, id: row.id))
        lastStamp = max(lastStamp, row.stamp)
        hasHadRows = true
    }

    mutating func remove(_ id: RowID) {
        if isPreparing {
            prepared = TableChange(id: id, row: nil, base: rows[id]?.version)
            return
        }
        guard let old = rows.removeValue(forKey: id) else { return }
        ids.removeSorted(id)
        stamps.removeSorted(Stamp(ticks: old.stamp, id: id))
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
