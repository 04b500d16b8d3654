import SeededNumbers

/// Texts that are JSON, nearly JSON, or have no more than its characters; the same ones for a seed.
struct HostileJSON {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// The next one.
    mutating func next() -> [UInt8] {
        if generator.next() % 8 == 0 { return noise() }
        var bytes: [UInt8] = []
        append(to: &bytes, levels: Int(generator.next() % 5))
        // Half of them are left as they are.
        for _ in 0..<(generator.next() % 2 == 0 ? 0 : 1 + generator.next() % 3) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &generator)
            switch generator.next() % 4 {
            case 0: bytes.remove(at: index)
            case 1: bytes[index] = UInt8(truncatingIfNeeded: generator.next())
            case 2: bytes.insert(Self.alphabet.randomElement(using: &generator) ?? 0, at: index)
            default: bytes.removeSubrange(index...)
            }
        }
        return bytes
    }

    private static let alphabet = Array("{}[]\",:\\/u0129aFeE+-. \n\t\u{8}trufalsn\u{E9}😀".utf8)

    private static let strings = [
        "", "a", "text", #"\""#, #"\\"#, #"\/\b\f\n\r\t"#, #"\u0041\u00e9"#, #"\ud83d\ude00"#, #"\ud83d"#, #"\ude00x"#,
        #"\ud83d\u0041"#, #"\u000"#, #"\x"#, #"\ud83d\u12"#, "é", "日本 😀", "\u{7F}", "\t", "\u{0}", "e\u{301}",
    ]

    private static let numbers = [
        "0", "-0", "7", "-12", "123456789012345678901234567890", "1.5", "-0.25e-7", "1E+9", "1e999", "01", "1.", ".5",
        "-",
        "1e", "+1", "1.e5", "1-2", "0x1", "00", "1e+", "1ee5", "--1",
    ]

    private mutating func noise() -> [UInt8] {
        (0..<Int(generator.next() % 24)).map { _ in Self.alphabet.randomElement(using: &generator) ?? 0 }
    }

    private mutating func append(to bytes: inout [UInt8], levels: Int) {
        space(&bytes)
        switch generator.next() % (levels > 0 ? 9 : 6) {
        case 0: bytes += Array(["null", "true", "false", "nul", "True"].randomElement(using: &generator)!.utf8)
        case 1, 2: bytes += Array(Self.numbers.randomElement(using: &generator)!.utf8)
        case 3, 4, 5: string(&bytes)
        case 6:
            bytes.append(UInt8(ascii: "["))
            for index in 0..<generator.next() % 4 {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                append(to: &bytes, levels: levels - 1)
            }
            bytes.append(UInt8(ascii: "]"))
        default:
            bytes.append(UInt8(ascii: "{"))
            for index in 0..<generator.next() % 4 {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                space(&bytes)
                string(&bytes)
                space(&bytes)
                bytes.append(UInt8(ascii: ":"))
                append(to: &bytes, levels: levels - 1)
            }
            bytes.append(UInt8(ascii: "}"))
        }
        space(&bytes)
    }

    private mutating func string(_ bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for _ in 0..<generator.next() % 3 { bytes += Array(Self.strings.randomElement(using: &generator)!.utf8) }
        if generator.next() % 20 == 0 { bytes += [0xC3] }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func space(_ bytes: inout [UInt8]) {
        if generator.next() % 6 == 0 {
            bytes += Array([" ", "\n", "\t\r ", "\u{A0}"].randomElement(using: &generator)!.utf8)
        }
    }
}
