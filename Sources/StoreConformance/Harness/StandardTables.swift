internal import SyncContract

extension TableDefinition {
    /// The tables that most rules use.
    static let standard = [items, folding, other]

    /// One column of every type and all system properties; ids by their bytes.
    static let items = TableDefinition("items", columns: everyType, systemProperties: .all)

    /// The same with ids that ignore the case of A to Z.
    static let folding = TableDefinition(
        "folding",
        columns: everyType,
        idComparison: .asciiCaseInsensitive,
        systemProperties: .all
    )

    /// A second table.
    static let other = TableDefinition("other", columns: [.init("text", .string), .init("int", .int64)])

    private static let everyType: [ColumnDefinition] = [
        .init("bool", .bool), .init("int", .int64), .init("double", .double), .init("decimal", .decimal),
        .init("text", .string), .init("date", .date), .init("bytes", .bytes), .init("json", .json),
    ]

    /// The record as the table gives it back: with a null for every declared column that it lacks.
    func filled(_ record: Record) -> Record {
        var record = record
        for column in allColumns where record[column.name] == nil { record[column.name] = .null }
        return record
    }
}

extension SystemProperties {
    static let all: SystemProperties = [.createdAt, .updatedAt, .version, .deleted]
}

extension FieldValue {
    /// A decimal number by its text, which must be one.
    static func decimal(_ text: String) -> FieldValue { DecimalText(text).map(FieldValue.decimal) ?? .null }

    /// JSON by its text, which must be some.
    static func json(_ text: String) -> FieldValue { JSONText(text).map(FieldValue.json) ?? .null }

    /// An instant by its milliseconds.
    static func date(_ milliseconds: Int64) -> FieldValue { .date(Timestamp(milliseconds: milliseconds)) }

    /// An instant by its text, which must be one.
    static func date(text: String) -> FieldValue { Timestamp(text).map(FieldValue.date) ?? .null }
}
