extension FieldValue {
    /// Negative, zero or positive as this value comes before, with or after another; nil when they do not compare:
    /// when one is null or a NaN, or when they are of different kinds. The three number types are one kind.
    public func compare(with other: FieldValue) -> Int? {
        switch (self, other) {
        case (.bool(let a), .bool(let b)): (a ? 1 : 0) - (b ? 1 : 0)
        case (.string(let a), .string(let b)): Self.sign(a.utf8, b.utf8)
        case (.bytes(let a), .bytes(let b)): Self.sign(a, b)
        case (.json(let a), .json(let b)): Self.sign(a.text.utf8, b.text.utf8)
        case (.date(let a), .date(let b)): Self.sign(a.milliseconds, b.milliseconds)
        case (.int64(let a), .int64(let b)): Self.sign(a, b)
        case (.double(let a), .double(let b)): a.isNaN || b.isNaN ? nil : Self.sign(a, b)
        default:
            if let a = decimalDigits, let b = other.decimalDigits {
                a.compare(with: b)
            } else if isInfinite || other.isInfinite {
                // An infinity lies beyond every whole and every decimal number.
                compareWithInfinity(other)
            } else {
                nil
            }
        }
    }

    private var isInfinite: Bool { doubleValue?.isInfinite ?? false }

    /// Compares an infinity and a number of another type, on whichever side.
    private func compareWithInfinity(_ other: FieldValue) -> Int? {
        if let value = doubleValue, other.decimalDigits != nil { return value < 0 ? -1 : 1 }
        if let value = other.doubleValue, decimalDigits != nil { return value < 0 ? 1 : -1 }
        return nil
    }

    /// The digits of a number of any type. A double counts as its shortest text, so that 0.1 equals the decimal 0.1.
    private var decimalDigits: DecimalDigits? {
        switch self {
        case .int64(let value): DecimalDigits(String(value))
        case .double(let value): value.isFinite ? DecimalDigits(value.description) : nil
        case .decimal(let value): DecimalDigits(value.text)
        default: nil
        }
    }

    private static func sign<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : (b < a ? 1 : 0) }

    private static func sign(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Int {
        var first = a.makeIterator()
        var second = b.makeIterator()
        while true {
            switch (first.next(), second.next()) {
            case (nil, nil): return 0
            case (nil, _): return -1
            case (_, nil): return 1
            case (let x?, let y?): if x != y { return x < y ? -1 : 1 }
            }
        }
    }
}
