import SyncMachines

/// A request on its way, packed, with what its sender knew when it was stored.
struct Message: Hashable {
    enum Kind: UInt8 {
        case insert, update, restore, delete, newTombstone, tombstone, lookUp, fill
    }

    private(set) var bits: UInt32

    init(bits: UInt32) { self.bits = bits }

    init(
        _ request: ItemRequest<ModelRow>,
        from device: Side,
        history: Edits,
        tip: UInt8,
        values: UInt8
    ) {
        let kind: Kind
        var content: UInt8 = 0
        var version: UInt8?
        switch request {
        case .insert(let row): (kind, content) = (.insert, row.content)
        case .update(let row, let base, let isRestoring):
            (kind, content, version) = (isRestoring ? .restore : .update, row.content, base)
        case .delete(let base): (kind, version) = (.delete, base)
        case .tombstone(_, let base): (kind, version) = (base == nil ? .newTombstone : .tombstone, base)
        case .fillTombstone(let row, let base): (kind, content, version) = (.fill, row.content, base)
        case .lookUp: kind = .lookUp
        }
        bits = UInt32(kind.rawValue) | UInt32(content) << 3 | UInt32(version ?? 0) << 5
        bits |= UInt32(history.rawValue) << 9 | UInt32(tip) << 22 | UInt32(values) << 26 | UInt32(device.rawValue) << 30
        // So that no message is 0.
        bits |= 1 << 31
    }

    var kind: Kind { Kind(rawValue: UInt8(bits & 7)) ?? .lookUp }
    var content: UInt8 { UInt8(bits >> 3 & 3) }
    var version: UInt8? { bits >> 5 & 15 == 0 ? nil : UInt8(bits >> 5 & 15) }
    var history: Edits { Edits(rawValue: UInt16(bits >> 9 & 0x1FFF)) }
    var tip: UInt8 { UInt8(bits >> 22 & 15) }
    /// The values that the change has tried to write so far, one bit each.
    var values: UInt8 { UInt8(bits >> 26 & 15) }
    var device: Side { bits >> 30 & 1 == 0 ? .a : .b }

    var writes: Bool { kind != .lookUp }
}

/// What the server answers, packed: the kind, and the row that is shown.
struct Answer: Hashable {
    enum Kind: UInt8 {
        case taken, takenUnseen, shown, absent, hidden
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
        case .shown: .shown(row)
        case .absent: .absent
        case .hidden: .hidden
        }
    }

    /// The row that it shows.
    var shownRow: ModelRow? { kind == .taken || kind == .shown ? row : nil }
}
