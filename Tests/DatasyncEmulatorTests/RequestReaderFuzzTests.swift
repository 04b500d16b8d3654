import Foundation
import SeededNumbers
import Testing

@testable import DatasyncEmulator

/// The reader against bytes that nobody thought of.
struct RequestReaderFuzzTests {
    private static let limits = RequestLimits(requestLine: 100, fields: 200, body: 64)

    private static let requests = [
        "GET /tables/todoitem?$top=1 HTTP/1.1\r\nHost: a:80\r\nIf-Match: \"x\"\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\nX: y\r\n\r\nhello world",
        "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n06;x\r\n world\r\n0\r\nT: u\r\n\r\n",
        "PUT /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
        "PATCH http://b/c HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\n\n",
    ]

    /// Bytes that mean something to a reader, and any others.
    private static let tellingBytes = Array("\r\n :;,\t\0+-0123456789abcdefgxHTP/.*\u{7F}\u{e9}".utf8)

    /// Some requests one after the other, with a few bytes replaced, inserted, left out or doubled.
    private func bytes(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            bytes += Array(Self.requests.randomElement(using: &random)!.utf8)
        }
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            let byte =
                Bool.random(using: &random)
                ? Self.tellingBytes.randomElement(using: &random)! : .random(in: 0...255, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[index] = byte
            case 1: bytes.insert(byte, at: index)
            case 2: bytes.remove(at: index)
            case 3:
                let end = Int.random(in: index...bytes.count, using: &random)
                bytes.insert(contentsOf: bytes[index..<end], at: index)
            default: bytes.removeSubrange(index..<Int.random(in: index...bytes.count, using: &random))
            }
            if bytes.isEmpty { return bytes }
        }
        return bytes
    }

    @Test("what is read does not depend on how the bytes are cut into pieces")
    func pieces() async {
        var random = SeededGenerator(seed: SeededGenerator.seed())
        var refusals = 0
        for round in 0..<1_500 {
            // Lets the other tests get on.
            await Task.yield()
            let bytes = bytes(&random)
            let whole = RequestReaderTests.events(bytes, cutting: { $0 }, Self.limits)
            let single = RequestReaderTests.events(bytes, cutting: { _ in 1 }, Self.limits)
            let mixed = RequestReaderTests.events(
                bytes,
                cutting: { .random(in: 1...min($0, 40), using: &random) },
                Self.limits
            )
            let comment = "round \(round): \(String(decoding: bytes, as: UTF8.self).debugDescription)"
            #expect(whole == single && whole == mixed, Comment(rawValue: comment))
            if whole.last.map({ $0.first!.isNumber }) == true { refusals += 1 }
        }
        #expect((150..<1_350).contains(refusals), "the mutations neither break everything nor nothing")
    }

    @Test("every request that is accepted ends where a second look at its bytes says that it ends")
    func framing() async throws {
        var random = SeededGenerator(seed: SeededGenerator.seed())
        var accepted = 0
        for _ in 0..<1_500 {
            // Lets the other tests get on.
            await Task.yield()
            let bytes = bytes(&random)
            var reader = RequestReader(Self.limits)
            reader.append(bytes)
            var start = 0
            while let event = reader.next() {
                guard case .request(let request) = event else { continue }
                let text = bytes[start..<start + request.byteCount]
                let comment = Comment(rawValue: String(decoding: text, as: UTF8.self).debugDescription)
                try #require(SecondLook(Array(text)) == SecondLook(request), comment)
                start += request.byteCount
                accepted += 1
            }
            #expect(start <= bytes.count)
        }
        #expect(accepted > 750)
    }
}

/// What a request says, read in the plainest way from bytes that are known to be exactly one request; unlike the reader
/// it may take its time and give up.
private struct SecondLook: Equatable {
    var firstLine: String
    /// Without the Host, which a target may bring along.
    var fieldCount: Int
    var body: [UInt8]

    init(_ request: ReceivedRequest) {
        firstLine = request.head.line.text
        fieldCount = request.head.fields.filter { $0.name.lowercased() != "host" }.count
        body = request.body
    }

    init?(_ bytes: [UInt8]) {
        let lineBreak = Array("\r\n".utf8)
        let bytes = bytes.starts(with: lineBreak) ? Array(bytes.dropFirst(2)) : bytes
        guard let head = bytes.firstRange(of: lineBreak + lineBreak) else { return nil }
        let text = bytes[..<head.lowerBound]
        guard !text.contains(where: { ($0 < 0x20 && ![9, 10, 13].contains($0)) || $0 == 0x7F }) else { return nil }
        let lines = String(decoding: text, as: UTF8.self).components(separatedBy: "\r\n")
        guard !lines.contains(where: { $0.unicodeScalars.contains { $0 == "\r" || $0 == "\n" } }) else { return nil }
        let fields = lines.dropFirst().map { $0.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) }
        func values(_ name: String) -> [String] {
            fields.filter { $0[0].lowercased() == name }
                .map { $0.dropFirst().joined().trimmingCharacters(in: .whitespaces) }
        }
        firstLine = lines[0]
        fieldCount = fields.filter { $0[0].lowercased() != "host" }.count
        let rest = Array(bytes[head.upperBound...])
        switch (values("content-length"), values("transfer-encoding")) {
        case ([], []): body = []
        case (let lengths, []) where lengths.count == 1 && lengths[0].allSatisfy { "0123456789".contains($0) }:
            body = Array(rest.prefix(Int(lengths[0]) ?? 0))
        case ([], let codings) where codings.map { $0.lowercased() } == ["chunked"]:
            guard let whole = Self.withoutChunks(rest) else { return nil }
            body = whole
            return
        default: return nil
        }
        guard body.count == rest.count else { return nil }
    }

    private static func withoutChunks(_ bytes: [UInt8]) -> [UInt8]? {
        let lineBreak = Array("\r\n".utf8)
        var (rest, body) = (bytes[...], [UInt8]())
        while let end = rest.firstRange(of: lineBreak) {
            let line = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
            let digits = line.split(separator: ";", omittingEmptySubsequences: false)[0]
            guard digits.allSatisfy(\.isHexDigit), let size = Int(digits, radix: 16) else { return nil }
            rest = rest[end.upperBound...]
            guard size > 0 else {
                return rest.elementsEqual(lineBreak) || rest.suffix(4) == (lineBreak + lineBreak)[...] ? body : nil
            }
            body += rest.prefix(size)
            rest = rest.dropFirst(size)
            guard rest.starts(with: lineBreak) else { return nil }
            rest = rest.dropFirst(2)
        }
        return nil
    }
}
