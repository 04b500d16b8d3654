internal import SyncContract

/// The values that random rows and queries are made of: few enough to meet each other often.
package struct ValuePool: Sendable {
    let texts: [String]
    let integers: [Int64]
    let doubles: [Double]
    let decimals: [String]
    let dates: [Int64]
    let blobs: [[UInt8]]
    let jsons: [String]

    /// Whether queries may have what only stores take: a NaN among their values, and folded text.
    let isLocal: Bool

    /// Whatever a store keeps.
    package static let everything = ValuePool(
        texts: texts,
        integers: integers + [.max, .min, .max - 1, 1 << 53 + 1, -(1 << 53) - 1, 1 << 60, 9_007_199_254_740_993],
        doubles: doubles + [.infinity, -.infinity, 0x1p60, .greatestFiniteMagnitude],
        decimals: decimals + [
            "9007199254740993", "123456789012345678901234567890.123456789", "1e400", "-1e400", "1e-400", "1E+99",
            "1e-100", "9223372036854775807", "9223372036854775808", "1152921504606846976", "99999999999999999999e80",
            "0.3333333333333333333333333333333333", "1e-60", "-7e60", "0." + String(repeating: "0", count: 110) + "1",
            String(repeating: "9", count: 100), "1" + String(repeating: "0", count: 120), "1e99999999999999999999",
        ],
        dates: dates + [.min, .max],
        blobs: [[], [0], [0, 0], [1], [255], [97], [97, 0, 98]],
        jsons: ["null", "1", "{}", "[1, 2]", "{\"a\":\"b\"}", "\"x\""],
        isLocal: true
    )

    /// What can be sent to a server and comes back as it was; whole numbers of 64 bits too, when the server keeps them.
    package static func wire(wholeNumbers: Bool) -> ValuePool {
        ValuePool(
            texts: texts,
            integers: wholeNumbers ? integers + [.max, .min, 1 << 53 + 1, 1 << 60] : integers,
            doubles: doubles,
            decimals: decimals,
            dates: dates,
            blobs: [],
            jsons: [],
            isLocal: false
        )
    }

    private static let texts = [
        "", "a", "A", "b", "B", "ab", "Ab", "aB", "é", "e\u{301}", "É", "a\0b", "a\0c", "A\0B", "z", "_", "[", "Z",
        "日本", "😀", "%", "'", "\"", "a%b", "ß", "\u{FEFF}a", "10", "9", "1e1", " a ", "  ", "\t", "\u{A0}a",
        "a😀b", "😀😀", "\u{10FFFF}", "\u{D7FF}", "\u{E000}", "a\u{10FFFF}", "👩‍👩‍👧", "\\", "(", "null",
    ]
    private static let integers: [Int64] = [0, 1, -1, 2, 3, -3, 10, 100, 7, 1 << 53, -(1 << 53), 2026, 12]
    private static let doubles: [Double] = [
        0, -0.0, 1, -1, 0.1, 0.2, 0.30000000000000004, 1e300, -1e300, .leastNonzeroMagnitude, 9_007_199_254_740_992,
        2, 10, 1e-7, 9.223372036854775807e18, .leastNormalMagnitude, 0.5, -0.5, 2.5, -2.5, 1.5, 0.49999999999999994,
    ]
    private static let decimals = [
        "0", "-0", "0.0", "1", "1.0", "1.00", "1e0", "10", "1e1", "0.1", "0.10", "-1", "-1.5", "0.30000000000000004",
        "2.50", "0.2", "3", "7", "-2.5", "0.5", "-0.5", "99.95", "0.001",
    ]
    /// Leap days, the days before 1970 and the first and last that servers know.
    private static let dates: [Int64] = [
        0, 1, -1, 1_700_000_000_000, 253_402_300_799_999, -1_000, -86_400_001, 951_782_400_000, -62_135_596_800_000,
        1_709_251_199_999, -2_203_891_200_000,
    ]
}
