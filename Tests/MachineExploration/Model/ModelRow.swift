import SyncMachines

/// A row with one tiny content, packed into 24 bits, and what the exploration notes of it.
///
/// The machines see version, content and whether it is deleted. `history` and `tip` are notes of the exploration: they
/// travel with the row, no decision depends on them.
struct ModelRow: MachineRow {
    /// Three contents and, in notes, a deletion.
    typealias Content = UInt8

    static let contents: ClosedRange<Content> = 0...2
    static let deletion: Content = 3

    private(set) var bits: UInt32

    init(bits: UInt32) { self.bits = bits }

    init(content: Content, version: UInt8?, isDeleted: Bool = false, history: Edits = [], tip: UInt8 = 0) {
        bits = 0
        self.content = content
        self.version = version
        self.isDeleted = isDeleted
        self.history = history
        self.tip = tip
    }

    var content: Content {
        get { Content(bits & 3) }
        set { bits = bits & ~3 | UInt32(newValue) }
    }

    /// Versions are counted from 1; nil where the server has not given one.
    var version: UInt8? {
        get {
            let number = UInt8(bits >> 2 & 15)
            return number == 0 ? nil : number
        }
        set { bits = bits & ~(15 << 2) | UInt32(newValue ?? 0) << 2 }
    }

    var isDeleted: Bool {
        get { bits >> 6 & 1 == 1 }
        set { bits = bits & ~(1 << 6) | (newValue ? 1 << 6 : 0) }
    }

    /// The edits that whoever wrote this had seen, its own included.
    var history: Edits {
        get { Edits(rawValue: UInt16(bits >> 7 & 0x1FFF)) }
        set { bits = bits & ~(0x1FFF << 7) | UInt32(newValue.rawValue) << 7 }
    }

    /// The number of the edit that gave it its content; 0 for the row of the beginning.
    var tip: UInt8 {
        get { UInt8(bits >> 20 & 15) }
        set { bits = bits & ~(15 << 20) | UInt32(newValue) << 20 }
    }

    /// What its content is, or that it is a tombstone.
    var value: Content { isDeleted ? Self.deletion : content }

    /// The row without notes and without what belongs to the server, as an engine sends it.
    var sendable: ModelRow { ModelRow(content: content, version: nil) }
}

/// Contents are compared as they are; a row has no columns that the app does not declare but for the version.
struct ModelComparison: RowComparison {
    func wrote(_ sent: ModelRow, _ shown: ModelRow) -> Bool { sent.content == shown.content }
    func agrees(_ local: ModelRow, _ shown: ModelRow) -> Bool { local.content == shown.content }
    func isUnchanged(_ base: ModelRow, _ shown: ModelRow) -> Bool { base.content == shown.content }
    func mayBeLeft(of deleted: ModelRow, _ tombstone: ModelRow) -> Bool { deleted.content == tombstone.content }
}

/// A set of edits: six of each device, and the touches of undeclared columns by third parties.
struct Edits: OptionSet, Hashable {
    var rawValue: UInt16

    static let touch = Edits(rawValue: 1 << 12)

    /// The last number of a device stands for all its further decisions.
    static let perDevice: UInt8 = 6

    static func all(of device: Side) -> Edits { Edits(rawValue: device == .a ? 0x3F : 0x3F << 6) }

    /// The first edits of a device.
    static func first(_ count: UInt8, of device: Side) -> Edits {
        let mask = (UInt16(1) << min(count, perDevice)) - 1
        return Edits(rawValue: device == .a ? mask : mask << 6)
    }

    /// One edit, by the number that is written into rows.
    init(tip: UInt8) { rawValue = tip == 0 ? 0 : 1 << (tip - 1) }

    init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// The two devices.
enum Side: UInt8, CaseIterable {
    case a
    case b

    var other: Side { self == .a ? .b : .a }
    var name: String { self == .a ? "A" : "B" }
}

/// What a change may have left on the server so far: contents of a row, and those of tombstones.
struct Values: OptionSet, Hashable {
    let rawValue: UInt8

    static func row(_ content: ModelRow.Content) -> Values { Values(rawValue: 1 << content) }

    /// A tombstone keeps the content of the row. The two contents that edits write last count as one.
    static func tombstone(_ content: ModelRow.Content) -> Values { Values(rawValue: content == 0 ? 1 << 3 : 1 << 4) }

    static let tombstones: Values = [.tombstone(0), .tombstone(1)]

    /// What has left this row or tombstone.
    static func of(_ row: ModelRow) -> Values { row.isDeleted ? .tombstone(row.content) : .row(row.content) }
}
