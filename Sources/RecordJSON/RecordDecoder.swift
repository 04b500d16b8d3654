package import SyncContract

/// Reads rows of one table out of JSON, from bytes to values in one pass: no text is made of a name that is known, nor of a
/// value that its column does not keep as one.
///
/// Rows of one list mostly have the same members in the same order. What one row shows of them is kept for the next, and all
/// share one list of names.
package struct RecordDecoder: Sendable {
    /// What is known of a member.
    private struct Member {
        /// The name as it was written first, quotes included.
        let spelling: [UInt8]
        let type: ColumnType?
        let role: Role
    }

    private enum Role {
        case id
        /// A value, by its place in the list of names.
        case value(Int, isSystemProperty: Bool)
        /// A name under which a record keeps nothing.
        case ignored
    }

    private let coding: RecordCoding
    private let readsTombstones: Bool
    private var members: [Member] = []
    private var indexes: [String: Int] = [:]
    private var names: [String] = []
    private var stampSlot: Int?
    private var deletedSlot: Int?
    private var versionSlot: Int?

    /// How far behind the likely member the next one is looked for by its spelling: rows leave out some members.
    private static let reach = 8
    /// How many members are kept. Where rows have more in all, they are no table's.
    private static let mostMembers = 1_024

    /// A decoder for rows that are read with a coding.
    ///
    /// - Parameters:
    ///   - coding: The coding of the table.
    ///   - readsTombstones: Whether a row that is marked as deleted and does not fit is read without its content: what it
    ///     was before is nobody's business.
    package init(_ coding: RecordCoding, readsTombstones: Bool = false) {
        self.coding = coding
        self.readsTombstones = readsTombstones
    }

    /// Reads the next value. That it is no row, or does not fit, is said by what is returned; only what is no JSON is thrown.
    package mutating func row(from reader: inout JSONReader) throws(JSONError) -> DecodedRow {
        guard try reader.kind() == .object else {
            try reader.skip()
            return DecodedRow(content: .failure(RecordCodingError("the item is not a JSON object")))
        }
        if members.count > Self.mostMembers { self = RecordDecoder(coding, readsTombstones: readsTombstones) }
        var id: RecordID?
        var misfit: RecordCodingError?
        var systemMisfit: RecordCodingError?
        var values = [FieldValue?](repeating: nil, count: names.count)
        if try reader.beginObject() {
            var index = -1
            repeat {
                index = try member(after: index, in: &reader)
                switch members[index].role {
                case .id: id = try coding.id(from: &reader)
                case .ignored: try reader.skip()
                case .value(let slot, let isSystemProperty):
                    let value = try FieldValue.read(from: &reader, as: members[index].type)
                    if slot == values.count { values.append(value) } else { values[slot] = value }
                    guard value == nil else { continue }
                    let error = coding.misfit(names[slot])
                    misfit = misfit ?? error
                    if isSystemProperty { systemMisfit = systemMisfit ?? error }
                }
            } while try reader.continuesObject()
        }
        let stamp = stampSlot.flatMap { values[$0]?.dateValue }
        guard let id, id.stringValue?.isEmpty != true else {
            return DecodedRow(id: id, stamp: stamp, content: .failure(RecordCodingError("the item has no usable 'id'")))
        }
        if misfit != nil, readsTombstones, deletedSlot.flatMap({ values[$0]?.boolValue }) == true {
            for case .value(let slot, false) in members.map(\.role) { values[slot] = nil }
            misfit = systemMisfit
        }
        return DecodedRow(
            id: id,
            stamp: stamp,
            versionOfMisfit: misfit == nil ? nil : versionSlot.flatMap { values[$0]?.stringValue },
            content: misfit.map(Result.failure) ?? .success(Record(id: id, names: names, values: values))
        )
    }

    /// Reads a member's name, and says which member it is.
    private mutating func member(after last: Int, in reader: inout JSONReader) throws(JSONError) -> Int {
        for index in (last + 1)..<min(last + 1 + Self.reach, members.count) {
            if try reader.name(ifSpelled: members[index].spelling) { return index }
        }
        let (text, spelling) = try reader.name()
        let name = reader.string(text)
        if let index = indexes[name] { return index }
        let role = role(of: name)
        members.append(Member(spelling: Array(reader.bytes[spelling]), type: coding.type(of: name), role: role))
        indexes[name] = members.count - 1
        return members.count - 1
    }

    private mutating func role(of name: String) -> Role {
        switch name {
        case "id": return .id
        case SyncStateTerm.name: return .ignored
        case "updatedAt": stampSlot = names.count
        case "deleted": deletedSlot = names.count
        case "version": versionSlot = names.count
        default: break
        }
        names.append(name)
        return .value(names.count - 1, isSystemProperty: SystemProperties.names.contains(name))
    }
}

/// A row as it was read.
package struct DecodedRow: Sendable {
    /// The id, when it is one of the kind that the table has. It may be empty.
    package var id: RecordID?
    /// The value of `updatedAt`.
    package var stamp: Timestamp?
    /// The value of `version` of a row that does not fit.
    package var versionOfMisfit: String?
    /// The record, or why it is none.
    package var content: Result<Record, RecordCodingError>
}
