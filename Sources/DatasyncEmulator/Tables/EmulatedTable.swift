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
    private(set) var indexes = RowIndexes()
    let store: StoreBehaviour
    /// In units of 100 nanoseconds.
    private var lastStamp: Int64 = .min
    private var generator: SeededGenerator
    /// Whether changes are held back, and the one that was.
    private var isPreparing = false
    private var prepared: TableChange?
    private(set) var hasHadRows = false

    init(
        _ definition: EmulatedTableDefinition,
        store: StoreBehaviour,
        edition: EmulatorConfiguration.Edition = .usual
    ) {
        self.definition = definition
        self.store = store
        self.generator = SeededGenerator(seed: store.effectiveSeed)
        self.columns = definition.columns.types
        self.layout = RowLayout(
            definition.columns.names,
            offsetNames: edition == .predecessor ? definition.columns.instants.union(["updatedAt"]) : [],
            namesInfinity: edition == .predecessor
        )
    }

    subscript(id: RowID) -> EmulatedRow? {
        indexes[key(id)]
    }

    /// All rows by id.
    var rowsByID: some Sequence<EmulatedRow> {
        indexes.byID.lazy.map(\.row)
    }

    private func key(_ id: RowID) -> RowID {
        store.ignoresCase ? RowID(id.text.withASCIILowercased) : id
    }

    /// The stamp of the next change, in units of 100 nanoseconds: later than every stamp given before, even if the clock
    /// stands still or goes back, unless stamps follow it.
    ///
    /// - Parameter now: Milliseconds since 1970.
    /// - Returns: The stamp.
    mutating func nextStamp(now: Int64) -> Int64 {
        let unit = store.stamps.ticks
        let steps = Timestamp.ticksPerMillisecond / unit
        let fraction = steps == 1 ? 0 : Int64.random(in: 1..<steps, using: &generator) * unit
        let stamp = now * Timestamp.ticksPerMillisecond + fraction
        guard !store.stampsFollowTheClock else { return stamp }
        lastStamp = lastStamp == .min ? stamp : max(stamp, lastStamp + unit)
        return lastStamp
    }

    /// A stamp as fine as the table keeps it.
    func keptStamp(_ ticks: Int64) -> Int64 {
        let whole = Timestamp.wholeMilliseconds(ticks)
        return whole + (ticks - whole) / store.stamps.ticks * store.stamps.ticks
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
            prepared = TableChange(id: row.id, row: row, base: self[row.id]?.version)
            return
        }
        let kept = store.kept(row)
        indexes.store(kept, key: key(row.id))
        noteStored(kept)
    }

    /// Stores many rows at once, which takes less time than one by one.
    mutating func store(_ rows: [EmulatedRow]) {
        let kept = rows.map(store.kept)
        indexes.store(kept.map { ($0, key($0.id)) })
        for row in kept { noteStored(row) }
    }

    private mutating func noteStored(_ row: EmulatedRow) {
        lastStamp = max(lastStamp, row.stamp)
        hasHadRows = true
    }

    mutating func remove(_ id: RowID) {
        if isPreparing {
            prepared = TableChange(id: id, row: nil, base: self[id]?.version)
            return
        }
        indexes.remove(key(id))
    }

    mutating func noteColumn(_ name: String, _ type: EmulatedTableDefinition.ColumnType) {
        guard columns[name] == nil else { return }
        columns[name] = type
        layout.append(name)
    }
}
