/// A Swift type that a column can hold and a predicate can compare.
///
/// `String`, `Int` and the smaller integers, `Int64`, `Double`, `Float`, `Decimal`, `Bool`, `Date`, ``Day``, ``TimeOfDay``,
/// `UUID`, `URL`, `Data`, ``Timestamp``, ``RecordID``, ``FieldValue`` and optionals of them conform. An enum with raw values
/// conforms by naming the protocol: `enum Kind: String, Codable, ColumnValue`. Other `Codable` values are stored as JSON and
/// cannot be compared.
public protocol ColumnValue: Sendable, Hashable {
    /// The type without its optional: `Date` for both `Date` and `Date?`.
    associatedtype Base: ColumnValue = Self

    /// The value as a store keeps it and a predicate compares it.
    var fieldValue: FieldValue { get }
}

/// A number, which can be computed with; also a ``FieldValue``, whose type shows only in the row.
public protocol NumericColumnValue: ColumnValue {}

/// A text; also a ``FieldValue``.
public protocol TextColumnValue: ColumnValue {
    /// What its length is.
    associatedtype Number: NumericColumnValue = Int
}

/// An instant; also a ``FieldValue``.
public protocol DateColumnValue: ColumnValue {
    /// What its year is.
    associatedtype Number: NumericColumnValue = Int
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    /// The type without its optional.
    public typealias Base = Wrapped.Base
    /// The value, ``FieldValue/null`` for nil.
    public var fieldValue: FieldValue { self?.fieldValue ?? .null }
}

extension Optional: NumericColumnValue where Wrapped: NumericColumnValue {}

extension Optional: TextColumnValue where Wrapped: TextColumnValue {
    /// What its length is.
    public typealias Number = Wrapped.Number
}

extension Optional: DateColumnValue where Wrapped: DateColumnValue {
    /// What its year is.
    public typealias Number = Wrapped.Number
}

extension RawRepresentable where Self: ColumnValue, RawValue: ColumnValue {
    /// The raw value.
    public var fieldValue: FieldValue { rawValue.fieldValue }
}

extension SyncState: ColumnValue {}

extension FieldValue: NumericColumnValue, TextColumnValue, DateColumnValue {
    /// A ``FieldValue`` as well.
    public typealias Number = FieldValue
    /// The value itself.
    public var fieldValue: FieldValue { self }
}

extension RecordID: ColumnValue {}

extension Timestamp: DateColumnValue {
    /// A ``FieldValue/date(_:)``.
    public var fieldValue: FieldValue { .date(self) }
}
