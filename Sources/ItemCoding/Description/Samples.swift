internal import Foundation
internal import SyncContract

/// Two values of a type, where two can be found, and the column type that holds them.
struct Samples<Value> {
    let type: ColumnType
    let values: [Value]
}

extension Samples where Value: Decodable {
    /// How many numbers and texts a type is offered.
    private static var attempts: Int { 64 }

    /// The samples of a type: those of a type that is known here, the cases of an enum, or what the type makes of numbers
    /// and texts.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - contents: Whether contents are made up for a type that asks for named values or a list.
    /// - Returns: The samples, of which there may be none.
    static func of(_ type: Value.Type, contents: Bool = true) -> Samples {
        if let known = KnownSamples.of(type), let values = known.values as? [Value] {
            return Samples(type: known.type, values: values)
        }
        let shape = ValueShape()
        var values: [Value] = []
        if let cases = type as? any CaseIterable.Type { values = allCases(cases).compactMap { $0 as? Value } }
        // At least once, because what a type asks for says what column holds it.
        for number in 0..<attempts where number == 0 || values.count < 2 {
            // What a type refuses is no error: the next one is tried.
            guard
                case .success(let value) = Result(catching: {
                    try Value(from: ShapeDecoder(shape, number, contents: contents))
                })
            else {
                // One that asks for nothing simple will refuse all.
                if shape.type == .json { break }
                continue
            }
            let form = StoredForm.of(value)
            if !values.contains(where: { StoredForm.of($0) == form }) { values.append(value) }
            if shape.type == .json { break }
        }
        return Samples(type: shape.type ?? .json, values: values)
    }

    private static func allCases<Cases: CaseIterable>(_ type: Cases.Type) -> [Any] { Cases.allCases.map { $0 } }
}

/// The samples of types that have columns of their own.
private enum KnownSamples {
    static func of(_ type: Any.Type) -> (type: ColumnType, values: [Any])? {
        switch type {
        case is Bool.Type: (.bool, [false, true])
        case is String.Type: (.string, ["", "probe"])
        case is Double.Type: (.double, [0.0, 4_711.5])
        case is Float.Type: (.double, [Float(0), Float(4_711.5)])
        case is Decimal.Type: (.decimal, [Decimal(0), Decimal(4_711)])
        case is Date.Type: (.date, [Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 4_711)])
        case is Data.Type: (.bytes, [Data(), Data([1])])
        case is UUID.Type: (.string, [uuid("0"), uuid("1")])
        case is URL.Type: (.string, [URL(string: "probe:0"), URL(string: "probe:1")].compactMap { $0 })
        case is Day.Type: (.string, [Day("2000-01-01"), Day("2001-02-03")].compactMap { $0 })
        case is TimeOfDay.Type: (.string, [TimeOfDay("00:00"), TimeOfDay("01:02")].compactMap { $0 })
        case let type as any AttachmentName.Type: (.string, names(type))
        default: (type as? any FixedWidthInteger.Type).map { (.int64, numbers($0)) }
        }
    }

    private static func numbers<Number: FixedWidthInteger>(_ type: Number.Type) -> [Any] { [Number(0), Number(47)] }

    private static func names<Name: AttachmentName>(_ type: Name.Type) -> [Any] {
        ["a", "b"].compactMap { Name(fieldValue: .string($0)) }
    }

    private static func uuid(_ digit: String) -> Any {
        UUID(uuidString: "00000000-0000-4000-8000-00000000000\(digit)") ?? UUID()
    }
}
