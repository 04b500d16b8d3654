internal import SyncContract

extension TableDefinition {
    /// The table of all rules.
    static let items = TableDefinition(
        "items",
        columns: [
            .init("text", .string), .init("number", .double), .init("flag", .bool), .init("date", .date),
            .init("note", .string, isLocal: true),
        ],
        systemProperties: [.createdAt, .updatedAt, .version, .deleted]
    )

    /// A table that no back end has.
    static let absent = TableDefinition("no_such_items", columns: [.init("text", .string)])
}

extension Record {
    /// Texts of rows that must not stand in messages.
    static let secrets = ["ours-and-secret", "theirs-and-secret"]

    /// The instant of the first of several rows; it has milliseconds.
    static let firstInstant: Int64 = 1_612_325_106_789

    /// A row as other clients write it.
    static func item(_ id: String, _ number: Double = 1.5) -> Record {
        Record(
            id: .string(id),
            ["text": .string(secrets[1]), "number": .double(number), "flag": true, "date": .instant, "extra": "kept"]
        )
    }

    /// A row as the engine hands it to the remote.
    static func local(_ id: String, _ values: [String: FieldValue] = [:]) -> Record {
        var row = Record(
            id: .string(id),
            ["text": .string(secrets[0]), "number": 2.5, "flag": false, "date": .instant, "note": "stays here"]
        )
        for (name, value) in values { row[name] = value }
        return row
    }

    /// The values of the columns that are sent, nulls left out: a null and an absent value are the same to a server.
    var content: [String: FieldValue] {
        fields.filter { !$0.value.isNull && !SystemProperties.names.contains($0.key) && $0.key != "note" }
    }

    /// What of a row the engine goes by.
    var essence: Essence { Essence(id: id, version: version, isDeleted: isDeleted, content: isDeleted ? [:] : content) }

    struct Essence: Hashable {
        var id: RecordID
        var version: String?
        var isDeleted: Bool
        /// Empty for a deleted row: its content is nobody's concern.
        var content: [String: FieldValue]
    }
}

extension FieldValue {
    /// An instant with milliseconds.
    static let instant = FieldValue.date(Timestamp(milliseconds: Record.firstInstant))
}

/// A row as a message shows it: all its values, or those in which it differs from another.
func shown(_ record: Record?, not other: Record? = nil) -> String {
    guard let record else { return "no row" }
    let names = Set(record.names).union(other.map { Set($0.names) } ?? []).subtracting(["updatedAt", "createdAt"])
    let values = names.sorted().filter { other == nil || record[$0] != other?[$0] }
        .map { "\($0): \(record[$0].map { "\($0)" } ?? "absent")" }
    return "row '\(record.id.stringValue ?? "\(record.id)")' {\(values.joined(separator: ", "))}"
}

func shown(_ ids: some Sequence<String>) -> String {
    let ids = ids.sorted()
    return "[" + ids.prefix(12).joined(separator: ", ") + (ids.count > 12 ? ", … \(ids.count) in all]" : "]")
}
