internal import ConformanceRunner
internal import SyncContract

/// A value as a rule's message shows it: with its kind, and short.
func shown(_ value: FieldValue?) -> String {
    switch value {
    case nil: "absent"
    case .null: "null"
    case .bool(let value): "\(value)"
    case .int64(let value): "int64 \(value)"
    case .double(let value): "double \(value)"
    case .decimal(let value): "decimal \(value.text)"
    case .string(let value): shownText(value)
    case .date(let value): "date \(value.wireText)"
    case .bytes(let value):
        "\(value.count) bytes \(brief(value.prefix(20).map { String($0, radix: 16) }.joined(separator: " ")))"
    case .json(let value): "json \(brief(value.text))"
    }
}

/// A value, or for long text and bytes the place where they differ from others.
private func shown(_ value: FieldValue?, not other: FieldValue?) -> String {
    let (mine, others): ([UInt8], [UInt8])
    switch (value, other) {
    case (.bytes(let a), .bytes(let b)): (mine, others) = (a, b)
    case (.string(let a), .string(let b)): (mine, others) = (Array(a.utf8), Array(b.utf8))
    default: return shown(value)
    }
    guard mine.count > 20, let place = zip(mine, others).enumerated().first(where: { $1.0 != $1.1 })?.offset else {
        return shown(value) + (mine.count > 20 ? " (\(mine.count) bytes)" : "")
    }
    let bytes = mine[place..<min(place + 8, mine.count)].map { String($0, radix: 16) }.joined(separator: " ")
    return "\(mine.count) bytes, from byte \(place): \(bytes)"
}

func shown(_ id: RecordID) -> String { shown(id.fieldValue) }

func shown(_ ids: [RecordID]) -> String {
    let shownIDs = ids.prefix(12).map { shown($0) }.joined(separator: ", ")
    return "[\(shownIDs)\(ids.count > 12 ? ", … \(ids.count) in all" : "")]"
}

/// A record: all its values, or those in which it differs from another.
func shown(_ record: Record?, not other: Record? = nil) -> String {
    guard let record else { return "no row" }
    let names = Set(record.names).union(other.map { Set($0.names) } ?? [])
    var values = names.sorted().filter { other == nil || record[$0] != other?[$0] }
        .map { "\($0): \(shown(record[$0], not: other?[$0]))" }
    if record.syncState != other?.syncState { values.append(record.syncState.map { "\($0)" } ?? "no state") }
    return "row \(shown(record.id)) {\(values.joined(separator: ", "))}"
}

/// Text with every scalar outside of printable ASCII written as its number: accents that look alike do not.
private func shownText(_ text: String) -> String {
    let scalars = text.unicodeScalars.prefix(80)
        .map { (32..<127).contains($0.value) ? String($0) : "\\u{\(String($0.value, radix: 16))}" }
    let isCut = text.unicodeScalars.dropFirst(80).first != nil
    return "\"\(scalars.joined())\(isCut ? "… \(text.utf8.count) bytes" : "")\""
}
