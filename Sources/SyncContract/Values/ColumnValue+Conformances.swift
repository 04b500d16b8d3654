#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Bool: ColumnValue {
    /// A ``FieldValue/bool(_:)``.
    public var fieldValue: FieldValue { .bool(self) }
    /// The truth value of a ``FieldValue/bool(_:)``.
    public init?(fieldValue: FieldValue) {
        guard let value = fieldValue.boolValue else { return nil }
        self = value
    }
}

extension String: TextColumnValue {
    /// A ``FieldValue/string(_:)``.
    public var fieldValue: FieldValue { .string(self) }
    /// The text of a ``FieldValue/string(_:)``.
    public init?(fieldValue: FieldValue) {
        guard let value = fieldValue.stringValue else { return nil }
        self = value
    }
}

extension Int: NumericColumnValue {
    /// A ``FieldValue/int64(_:)``.
    public var fieldValue: FieldValue { .int64(Int64(self)) }
    /// A number without fraction, when it fits.
    public init?(fieldValue: FieldValue) { self.init(whole: fieldValue) }
}

extension Int64: NumericColumnValue {
    /// A ``FieldValue/int64(_:)``.
    public var fieldValue: FieldValue { .int64(self) }
    /// A number without fraction, when it fits.
    public init?(fieldValue: FieldValue) { self.init(whole: fieldValue) }
}

extension Int32: NumericColumnValue {
    /// A ``FieldValue/int64(_:)``.
    public var fieldValue: FieldValue { .int64(Int64(self)) }
    /// A number without fraction, when it fits.
    public init?(fieldValue: FieldValue) { self.init(whole: fieldValue) }
}

extension Int16: NumericColumnValue {
    /// A ``FieldValue/int64(_:)``.
    public var fieldValue: FieldValue { .int64(Int64(self)) }
    /// A number without fraction, when it fits.
    public init?(fieldValue: FieldValue) { self.init(whole: fieldValue) }
}

extension Int8: NumericColumnValue {
    /// A ``FieldValue/int64(_:)``.
    public var fieldValue: FieldValue { .int64(Int64(self)) }
    /// A number without fraction, when it fits.
    public init?(fieldValue: FieldValue) { self.init(whole: fieldValue) }
}

extension UInt8: NumericColumnValue {
    /// A ``FieldValue/int64(_:)``.
    public var fieldValue: FieldValue { .int64(Int64(self)) }
    /// A number without fraction, when it fits.
    public init?(fieldValue: FieldValue) { self.init(whole: fieldValue) }
}

extension UInt16: NumericColumnValue {
    /// A ``FieldValue/int64(_:)``.
    public var fieldValue: FieldValue { .int64(Int64(self)) }
    /// A number without fraction, when it fits.
    public init?(fieldValue: FieldValue) { self.init(whole: fieldValue) }
}

extension UInt32: NumericColumnValue {
    /// A ``FieldValue/int64(_:)``.
    public var fieldValue: FieldValue { .int64(Int64(self)) }
    /// A number without fraction, when it fits.
    public init?(fieldValue: FieldValue) { self.init(whole: fieldValue) }
}

extension Double: NumericColumnValue {
    /// A ``FieldValue/double(_:)``.
    public var fieldValue: FieldValue { .double(self) }
    /// A double, or a whole number that a double holds exactly.
    public init?(fieldValue: FieldValue) {
        guard let value = fieldValue.doubleValue ?? fieldValue.int64Value.flatMap({ Double(exactly: $0) }) else {
            return nil
        }
        self = value
    }
}

extension Float: NumericColumnValue {
    /// A ``FieldValue/double(_:)``: of the decimal that the float is written as, so that 3.14 is 3.14 on the server too.
    public var fieldValue: FieldValue { .double(Double(description) ?? Double(self)) }
    /// A double, rounded to a float, or a whole number.
    public init?(fieldValue: FieldValue) {
        guard let value = Double(fieldValue: fieldValue) else { return nil }
        self.init(value)
    }
}

extension Decimal: NumericColumnValue {
    /// A ``FieldValue/decimal(_:)``; what is not a number compares with nothing.
    public var fieldValue: FieldValue { DecimalText(description).map(FieldValue.decimal) ?? .double(.nan) }
    /// A number of any type; one of more digits than a `Decimal` has is rounded.
    public init?(fieldValue: FieldValue) {
        let text: String? =
            switch fieldValue {
            case .decimal(let value): value.text
            case .int64(let value): String(value)
            case .double(let value): DecimalText(shortestOf: value)?.text
            default: nil
            }
        guard let text, let value = Decimal(string: text) else { return nil }
        self = value
    }
    /// A `Decimal`.
    public typealias Average = Decimal
}

extension Date: DateColumnValue {
    /// A ``FieldValue/date(_:)``, in whole milliseconds.
    public var fieldValue: FieldValue { .date(Timestamp(self)) }
    /// The instant of a ``FieldValue/date(_:)``.
    public init?(fieldValue: FieldValue) {
        guard let instant = fieldValue.dateValue else { return nil }
        self = instant.date
    }
}

extension UUID: ColumnValue {
    /// A ``FieldValue/string(_:)`` in upper case.
    public var fieldValue: FieldValue { .string(uuidString) }
    /// The UUID of its text in upper or lower case, with dashes.
    public init?(fieldValue: FieldValue) {
        guard let text = fieldValue.stringValue else { return nil }
        self.init(uuidString: text)
    }
}

extension URL: ColumnValue {
    /// A ``FieldValue/string(_:)``.
    public var fieldValue: FieldValue { .string(absoluteString) }
    /// The address of its text.
    public init?(fieldValue: FieldValue) {
        guard let text = fieldValue.stringValue else { return nil }
        self.init(string: text)
    }
}

extension Data: ColumnValue {
    /// A ``FieldValue/bytes(_:)``.
    public var fieldValue: FieldValue { .bytes(Array(self)) }
    /// The bytes of a ``FieldValue/bytes(_:)``.
    public init?(fieldValue: FieldValue) {
        guard let bytes = fieldValue.bytesValue else { return nil }
        self.init(bytes)
    }
}

extension FixedWidthInteger {
    /// A whole number, or a double without a fraction, when it fits.
    fileprivate init?(whole field: FieldValue) {
        switch field {
        case .int64(let number): self.init(exactly: number)
        case .double(let number): self.init(exactly: number)
        default: return nil
        }
    }
}
