/// The table of ``TextFoldingData``, laid out to be looked things up in.
struct TextFoldingTable: Sendable {
    /// What a scalar folds to.
    enum Mapping {
        case itself
        case scalar(Unicode.Scalar)
        case scalars(ArraySlice<Unicode.Scalar>)
    }

    /// What a scalar is to words.
    enum WordClass: UInt32 {
        /// Between words.
        case separator = 0
        /// A letter, mark or digit.
        case word = 1
        /// The same, in a script that has no spaces between words.
        case unspaced = 2
    }

    static let shared = TextFoldingTable()

    /// Per scalar: 0 for itself, a target, or with the highest bit set the place (upper 23) and number (lower 8 bits)
    /// of several.
    private var mappings = ScalarMap(0)
    private var orders = ScalarMap(0)
    private var wordClasses = ScalarMap(WordClass.word.rawValue)
    private var targets: [Unicode.Scalar] = []

    private init() {
        for token in TextFoldingData.mappings.tokens {
            if token.isRising {
                for index in 0..<token.count {
                    mappings[token.first + index * token.step] = token.values[0] + index * token.step
                }
            } else if token.values.count == 1 {
                mappings.fill(token.first, token.count, token.values[0])
            } else {
                let place = UInt32(targets.count) << 8 | UInt32(token.values.count)
                mappings.fill(token.first, token.count, 1 << 31 | place)
                targets += token.values.compactMap { Unicode.Scalar($0) }
            }
        }
        for token in TextFoldingData.orders.tokens { orders.fill(token.first, token.count, token.values[0]) }
        for token in TextFoldingData.wordClasses.tokens { wordClasses.fill(token.first, token.count, token.values[0]) }
    }

    func mapping(of scalar: Unicode.Scalar) -> Mapping {
        let entry = mappings[scalar.value]
        if entry == 0 { return .itself }
        if entry >> 31 == 0, let target = Unicode.Scalar(entry) { return .scalar(target) }
        let start = Int(entry >> 8 & 0x7F_FFFF)
        return .scalars(targets[start..<start + Int(entry & 0xFF)])
    }

    /// The canonical combining class of a mark that stays when text is folded; 0 for everything else.
    func order(of scalar: Unicode.Scalar) -> UInt8 { UInt8(truncatingIfNeeded: orders[scalar.value]) }

    func wordClass(of scalar: Unicode.Scalar) -> WordClass { WordClass(rawValue: wordClasses[scalar.value]) ?? .word }
}

/// A number for every scalar; blocks of 256 exist where one differs from the default.
private struct ScalarMap: Sendable {
    private let defaultValue: UInt32
    private var blocks: [UInt16] = Array(repeating: 0, count: 0x1100)
    private var entries: [UInt32]

    init(_ defaultValue: UInt32) {
        self.defaultValue = defaultValue
        entries = Array(repeating: defaultValue, count: 256)
    }

    subscript(scalar: UInt32) -> UInt32 {
        get { entries[Int(blocks[Int(scalar >> 8)]) << 8 | Int(scalar & 0xFF)] }
        set {
            if blocks[Int(scalar >> 8)] == 0 {
                blocks[Int(scalar >> 8)] = UInt16(entries.count >> 8)
                // A slice of the entries themselves would have them all copied, block after block.
                entries += repeatElement(defaultValue, count: 256)
            }
            entries[Int(blocks[Int(scalar >> 8)]) << 8 | Int(scalar & 0xFF)] = newValue
        }
    }

    mutating func fill(_ first: UInt32, _ count: UInt32, _ value: UInt32) {
        for scalar in first..<first + count { self[scalar] = value }
    }
}

/// One entry of the data: see there.
private struct Token {
    var first: UInt32 = 0
    var count: UInt32 = 1
    var step: UInt32 = 1
    var isRising = false
    var values: [UInt32] = []

    init(_ text: Substring.UTF8View) {
        let parts = text.split(omittingEmptySubsequences: true) { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ">") }
        isRising = text.contains(UInt8(ascii: ">"))
        let head = parts[0].split(separator: UInt8(ascii: ",")).map(Self.number)
        first = head[0]
        if head.count > 1 { count = head[1] }
        if head.count > 2 { step = head[2] }
        if parts.count > 1 { values = parts[1].split(separator: UInt8(ascii: "+")).map(Self.number) }
    }

    private static func number(_ digits: Substring.UTF8View) -> UInt32 {
        digits.reduce(0) { $0 << 4 | UInt32($1 < 58 ? $1 - 48 : $1 - 55) }
    }
}

extension String {
    fileprivate var tokens: [Token] {
        utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }.map(Token.init)
    }
}
