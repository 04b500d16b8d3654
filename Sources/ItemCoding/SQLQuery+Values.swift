public import Foundation
public import SyncContract

// The types that columns hold, as values in SQL.
extension SQLQuery.StringInterpolation {
    /// Binds an instant in whole milliseconds, or null.
    public mutating func appendInterpolation(_ value: Date?) {
        appendInterpolation(value.map { FieldValue.date(Timestamp($0)) } ?? .null)
    }

    /// Binds a decimal, or null.
    public mutating func appendInterpolation(_ value: Decimal?) {
        appendInterpolation(value.flatMap { DecimalText($0.description) }.map(FieldValue.decimal) ?? .null)
    }

    /// Binds the text of a UUID in upper case, or null.
    public mutating func appendInterpolation(_ value: UUID?) { appendInterpolation(value?.uuidString) }

    /// Binds the text of an address, or null.
    public mutating func appendInterpolation(_ value: URL?) { appendInterpolation(value?.absoluteString) }

    /// Binds bytes, or null.
    public mutating func appendInterpolation(_ value: Data?) {
        appendInterpolation(value.map { FieldValue.bytes(Array($0)) } ?? .null)
    }

    /// Binds the raw value of an enum.
    public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value) where Value.RawValue == String {
        appendInterpolation(value.rawValue)
    }

    /// Binds the raw value of an enum.
    public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value) where Value.RawValue == Int {
        appendInterpolation(value.rawValue)
    }
}
