/// The functions of both dialects.
enum ODataFunction: String, Sendable {
    case contains
    case substringof
    case startswith
    case endswith
    case tolower
    case toupper
    case trim
    case length
    case indexof
    case substring
    case concat
    case replace
    case year
    case month
    case day
    case hour
    case minute
    case second
    case date
    case ceiling
    case floor
    case round

    var argumentCounts: ClosedRange<Int> {
        switch self {
        case .contains, .substringof, .startswith, .endswith, .indexof, .concat: 2...2
        case .substring: 2...3
        case .replace: 3...3
        default: 1...1
        }
    }

    /// The function of a name in a dialect; names have any case under protocol 3.
    ///
    /// - Throws: A reason when there is no such function, or when the genuine server does not get far with it.
    static func named(
        _ name: String,
        in dialect: EmulatorConfiguration.Dialect,
        at position: Int
    ) throws(ODataError) -> ODataFunction {
        let known = dialect == .datasync ? name.lowercased() : name
        switch (dialect, known) {
        case (.datasync, "replace"), (.datasync, "totaloffsetminutes"):
            throw ODataError(reason: .serverFailure, message: "There is no function '\(name)'.", position: position)
        case (.datasync, _) where untranslatable.contains(known):
            throw ODataError(reason: .untranslatable, message: "No store knows '\(name)'.", position: position)
        case (.datasync, "substringof"), (.azureMobileApps, "date"): break
        default: if let function = ODataFunction(rawValue: known) { return function }
        }
        throw .syntax("An unknown function with name '\(name)' was found.", at: position)
    }

    /// Functions of OData that stores such as SQLite cannot translate.
    private static let untranslatable: Set = ["now", "time", "fractionalseconds", "matchespattern", "isof"]

    /// The function's value; null when an argument is null or of a kind the function does not take. A search for text in
    /// something else finds nothing.
    func value(_ arguments: [ODataValue]) -> ODataValue {
        switch self {
        case .year, .month, .day, .hour, .minute, .second: datePart(arguments[0])
        case .ceiling: Self.rounded(arguments[0], .up)
        case .floor: Self.rounded(arguments[0], .down)
        case .round: Self.rounded(arguments[0], .toNearestOrAwayFromZero)
        case .date: arguments[0].day.map { .day($0 * Timestamp.ticksPerDay) } ?? .null
        case .substring: substring(arguments)
        default: text(arguments)
        }
    }

    // MARK: Text, by bytes and counted in scalars; only the letters A to Z have a case, and only U+0020 is a space

    private func text(_ arguments: [ODataValue]) -> ODataValue {
        let texts = arguments.compactMap(\.text)
        guard texts.count == arguments.count else {
            // What is no text contains none; only of a null that cannot be said.
            return isMatch && !arguments.contains(where: \.isNull) ? .bool(false) : .null
        }
        switch self {
        case .contains: return .bool(Self.find(texts[1], in: texts[0]) != nil)
        case .substringof: return .bool(Self.find(texts[0], in: texts[1]) != nil)
        case .startswith: return .bool(texts[0].utf8.starts(with: texts[1].utf8))
        case .endswith: return .bool(texts[0].utf8.reversed().starts(with: texts[1].utf8.reversed()))
        case .tolower: return .string(Self.mapping(texts[0]) { (65...90).contains($0) ? $0 + 32 : $0 })
        case .toupper: return .string(Self.mapping(texts[0]) { (97...122).contains($0) ? $0 - 32 : $0 })
        case .trim: return .string(Self.trimmed(texts[0]))
        case .length: return .integer(Int64(texts[0].unicodeScalars.count))
        case .indexof: return .integer(Int64(Self.find(texts[1], in: texts[0]) ?? -1))
        case .concat:
            let length = texts[0].utf8.count + texts[1].utf8.count
            return length > Self.maximumLength ? .null : .string(texts[0] + texts[1])
        case .replace: return .string(Self.replace(texts[1], by: texts[2], in: texts[0]))
        default: return .null
        }
    }

    private var isMatch: Bool { [.contains, .substringof, .startswith, .endswith].contains(self) }

    private func substring(_ arguments: [ODataValue]) -> ODataValue {
        guard let text = arguments[0].text, case .integer(let start) = arguments[1], start >= 0 else { return .null }
        let rest = text.unicodeScalars.dropFirst(Int(clamping: start))
        guard arguments.count == 3 else { return .string(String(rest)) }
        guard case .integer(let length) = arguments[2], length >= 0 else { return .null }
        return .string(String(rest.prefix(Int(clamping: length))))
    }

    /// The most bytes of a text that a filter makes.
    private static let maximumLength = 16_777_216

    private static func mapping(_ text: String, _ transform: (UInt8) -> UInt8) -> String {
        String(decoding: text.utf8.map(transform), as: UTF8.self)
    }

    /// The position of a text in another, in scalars.
    private static func find(_ needle: String, in text: String) -> Int? {
        let needle = Array(needle.unicodeScalars)
        let text = Array(text.unicodeScalars)
        guard needle.count <= text.count else { return nil }
        return (0...text.count - needle.count).first { text[$0...].starts(with: needle) }
    }

    private static func replace(_ needle: String, by replacement: String, in text: String) -> String {
        guard !needle.isEmpty else { return text }
        let needle = Array(needle.unicodeScalars)
        var rest = Array(text.unicodeScalars)[...]
        var output = String.UnicodeScalarView()
        while let scalar = rest.first {
            if rest.starts(with: needle) {
                output.append(contentsOf: replacement.unicodeScalars)
                rest.removeFirst(needle.count)
            } else {
                output.append(scalar)
                rest.removeFirst()
            }
        }
        return String(output)
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.unicodeScalars.drop { $0 == " " }
        return String(String.UnicodeScalarView(start.reversed().drop { $0 == " " }.reversed()))
    }

    // MARK: Dates and numbers

    private func datePart(_ argument: ODataValue) -> ODataValue {
        let isClock = self == .hour || self == .minute || self == .second
        guard let ticks = argument.instant ?? (isClock ? argument.timeOfDay : nil) else { return .null }
        let fields = Timestamp.fields(ticks: ticks)
        switch self {
        case .year: return .integer(fields.year)
        case .month: return .integer(fields.month)
        case .day: return .integer(fields.day)
        case .hour: return .integer(fields.hour)
        case .minute: return .integer(fields.minute)
        default: return .integer(fields.second)
        }
    }

    private static func rounded(_ argument: ODataValue, _ rule: FloatingPointRoundingRule) -> ODataValue {
        switch argument {
        case .integer: argument
        case .double(let value): .double(value.rounded(rule))
        case .decimal(let value): value.rounded(rule).map(ODataValue.decimal) ?? .null
        default: .null
        }
    }
}
