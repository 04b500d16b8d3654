import SyncContract

/// A value as SQLite stores it.
package enum SQLValue: Sendable, Hashable {
    case null
    case int64(Int64)
    case double(Double)
    case text(String)
    case blob([UInt8])
}

extension SQLValue {
    /// The stored form of a value; dates without their finer text.
    init(_ value: FieldValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .int64(value ? 1 : 0)
        case .int64(let value): self = .int64(value)
        case .double(let value): self = .double(value)
        case .decimal(let value): self = .text(value.text)
        case .string(let value): self = .text(value)
        case .date(let value): self = .int64(value.milliseconds)
        case .bytes(let value): self = .blob(value)
        case .json(let value): self = .text(value.text)
        }
    }

    /// The stored form of an id.
    init(_ id: RecordID) {
        switch id {
        case .string(let value): self = .text(value)
        case .int64(let value): self = .int64(value)
        }
    }
}
