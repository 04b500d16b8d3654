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

    /// The value of this type that a store keeps so; nil for one that is none of this type.
    ///
    /// What ``fieldValue`` gives is read back. A number is also read from the other types of numbers, as long as it is
    /// the same number.
    init?(fieldValue: FieldValue)
}

/// A number, which can be computed with; also a ``FieldValue``, whose type shows only in the row.
public protocol NumericColumnValue: ColumnValue {
    /// What the average of such numbers is: a `Decimal` of decimals, a `Double` of all others.
    associatedtype Average: ColumnValue = Double
}

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
    /// Nil for ``FieldValue/null``.
    public init?(fieldValue: FieldValue) {
        if fieldValue.isNull {
            self = .none
        } else {
            guard let value = Wrapped(fieldValue: fieldValue) else { return nil }
            self = .some(value)
        }
    }
}

extension Optional: NumericColumnValue where Wrapped: NumericColumnValue {
    /// That of the type without its optional.
    public typealias Average = Wrapped.Average
}

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
    /// The case with a raw value; nil when there is none.
    public init?(fieldValue: FieldValue) {
        guard let value = RawValue(fieldValue: fieldValue) else { return nil }
        self.init(rawValue: value)
    }
}

extension SyncState: ColumnValue {}

extension FieldValue: NumericColumnValue, TextColumnValue, DateColumnValue {
    /// A ``FieldValue`` as well.
    public typealias Number = FieldValue
    /// A ``FieldValue`` as well.
    public typealias Average = FieldValue
    /// The value itself.
    public var fieldValue: FieldValue { self }
    /// The value itself.
    public init?(fieldValue: FieldValue) { self = fieldValue }
}

extension RecordID: ColumnValue {
    /// A text or a whole number.
    public init?(fieldValue: FieldValue) {
        switch fieldValue {
        case .string(let text): self = .string(text)
        case .int64(let number): self = .int64(number)
        default: return nil
        }
    }
}

extension Timestamp: DateColumnValue {
    /// A ``FieldValue/date(_:)``.
    public var fieldValue: FieldValue { .date(self) }
    /// The instant of a ``FieldValue/date(_:)``.
    public init?(fieldValue: FieldValue) {
        guard let instant = fieldValue.dateValue else { return nil }
        self = instant
    }
}
