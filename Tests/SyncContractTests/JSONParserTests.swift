import SeededNumbers
import SyncContract
import Testing

@Suite("The JSON parser")
struct JSONParserTests {
    @Test(
        "takes what RFC 8259 allows",
        arguments: [
            "null", "true", "false", "0", "-0", "12", "-3.25", "1e9", "1E+9", "1.5e-10", "\"\"", "[]", "{}", " [ ] ",
            "\t{\r\n}\t", "[1,2,3]", "[[],[[]],{}]", #"{"a":1,"a":2}"#, #"{"":null}"#, #"[null,true,"x",{"y":[0.1]}]"#,
            #""\"\\\/\b\f\n\r\t\u0041""#, #""\ud83d\ude00""#, #""\uD83D\uDE00""#, #""\u0000""#, "\"\u{7F}\"",
            "\"caf\u{E9} 日本 😀\"", "123456789012345678901234567890", "1e999",
        ]
    )
    func valid(_ text: String) throws {
        _ = try JSONNode(parsing: text.utf8)
        #expect(JSONText(text)?.text == text)
    }

    @Test(
        "refuses everything else",
        arguments: [
            "", " ", "nul", "nulll", "True", "NaN", "Infinity", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "0x10",
            "1_000", "1 2", "[", "]", "[1", "[1,]", "[,1]", "[1 2]", "{", "}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
            "{a:1}", "{'a':1}", "{1:1}", "{\"a\":1 \"b\":2}", "{,}", "\"", "\"abc", "\"\\\"", "\"\\x\"", "\"\\u12\"",
            "\"\\u12G4\"", "\"\t\"", "\"\n\"", "'a'", "// comment\n1", "/**/1", "1;", "\u{FEFF}1", "\u{A0}1", "[1}",
            "{\"a\":1]", "\"\\", "\"\\u", "tru", "nullx", "1true",
        ]
    )
    func invalid(_ text: String) {
        #expect(throws: JSONError.self) { try JSONNode(parsing: text.utf8) }
        #expect(JSONText(text) == nil)
    }

    @Test(
        "takes half a surrogate pair for the replacement character, and what follows for itself",
        arguments: [
            (#""\ud83d""#, "\u{FFFD}"), (#""\ude00""#, "\u{FFFD}"), (#""\ud83dx""#, "\u{FFFD}x"),
            (#""\ud83d\n""#, "\u{FFFD}\n"), (#""\ud83d\u0041""#, "\u{FFFD}A"),
            (#""\ude00\ud83d""#, "\u{FFFD}\u{FFFD}"), (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"),
        ]
    )
    func surrogates(_ row: (text: String, expected: String)) throws {
        #expect(try JSONNode(parsing: row.text.utf8).stringValue == row.expected)
    }

    @Test("refuses an escape that is cut short behind half a surrogate pair")
    func cutSurrogate() {
        #expect(throws: JSONError.self) { try JSONNode(parsing: #""\ud83d\u""#.utf8) }
    }

    @Test(
        "refuses invalid UTF-8",
        arguments: [
            [0x80], [0xC3], [0xC3, 0x28], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF],
        ]
    )
    func invalidUTF8(_ bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        #expect(throws: JSONError.self) { try JSONNode(parsing: [quote] + bytes + [quote]) }
        #expect(throws: JSONError.self) { try JSONNode(parsing: bytes) }
    }

    @Test("decodes escapes")
    func escapes() throws {
        let node = try JSONNode(parsing: #""\"\\\/\b\f\n\r\t\u0041\u00e9\u65e5\ud83d\ude00\u0000""#.utf8)
        #expect(
            node.stringValue.map { Array($0.unicodeScalars) } == Array("\"\\/\u{8}\u{C}\n\r\tAé日😀\0".unicodeScalars)
        )
    }

    @Test("takes 256 levels and refuses 257, however they are nested", arguments: ["[", "{\"a\":"])
    func depth(_ opening: String) throws {
        let closing = opening == "[" ? "]" : "}"
        func nested(_ levels: Int) -> String {
            String(repeating: opening, count: levels) + "1" + String(repeating: closing, count: levels)
        }
        _ = try JSONNode(parsing: nested(256).utf8)
        #expect(throws: JSONError.self) { try JSONNode(parsing: nested(257).utf8) }
        #expect(throws: JSONError.self) { try JSONNode(parsing: String(repeating: opening, count: 1_000_000).utf8) }
        // Levels that were closed again do not count.
        _ = try JSONNode(parsing: ("[" + String(repeating: "[],", count: 1_000) + "[]]").utf8)
    }

    @Test("names the place of an error in bytes")
    func offset() {
        #expect(throws: JSONError.self) { try JSONNode(parsing: "[1,x]".utf8) }
        do {
            _ = try JSONNode(parsing: #"["é",x]"#.utf8)
            Issue.record("x is no value")
        } catch {
            #expect(error.offset == 6)
        }
    }

    @Test("keeps numbers and nested values byte for byte")
    func fidelity() throws {
        let node = try JSONNode(parsing: #" { "n" : 1.10 , "v" : [ 1 , {"x":2} ] , "e" : 1E+2 } "#.utf8)
        #expect(node["n"]?.text == "1.10")
        #expect(node["v"]?.text == #"[ 1 , {"x":2} ]"#)
        #expect(node["v"]?.elements?.last?.text == #"{"x":2}"#)
        #expect(node["e"]?.text == "1E+2")
        #expect(node.text == #"{ "n" : 1.10 , "v" : [ 1 , {"x":2} ] , "e" : 1E+2 }"#)
    }

    @Test("finds the last of several members with one name, and tells kinds apart")
    func access() throws {
        let node = try JSONNode(parsing: #"{"a":1,"a":2,"s":"t","big":9223372036854775808,"half":0.5}"#.utf8)
        #expect(node["a"]?.int64Value == 2)
        #expect(node["s"]?.stringValue == "t")
        #expect(node["s"]?.int64Value == nil)
        #expect(node["big"]?.int64Value == nil)
        #expect(node["half"]?.int64Value == nil)
        #expect(node["missing"] == nil)
        #expect(node["s"]?["a"] == nil)
        #expect(node.elements == nil)
    }

    @Test("reads back every string that the writer quotes")
    func quoting() throws {
        let scalars =
            (0..<0x3000).compactMap { Unicode.Scalar(UInt32($0)) } + ["\u{2028}", "\u{FFFF}", "😀", "\u{10FFFF}"]
        for scalar in scalars {
            let text = "a" + String(Character(scalar)) + "\"\\"
            let node = try JSONNode(parsing: JSONText.quoted(text).utf8)
            #expect(node.stringValue?.utf8.elementsEqual(text.utf8) == true, "U+\(String(scalar.value, radix: 16))")
        }
    }

    @Test("random bytes are parsed or refused, never more")
    func randomBytes() {
        let seed = SeededGenerator.seed()
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("{}[]\",:\\u0129eE+-. \ntrufalsn\u{E9}".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...24, using: &generator))
                .map { _ in
                    alphabet.randomElement(using: &generator)!
                }
            do throws(JSONError) {
                let node = try JSONNode(parsing: bytes)
                #expect(JSONText(node.text) != nil, "seed \(seed)")
            } catch {
                #expect((0...bytes.count).contains(error.offset), "seed \(seed)")
            }
        }
    }
}
