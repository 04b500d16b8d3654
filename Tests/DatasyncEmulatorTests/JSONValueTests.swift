import Foundation
import SeededNumbers
import Testing

@testable import DatasyncEmulator

struct JSONValueTests {
    @Test(
        "a value survives being written and read",
        arguments: [
            nil, true, false, 0, -1, 9_007_199_254_740_993, .integer(.max), .integer(.min), 0.1, 1e-7, 1.5e300,
            .double(.leastNonzeroMagnitude),
            "", "\u{0}\u{1f}\"\\/\n\r\t\u{7f}", "日本 😀 e\u{301}", [], [1, [2, nil]], [:], ["a": ["b": [true]], "": 1],
        ] as [JSONValue]
    )
    func roundTrip(value: JSONValue) throws {
        #expect(try JSONValue(parsing: value.encoded) == value)
    }

    @Test("escapes are read, lone surrogates replaced, the last of two members counts")
    func reading() throws {
        #expect(try JSONValue(parsing: Data(#""\u00e9\ud83d\ude00\ud83d\/""#.utf8)) == "é😀\u{fffd}/")
        #expect(try JSONValue(parsing: Data(#" {"a":1 , "a" : 2} "#.utf8)) == ["a": 2])
        #expect(try JSONValue(parsing: Data("12345678901234567890".utf8)) == 12_345_678_901_234_567_890.0)
    }

    @Test("no damaged text crashes the reader")
    func damage() {
        let seed = SeededGenerator.seed()
        var generator = SeededGenerator(seed: seed)
        let sample = Array(#"{"id":"a\u00e9","n":[-1.5e3,true,null],"o":{"x":"é"}}"#.utf8)
        var refused = 0
        for _ in 0..<20_000 {
            var bytes = sample
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(
                    in: .min ... .max,
                    using: &generator
                )
            }
            if Bool.random(using: &generator) { bytes.removeLast(Int.random(in: 1..<bytes.count, using: &generator)) }
            do {
                let value = try JSONParser.parse(bytes)
                #expect((try? JSONParser.parse(value.encoded)) == value, "seed \(seed)")
            } catch {
                refused += 1
            }
        }
        #expect(refused > 0, "seed \(seed)")
    }

    @Test(
        "dates are formatted and read without the machine's calendar",
        arguments: [0, 951_782_400_123, -1, 1_724_444_574_291, 253_402_300_799_999]
    )
    func dates(milliseconds: Int64) {
        let text = Timestamp.text(milliseconds: milliseconds)
        #expect(Timestamp.ticks(isoText: text) == milliseconds * Timestamp.ticksPerMillisecond)
        let http = Timestamp.httpText(milliseconds: milliseconds)
        #expect(
            Timestamp.ticks(httpText: http) == (milliseconds < 0 ? milliseconds - 999 : milliseconds / 1_000 * 1_000)
                * Timestamp.ticksPerMillisecond
        )
        if milliseconds == 951_782_400_123 {
            #expect(text == "2000-02-29T00:00:00.123Z" && http == "Tue, 29 Feb 2000 00:00:00 GMT")
        }
    }
}
