import SyncMachines

/// A row with one column.
struct TestRow: MachineRow {
    var content = "a"
    var version: Int?
    var isDeleted = false
    /// What tells two states with one version apart.
    var stamp = 0

    func contradicts(_ other: TestRow) -> Bool { stamp != other.stamp }
}

/// Compares the one column.
struct TestComparison: RowComparison {
    func wrote(_ sent: TestRow, _ shown: TestRow) -> Bool { sent.content == shown.content }
    func agrees(_ local: TestRow, _ shown: TestRow) -> Bool { local.content == shown.content }
    func isUnchanged(_ base: TestRow, _ shown: TestRow) -> Bool { base.content == shown.content }
    func mayBeLeft(of deleted: TestRow, _ tombstone: TestRow) -> Bool { deleted.content == tombstone.content }
}

/// A machine with the local row beside it: what the effects make of it.
struct TestItem {
    var machine = ItemMachine<TestRow>()
    var row: TestRow?

    init(_ row: TestRow? = nil) { self.row = row }

    var change: QueuedChange<TestRow>? { machine.change }

    mutating func apply(_ effect: RowEffect<TestRow>) {
        switch effect {
        case .none: break
        case .server(let row), .local(let row): self.row = row
        case .adopt(let row): self.row?.version = row.version
        case .version(let version): row?.version = version
        case .remove: row = nil
        }
    }

    mutating func insert(_ content: String) throws {
        try machine.insert()
        row = TestRow(content: content)
    }

    mutating func update(_ content: String, seen: Int? = nil) throws {
        guard let stored = row else { throw EditRefusal.deletionWaits }
        let effect = try machine.update(stored, seen: seen)
        row?.content = content
        apply(effect)
    }

    @discardableResult
    mutating func delete(seen: Int? = nil) throws -> Bool {
        let cancels = try machine.delete(row, seen: seen)
        row = nil
        return cancels
    }

    @discardableResult
    mutating func undoDelete() -> Bool {
        guard let effect = machine.undoDelete(TestComparison()) else { return false }
        apply(effect)
        return true
    }

    mutating func discard() { apply(machine.discard()) }

    mutating func send(_ lookUp: LookUp = .notDone) -> RequestUnderWay<TestRow>? { machine.prepare(row, after: lookUp) }

    @discardableResult
    mutating func receive(_ answer: ItemAnswer<TestRow>, to sent: RequestUnderWay<TestRow>?) -> ItemOutcome<TestRow> {
        guard let sent else { return .ignored }
        let (outcome, effect) = machine.receive(answer, to: sent, row, TestComparison())
        apply(effect)
        return outcome
    }

    @discardableResult
    mutating func pull(_ pulled: TestRow) -> PulledRow {
        let (what, effect) = machine.pulled(pulled, isHere: row != nil, TestComparison())
        if what == .apply { row = pulled.isDeleted ? nil : pulled }
        apply(effect)
        return what
    }
}
