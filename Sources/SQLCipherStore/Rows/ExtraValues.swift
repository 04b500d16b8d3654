import RecordJSON
package import SyncContract

/// What a row holds beside its columns: values of undeclared keys, and the texts of dates that are finer than the
/// milliseconds in their columns.
///
/// Stored as one JSON object of strings. A member `u:name` is the value of an undeclared key, its type in front:
/// `int64:5`. A member `d:name` is the finer text of the date in a column.
package struct ExtraValues: Sendable {
    private var members: [String: String] = [:]

    /// No values.
    init() {}

    /// Reads a stored text.
    package init(text: String) throws {
        for (name, value) in try Self.parse(text) {
            guard case .string(let value) = value else { throw Self.unreadable }
            members[name] = value
        }
    }

    /// The text to store, nil when there is nothing to store.
    var text: String? {
        guard !members.isEmpty else { return nil }
        var writer = JSONWriter()
        for (name, value) in members.sorted(by: { $0.key < $1.key }) { writer.add(name, value) }
        return writer.object
    }

    /// These values with those of a patch over them; a null in the patch removes.
    func merging(patch: String) throws -> ExtraValues {
        var merged = self
        for (name, value) in try Self.parse(patch) { merged.members[name] = value.stringValue }
        return merged
    }

    /// The values of undeclared keys.
    package func undeclaredValues() throws -> [(name: String, value: FieldValue)] {
        try members.compactMap { key, text in
            // By bytes: to `String` a combining mark at the start of the name belongs to the colon.
            guard key.utf8.starts(with: "u:".utf8) else { return nil }
            guard let value = FieldValue(tagged: text) else { throw Self.unreadable }
            return (String(decoding: key.utf8.dropFirst(2), as: UTF8.self), value)
        }
    }

    /// Takes out the value of an undeclared key.
    mutating func removeValue(for name: String) throws -> FieldValue? {
        guard let text = members.removeValue(forKey: "u:" + name) else { return nil }
        guard let value = FieldValue(tagged: text) else { throw Self.unreadable }
        return value
    }

    /// The instant in a column, with its finer text when there is one that says the same instant: a column that was
    /// written since then has another.
    func date(_ name: String, milliseconds: Int64) -> Timestamp {
        if let text = members["d:" + name], let finer = Timestamp(text), finer.milliseconds == milliseconds {
            return finer
        }
        return Timestamp(milliseconds: milliseconds)
    }

    /// Keeps the finer text of a date, or removes it.
    mutating func setFinerText(_ text: String?, for name: String) { members["d:" + name] = text }

    private static func parse(_ text: String) throws -> [(name: String, value: JSONNode)] {
        do {
            guard case .object(let members, _) = try JSONNode(parsing: text.utf8) else { throw unreadable }
            return members
        } catch let error as JSONError {
            throw StoreError(.damaged, unreadable.message, cause: error)
        }
    }

    private static var unreadable: StoreError {
        StoreError(.damaged, "the extra values of a row cannot be read; restore the store from a backup")
    }
}

/// Collects what a write changes in the extra values of a row.
struct ExtraValuesPatch {
    private var writer = JSONWriter()
    private var kept = ExtraValues()

    /// Whether there is anything to change.
    private(set) var isEmpty = true

    /// Keeps the value of an undeclared key.
    mutating func set(_ value: FieldValue, for name: String) {
        isEmpty = false
        writer.add("u:" + name, value.tagged)
        kept.setUndeclared(value.tagged, for: name)
    }

    /// Keeps the finer text of a date, or removes the one that is there.
    mutating func setFinerText(_ text: String?, for name: String) {
        isEmpty = false
        if let text {
            writer.add("d:" + name, text)
            kept.setFinerText(text, for: name)
        } else {
            writer.add("d:" + name, json: "null")
        }
    }

    /// The patch, for a row that has extra values.
    var text: String { writer.object }

    /// The extra values of a row that had none; nil when there are none then either.
    var keptText: String? { kept.text }
}

extension ExtraValues {
    fileprivate mutating func setUndeclared(_ tagged: String, for name: String) { members["u:" + name] = tagged }
}
