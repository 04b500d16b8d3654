import SeededNumbers
import SyncContract
import Testing

@Suite("The JSON reader")
struct JSONReaderTests {
    /// What comes of a text: the value, as a text that tells kinds and spellings apart, or why it is none and where.
    private enum Outcome: Equatable {
        case value(String)
        case failure(String, Int)
    }

    private func read(_ bytes: [UInt8]) -> Outcome {
        do throws(JSONError) {
            return .value(described(try JSONNode(parsing: bytes)))
        } catch {
            return .failure(error.message, error.offset)
        }
    }

    private func readByReference(_ bytes: [UInt8]) -> Outcome {
        var parser = ReferenceJSONParser(bytes: bytes)
        do throws(ReferenceJSONParser.Failure) {
            return .value(described(try parser.document()))
        } catch {
            return .failure(error.message, error.offset)
        }
    }

    private func skipped(_ bytes: [UInt8]) -> (message: String, offset: Int)? {
        var reader = JSONReader(bytes)
        do throws(JSONError) {
            try reader.skip()
            try reader.end()
            return nil
        } catch {
            return (error.message, error.offset)
        }
    }

    private func described(_ node: JSONNode) -> String {
        switch node {
        case .null, .bool, .number: node.text
        case .string(let text): "\(Array(text.utf8))"
        case .array(let elements, let source):
            "[" + elements.map(described).joined(separator: ",") + "]\(source.startIndex)-\(source.endIndex)"
        case .object(let members, let source):
            "{" + members.map { "\(Array($0.name.utf8)):" + described($0.value) }.joined(separator: ",")
                + "}\(source.startIndex)-\(source.endIndex)"
        }
    }

    @Test("reads, skips and refuses random texts as the grammar says, and names the same places")
    func agreement() {
        let seed = SeededGenerator.seed()
        var texts = HostileJSON(seed: seed)
        for round in 0..<SeededGenerator.rounds(4_000, all: 200_000) {
            let bytes = texts.next()
            let expected = readByReference(bytes)
            #expect(read(bytes) == expected, "seed \(seed), round \(round): \(String(decoding: bytes, as: UTF8.self))")
            let failure = skipped(bytes)
            let isSame =
                if case .failure(let message, let offset) = expected {
                    failure?.message == message && failure?.offset == offset
                } else {
                    failure == nil
                }
            #expect(isSame, "seed \(seed), round \(round): \(String(decoding: bytes, as: UTF8.self))")
            #expect(JSONReader.isValid(bytes) == (failure == nil))
        }
    }

    @Test("takes a name only when it is spelled in the very same way")
    func spelling() throws {
        let spelling = Array(#""text""#.utf8)
        for (text, isSpelled) in [
            (#"{ "text" : 1}"#, true), (#"{"text":1}"#, true), (#"{"texts":1}"#, false), (#"{"t\u0065xt":1}"#, false),
            (#"{"tex":1}"#, false), (#"{"#, false),
        ] {
            var reader = JSONReader(Array(text.utf8))
            _ = try reader.kind()
            _ = try reader.beginObject()
            #expect(try reader.name(ifSpelled: spelling) == isSpelled, "\(text)")
            if isSpelled { #expect(try reader.kind() == .number) }
        }
        var reader = JSONReader(Array(#"{"text" 1}"#.utf8))
        _ = try reader.kind()
        _ = try reader.beginObject()
        #expect(throws: JSONError.self) { try reader.name(ifSpelled: spelling) }
    }

    @Test("skips to the very depth that it reads to", arguments: [256, 257])
    func depth(_ levels: Int) {
        let bytes = Array((String(repeating: "[", count: levels) + String(repeating: "]", count: levels)).utf8)
        #expect(JSONReader.isValid(bytes) == (levels == 256))
    }
}
