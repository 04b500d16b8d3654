/// Cuts the text of a query option into tokens, with a dialect's literals.
struct ODataTokenizer {
    enum Token: Equatable {
        case identifier(String)
        case literal(ODataValue)
        case open
        case close
        case comma
        case minus
        case end
    }

    struct Positioned: Equatable {
        let token: Token
        let position: Int
        /// Where the next byte is.
        let end: Int
    }

    private let bytes: [UInt8]
    private let dialect: EmulatorConfiguration.Dialect
    private var position = 0

    private init(_ text: String, _ dialect: EmulatorConfiguration.Dialect) {
        bytes = Array(text.utf8)
        self.dialect = dialect
    }

    /// All tokens, the last being `end`.
    static func tokens(
        of text: String,
        _ dialect: EmulatorConfiguration.Dialect
    ) throws(ODataError) -> [Positioned] {
        var tokenizer = ODataTokenizer(text, dialect)
        var tokens: [Positioned] = []
        repeat {
            tokenizer.skipSpace()
            let start = tokenizer.position
            let token = try tokenizer.next()
            tokens.append(Positioned(token: token, position: start, end: tokenizer.position))
        } while tokens.last?.token != .end
        return tokens
    }

    private mutating func next() throws(ODataError) -> Token {
        guard let byte = peek else { return .end }
        if let length = guidLength { return .literal(.guid(take(length).lowercased())) }
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","):
            position += 1
            return byte == UInt8(ascii: "(") ? .open : byte == UInt8(ascii: ")") ? .close : .comma
        case UInt8(ascii: "'"): return .literal(.string(try quoted()))
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return .literal(try number())
        case UInt8(ascii: "-"):
            if position + 1 < bytes.count, Self.isDigit(bytes[position + 1]) { return .literal(try number()) }
            position += 1
            guard isNext("INF") else { return .minus }
            position += 3
            return .literal(.double(-.infinity))
        case UInt8(ascii: "$") where isNext("$it/"):
            position += 4
            return try word()
        case _ where Self.isLetter(byte): return try word()
        default: throw .syntax("Syntax error", at: position)
        }
    }

    // MARK: Words and quoted literals

    private mutating func word() throws(ODataError) -> Token {
        let start = position
        let name = take(run { Self.isLetter($0) || Self.isDigit($0) || $0 == UInt8(ascii: ".") })
        guard peek == UInt8(ascii: "'") else { return keyword(name) }
        let quote = position
        let content = try quoted()
        guard dialect == .azureMobileApps else { throw .syntax("Unrecognized literal '\(name)'", at: start) }
        switch name {
        case "datetime", "datetimeoffset":
            guard let ticks = Timestamp.ticks(isoText: content, requiresZone: true) else {
                throw .syntax("Invalid '\(name)' type creation expression", at: quote)
            }
            // The servers that know this form keep milliseconds only.
            return .literal(.instant(Timestamp.wholeMilliseconds(ticks)))
        case "guid": return .literal(.guid(content.lowercased()))
        case "time":
            guard let ticks = Timestamp.timeOfDayTicks(content) else {
                throw .syntax("Invalid 'time' type creation expression", at: quote)
            }
            return .literal(.time(ticks))
        default: throw .syntax("Syntax error", at: start)
        }
    }

    private func keyword(_ name: String) -> Token {
        switch name {
        case "null": .literal(.null)
        case "true": .literal(.bool(true))
        case "false": .literal(.bool(false))
        case "NaN" where dialect == .datasync: .literal(.double(.nan))
        case "INF" where dialect == .datasync: .literal(.double(.infinity))
        default: .identifier(name)
        }
    }

    private mutating func quoted() throws(ODataError) -> String {
        let start = position
        position += 1
        var content: [UInt8] = []
        while let byte = peek {
            position += 1
            if byte == UInt8(ascii: "'") {
                guard peek == byte else { return String(decoding: content, as: UTF8.self) }
                position += 1
            }
            content.append(byte)
        }
        throw .syntax("Unterminated string literal", at: start)
    }

    // MARK: Numbers, dates and identifiers of rows

    private mutating func number() throws(ODataError) -> ODataValue {
        let start = position
        let lead = peek == UInt8(ascii: "-") ? 1 : 0
        let text = take(
            lead + run(from: position + lead) { Self.isLetter($0) || Self.isDigit($0) || ".:+-".utf8.contains($0) }
        )
        if let value = Self.number(text) { return value }
        if let instant = instant(text) { return instant }
        if let ticks = Timestamp.timeOfDayTicks(text) { return .time(ticks) }
        throw .syntax("Invalid literal", at: start)
    }

    private func instant(_ text: String) -> ODataValue? {
        guard dialect == .datasync else { return Timestamp.ticks(isoText: text).map(ODataValue.instant) }
        if text.utf8.count == 10 { return Timestamp.ticks(isoText: text).map(ODataValue.day) }
        guard !text.utf8.contains(where: { "tz".utf8.contains($0) }) else { return nil }
        return Timestamp.ticks(isoText: text, requiresZone: true).map(ODataValue.instant)
    }

    private static func number(_ text: String) -> ODataValue? {
        var digits = text[...]
        var isWhole = digits.dropFirst(digits.first == "-" ? 1 : 0).utf8.allSatisfy(isDigit)
        if let suffix = digits.last, "LlfFdDmM".contains(suffix) {
            digits.removeLast()
            if suffix == "M" || suffix == "m" { return ODataDecimal(digits).map(ODataValue.decimal) }
            isWhole = suffix == "L" || suffix == "l"
        }
        guard digits.utf8.allSatisfy({ isDigit($0) || ".eE+-".utf8.contains($0) }) else { return nil }
        if isWhole, let value = Int64(digits) { return .integer(value) }
        guard let value = Double(digits), value.isFinite else { return nil }
        return .double(value)
    }

    /// 36 when a bare guid begins here and nothing that could belong to it follows.
    private var guidLength: Int? {
        guard position + 36 <= bytes.count else { return nil }
        for (index, byte) in bytes[position..<position + 36].enumerated() {
            let isDash = [8, 13, 18, 23].contains(index)
            guard isDash ? byte == UInt8(ascii: "-") : Character(UnicodeScalar(byte)).isHexDigit else { return nil }
        }
        guard position + 36 < bytes.count else { return 36 }
        let next = bytes[position + 36]
        return Self.isLetter(next) || Self.isDigit(next) || next == UInt8(ascii: "-") ? nil : 36
    }

    // MARK: Bytes

    private var peek: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private func isNext(_ text: String) -> Bool {
        bytes[position...].starts(with: text.utf8)
    }

    private mutating func skipSpace() {
        while peek == 0x20 || peek == 0x09 { position += 1 }
    }

    private func run(from start: Int? = nil, _ belongs: (UInt8) -> Bool) -> Int {
        bytes[(start ?? position)...].prefix(while: belongs).count
    }

    private mutating func take(_ count: Int) -> String {
        defer { position += count }
        return String(decoding: bytes[position..<position + count], as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || byte == UInt8(ascii: "_") || byte >= 0x80
    }
}
