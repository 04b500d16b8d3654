#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Bool: ColumnValue {
    /// A ``FieldValue/bool(_:)``.
    public var fieldValue: FieldValue { .bool(self) }
}

extension String: TextColumnValue {
    /// A ``FieldValue/string(_:)``.
    public var fieldValue: FieldValue { .string(self) }
}

extension Int: NumericColumnValue {
    /// A ``FieldValue/int64(_:)``.
    public var fieldValue: FieldValue { .int64(Int64(self)) }
}

extension Int64: NumericColumnValue {
    /// A ``FieldValue/int64(_:)``.
    public var fieldValue: FieldValue { .int64(self) }
}

extension Int32: NumericColumnValue {
    /// A ``FieldValue/int64(_:)``.
    public var fieldValue: FieldValue { .int64(Int64(self)) }
}

extension Int16: NumericColumnValue {
    /// A ``FieldValue/int64(_:)``.
    public var fieldValue: FieldValue { .int64(Int64(self)) }
}

extension Int8: NumericColumnValue {
    /// A ``FieldValue/int64(_:)``.
    public var fieldValue: FieldValue { .int64(Int64(self)) }
}

extension UInt8: NumericColumnValue {
    /// A ``FieldValue/int64(_:)``.
    public var fieldValue: FieldValue { .int64(Int64(self)) }
}

extension UInt16: NumericColumnValue {
    /// A ``FieldValue/int64(_:)``.
    public var fieldValue: FieldValue { .int64(Int64(self)) }
}

extension UInt32: NumericColumnValue {
    /// A ``FieldValue/int64(_:)``.
    public var fieldValue: FieldValue { .int64(Int64(self)) }
}

extension Double: NumericColumnValue {
    /// A ``FieldValue/double(_:)``.
    public var fieldValue: FieldValue { .double(self) }
}

extension Float: NumericColumnValue {
    /// A ``FieldValue/double(_:)``.
    public var fieldValue: FieldValue { .double(Double(self)) }
}

extension Decimal: NumericColumnValue {
    /// A ``FieldValue/decimal(_:)``; what is not a number compares with nothing.
    public var fieldValue: FieldValue { DecimalText(description).map(FieldValue.decimal) ?? .double(.nan) }
}

extension Date: DateColumnValue {
    /// A ``FieldValue/date(_:)``, in whole milliseconds.
    public var fieldValue: FieldValue { .date(Timestamp(self)) }
}

extension UUID: ColumnValue {
    /// A ``FieldValue/string(_:)`` in upper case.
    public var fieldValue: FieldValue { .string(uuidString) }
}

extension URL: ColumnValue {
    /// A ``FieldValue/string(_:)``.
    public var fieldValue: FieldValue { .string(absoluteString) }
}

extension Data: ColumnValue {
    /// A ``FieldValue/bytes(_:)``.
    public var fieldValue: FieldValue { .bytes(Array(self)) }
}
