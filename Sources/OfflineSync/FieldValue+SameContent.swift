internal import SyncContract

extension FieldValue {
    /// Whether a server that was sent this value may answer with the other one: the same value, however it is written.
    ///
    /// Servers write UUIDs in the case that they like, texts that are dates in another form (the predecessor of the Datasync servers,
    /// by PATCH), and nested JSON with other white space, other escapes and its members
    /// in another order. Numbers within JSON are the same when their values are.
    func hasSameContent(as other: FieldValue) -> Bool {
        if self == other { return true }
        switch (self, other) {
        case (.string(let mine), .string(let theirs)): return mine.isSameUUID(as: theirs) || mine.isSameDate(as: theirs)
        case (.json(let mine), .json(let theirs)): return mine.hasSameValue(as: theirs)
        default: return compare(with: other) == 0
        }
    }
}

extension String {
    /// Whether both are dates, and the same instant.
    fileprivate func isSameDate(as other: String) -> Bool {
        guard utf8.count >= 20, other.utf8.count >= 20, let mine = Timestamp(self) else { return false }
        return mine.milliseconds == Timestamp(other)?.milliseconds
    }

    /// Whether both are UUIDs with dashes, and the same but for the case of their letters.
    fileprivate func isSameUUID(as other: String) -> Bool {
        let (mine, theirs) = (utf8, other.utf8)
        guard mine.count == 36, theirs.count == 36 else { return false }
        return zip(mine, theirs).enumerated()
            .allSatisfy { index, bytes in
                let isDash = [8, 13, 18, 23].contains(index)
                switch bytes.0 | 0x20 {
                // A dash has the bit already.
                case UInt8(ascii: "-"): return isDash && bytes.1 == bytes.0
                case UInt8(ascii: "0")...UInt8(ascii: "9"): return !isDash && bytes.1 == bytes.0
                case UInt8(ascii: "a")...UInt8(ascii: "f"): return !isDash && bytes.1 | 0x20 == bytes.0 | 0x20
                default: return false
                }
            }
    }
}

extension JSONText {
    /// Whether both say the same. A text that cannot be read, which only a damaged store has, says the same as none.
    fileprivate func hasSameValue(as other: JSONText) -> Bool {
        do {
            return try JSONNode(parsing: text.utf8).hasSameValue(as: try JSONNode(parsing: other.text.utf8))
        } catch {
            return false
        }
    }
}

extension JSONNode {
    fileprivate func hasSameValue(as other: JSONNode) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.bool(let mine), .bool(let theirs)): mine == theirs
        case (.string(let mine), .string(let theirs)):
            mine.utf8.elementsEqual(theirs.utf8) || mine.isSameDate(as: theirs)
        case (.number(let mine), .number(let theirs)):
            mine == theirs || Self.decimal(mine).map { $0.compare(with: Self.decimal(theirs) ?? .null) == 0 } ?? false
        case (.array(let mine, _), .array(let theirs, _)):
            mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.hasSameValue(as: $1) }
        case (.object(let mine, _), .object(let theirs, _)): Self.haveSameMembers(mine, theirs)
        default: false
        }
    }

    private static func decimal(_ text: String) -> FieldValue? { DecimalText(text).map(FieldValue.decimal) }

    /// Of several members with one name the last counts, as everywhere.
    private static func haveSameMembers(
        _ mine: [(name: String, value: JSONNode)],
        _ theirs: [(name: String, value: JSONNode)]
    ) -> Bool {
        let mine = Dictionary(mine.map { (Array($0.name.utf8), $0.value) }) { $1 }
        let theirs = Dictionary(theirs.map { (Array($0.name.utf8), $0.value) }) { $1 }
        return mine.count == theirs.count
            && mine.allSatisfy { name, value in theirs[name].map { value.hasSameValue(as: $0) } ?? false }
    }
}
