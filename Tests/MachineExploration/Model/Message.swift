import SyncMachines

/// A request on its way, packed, with what its sender knew when it was stored.
struct Message: Hashable {
    enum Kind: UInt8 {
        // Not every question is told from no message: nobody waits for a late one.
        case lookUp, insert, update, restore, delete, newTombstone, tombstone, fill
    }

    private(set) var bits: UInt32

    init(bits: UInt32) { self.bits = bits }

    init(
        _ request: ItemRequest<ModelRow>,
        from device: Side,
        history: Edits,
        tip: UInt8,
        values: Values
    ) {
        let kind: Kind
        var content: UInt8 = 0
        var version: UInt8?
        switch request {
        case .insert(let row): (kind, content) = (.insert, row.content)
        case .update(let row, let base, let isRestoring):
            (kind, content, version) = (isRestoring ? .restore : .update, row.content, base)
        case .delete(let base): (kind, version) = (.delete, base)
        case .tombstone(let row, let base):
            (kind, content, version) = (base == nil ? .newTombstone : .tombstone, row?.content ?? 0, base)
        case .fillTombstone(let row, let base): (kind, content, version) = (.fill, row.content, base)
        case .lookUp: kind = .lookUp
        }
        bits = UInt32(kind.rawValue) | UInt32(content) << 3 | UInt32(version ?? 0) << 5
        bits |= UInt32(history.rawValue) << 9 | UInt32(tip) << 22 | UInt32(values.rawValue) << 26
        bits |= UInt32(device.rawValue) << 31
    }

    var kind: Kind { Kind(rawValue: UInt8(bits & 7)) ?? .lookUp }
    var content: UInt8 { UInt8(bits >> 3 & 3) }
    var version: UInt8? { bits >> 5 & 15 == 0 ? nil : UInt8(bits >> 5 & 15) }
    var history: Edits { Edits(rawValue: UInt16(bits >> 9 & 0x1FFF)) }
    var tip: UInt8 { UInt8(bits >> 22 & 15) }
    /// What the change may have left behind so far.
    var values: Values { Values(rawValue: UInt8(bits >> 26 & 31)) }
    var device: Side { bits >> 31 == 0 ? .a : .b }

    /// Whether it may show a tombstone as it was before it writes it.
    var mayShow: Bool { kind == .fill || kind == .restore || kind == .tombstone }
    /// What writes a tombstone after it was shown as it was, in a version.
    func following(_ version: UInt8?) -> Message {
        var next = self
        next.bits = bits & ~7 & ~(15 << 5) | UInt32(Kind.update.rawValue) | UInt32(version ?? 0) << 5
        return next
    }
    var writes: Bool { kind != .lookUp }
    /// Whether it leaves a version that the next request is to have seen.
    var makesVersion: Bool { [.insert, .update, .restore].contains(kind) }
}

/// What the server answers, packed: the kind, and the row that is shown.
struct Answer: Hashable {
    enum Kind: UInt8 {
        case taken, takenUnseen, takenUnversioned, shown, absent, hidden

        var isTaken: Bool { self == .taken || self == .takenUnseen || self == .takenUnversioned }
    }

    var kind: Kind
    var row: ModelRow

    init(_ kind: Kind, _ row: ModelRow = ModelRow(bits: 0)) {
        self.kind = kind
        self.row = row
    }

    var machineAnswer: ItemAnswer<ModelRow> {
        switch kind {
        case .taken: .taken(row)
        case .takenUnseen: .taken(nil)
        case .takenUnversioned: .taken(unversioned)
        case .shown: .shown(row)
        case .absent: .absent
        case .hidden: .hidden
        }
    }

    /// The row that it shows.
    var shownRow: ModelRow? {
        switch kind {
        case .taken, .shown: row
        case .takenUnversioned: unversioned
        case .takenUnseen, .absent, .hidden: nil
        }
    }

    private var unversioned: ModelRow {
        var row = row
        row.version = nil
        return row
    }
}
