import Foundation
import Testing

@testable import DatasyncEmulator

/// What the reader of requests sees in bytes, in however many pieces they come.
struct RequestReaderTests {
    static let limits = RequestLimits(requestLine: 64, fields: 128, body: 32)

    /// The events of bytes in one line each, fed in pieces of a size.
    static func events(_ text: String, pieces: Int, _ limits: RequestLimits = limits) -> [String] {
        events(Array(text.utf8), cutting: { min(pieces, $0) }, limits)
    }

    static func events(_ bytes: [UInt8], cutting: (Int) -> Int, _ limits: RequestLimits) -> [String] {
        var reader = RequestReader(limits)
        var rest = bytes[...]
        var events: [String] = []
        while true {
            while let event = reader.next() { events.append(describe(event)) }
            guard !rest.isEmpty else { return events }
            let count = cutting(rest.count)
            reader.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
    }

    private static func describe(_ event: RequestReader.Event) -> String {
        switch event {
        case .request(let request):
            let head = request.head
            let fields = head.fields.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
            let body = String(decoding: request.body, as: UTF8.self)
            let end = head.isPersistent ? "stays" : "ends"
            return "\(head.line.method) \(head.line.target) [\(fields)] '\(body)' \(end)"
        case .streamed(let head): return "\(head.line.method) \(head.line.target) streams"
        case .continueIsExpected: return "continue"
        case .refusal(let refusal, _): return "\(refusal.status) \(refusal.reason)"
        }
    }

    private func expect(_ text: String, _ expected: [String], _ limits: RequestLimits = Self.limits) {
        for pieces in [Int.max, 1, 2, 3, 7] {
            let events = Self.events(text, pieces: pieces, limits)
            #expect(events == expected, "in pieces of \(pieces): \(text.debugDescription)")
        }
    }

    @Test(
        "requests as they should be",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", ["GET / [Host=a] '' stays"]),
            ("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", ["GET / [Host=a] '' stays"]),
            ("GET /a%2Fb?x=%20&y HTTP/1.1\r\nhOST:\r\n\r\n", ["GET /a%2Fb?x=%20&y [hOST=] '' stays"]),
            ("odd|Method / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", ["odd|Method / [Host=[::1]:80] '' stays"]),
            ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", ["OPTIONS * [Host=a] '' stays"]),
            ("GET http://b:1/x?y HTTP/1.1\r\nHost: a\r\n\r\n", ["GET /x?y [Host=b:1] '' stays"]),
            ("GET HTTPS://b?y HTTP/1.1\r\nHost: a\r\n\r\n", ["GET /?y [Host=b] '' stays"]),
            ("GET / HTTP/1.0\r\n\r\n", ["GET / [] '' ends"]),
            ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", ["GET / [Connection=Keep-Alive] '' stays"]),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: x, close\r\n\r\n",
                ["GET / [Host=a|Connection=x, close] '' ends"]
            ),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nX: \t b c\t\r\nX:d\r\nx: é\r\n\r\n",
                ["GET / [Host=a|X=b c|X=d|x=é] '' stays"]
            ),
            (
                "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 003\r\n\r\nabc",
                ["PUT / [Host=a|Content-Length=003] 'abc' stays"]
            ),
            (
                "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
                    + "3;x=\"y\"\r\nabc\r\n0a\r\n0123456789\r\n00\r\nTrailer: x\r\n\r\n",
                ["PUT / [Host=a|Transfer-Encoding=Chunked] 'abc0123456789' stays"]
            ),
            (
                "PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\nx",
                ["continue", "PUT / [Host=a|Expect=100-Continue|Content-Length=1] 'x' stays"]
            ),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n",
                ["GET / [Host=a|Expect=100-continue] '' stays"]
            ),
            (
                "GET / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
                ["GET / [Expect=100-continue|Content-Length=1] 'x' ends"]
            ),
            (
                "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPUT /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nxGET /3 HTTP/1.0\r\n\r\n",
                [
                    "GET /1 [Host=a] '' stays", "PUT /2 [Host=a|Content-Length=1] 'x' stays",
                    "GET /3 [] '' ends",
                ]
            ),
        ]
    )
    func accepted(_ text: String, _ expected: [String]) {
        expect(text, expected)
        var reader = RequestReader(Self.limits)
        reader.append(text.utf8)
        var byteCount = 0
        while let event = reader.next() {
            if case .request(let request) = event { byteCount += request.byteCount }
        }
        #expect(byteCount == text.utf8.count, "no byte is left over or counted twice")
    }

    @Test(
        "requests that are not whole are waited for",
        arguments: [
            "", "\r", "\r\n", "G", "GET / HTTP/1.1", "GET / HTTP/1.1\r", "GET / HTTP/1.1\r\nHost: a\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\r", "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx",
            "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n",
        ]
    )
    func unfinished(_ text: String) {
        expect(text, [])
    }

    /// Request lines, and what is refused about each.
    private static let lines = [
        ("\r\n\r\n", 400), (" GET / HTTP/1.1\r\n", 400), ("\n", 400), ("\u{16}\u{3}\u{1}", 400), ("\0", 400),
        ("GET / HTTP/1.1\n", 400), ("GET /\r HTTP/1.1\r\n", 400), ("GET /\r\n", 400), ("GET\r\n", 400),
        ("GET  / HTTP/1.1\r\n", 400), ("GET / HTTP/1.1 \r\n", 400), ("GET /a b HTTP/1.1\r\n", 400),
        ("GET\t/ HTTP/1.1\r\n", 400), ("GET /é HTTP/1.1\r\n", 400), ("GET /\0 HTTP/1.1\r\n", 400),
        ("GET /\u{7F} HTTP/1.1\r\n", 400), ("G(T / HTTP/1.1\r\n", 400), ("GÉT / HTTP/1.1\r\n", 400),
        ("GET a HTTP/1.1\r\n", 400), ("GET * HTTP/1.1\r\n", 400), ("CONNECT a:80 HTTP/1.1\r\n", 400),
        ("GET ftp://a/ HTTP/1.1\r\n", 400), ("GET http:///x HTTP/1.1\r\n", 400), ("GET http://u@a/ HTTP/1.1\r\n", 400),
        ("GET / http/1.1\r\n", 400), ("GET / HTTP/1\r\n", 400), ("GET / HTTP/1.10\r\n", 400),
        ("GET / HTTP/+.1\r\n", 400), ("GET / HTTP/1,1\r\n", 400), ("GET / HTTP/1.2\r\n", 505),
        ("GET / HTTP/2.0\r\n", 505), ("PRI * HTTP/2.0\r\n", 505), ("GET / HTTP/0.9\r\n", 505),
        ("GET /\(String(repeating: "x", count: 60)) HTTP/1.1\r\n", 414), (String(repeating: "x", count: 64), 414),
    ]

    /// Fields after those of a good request, and what is refused about each.
    private static let fields = [
        ("X: a\n", 400), ("X: a\n\r\n", 400), ("X: a\r\r\n", 400), ("X: a\rY: b\r\n", 400), (" X: a\r\n", 400),
        ("X: a\r\n b\r\n", 400), ("X: a\r\n\tb\r\n", 400), ("X : a\r\n", 400), ("X\t: a\r\n", 400), (": a\r\n", 400),
        ("X\r\n", 400), ("X Y: a\r\n", 400), ("X(: a\r\n", 400), ("É: a\r\n", 400), ("X\0: a\r\n", 400),
        ("X: a\0\r\n", 400), ("X: a\u{7F}\r\n", 400), ("X: a\u{1}b\r\n", 400), ("Host: a\r\n\r\n", 400),
        ("Host: b\r\n\r\n", 400), ("Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400),
        ("Content-Length: 1\r\ncontent-length: 2\r\n\r\nx", 400), ("Content-Length: 1, 1\r\n\r\nx", 400),
        ("Content-Length: +1\r\n\r\nx", 400), ("Content-Length: -1\r\n\r\nx", 400),
        ("Content-Length: 0x1\r\n\r\nx", 400), ("Content-Length: a\r\n\r\n", 400), ("Content-Length:\r\n\r\n", 400),
        ("Content-Length: 1 1\r\n\r\nx", 400), ("Content-Length: 1.0\r\n\r\nx", 400),
        ("Content-Length: １\r\n\r\nx", 400),
        ("Content-Length: 9223372036854775808\r\n\r\n", 400), ("Content-Length: 18446744073709551617\r\n\r\nx", 400),
        ("Content-Length: 33\r\n\r\n", 413), ("Content-Length: 9223372036854775807\r\n\r\n", 413),
        ("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n", 400), ("Transfer-Encoding: gzip\r\n\r\n", 400),
        ("Transfer-Encoding: gzip, chunked\r\n\r\n", 501),
        ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n", 501),
        ("Transfer-Encoding: chunked, gzip\r\n\r\n", 400), ("Transfer-Encoding: chunked, chunked\r\n\r\n", 400),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400), ("Transfer-Encoding:\r\n\r\n", 400),
        ("Transfer-Encoding: chunked,\r\n\r\n", 400), ("Transfer-Encoding: ,chunked\r\n\r\n", 400),
        ("Transfer-Encoding: chun ked\r\n\r\n", 400), ("Transfer-Encoding: xchunked\r\n\r\n", 400),
        ("Transfer-Encoding: \"chunked\"\r\n\r\n", 400), ("Transfer-Encoding: chunked;q=1\r\n\r\n", 400),
        ("Expect: something\r\nContent-Length: 1\r\n\r\n", 417), ("Expect: 100-continue, x\r\n\r\n", 417),
        ("X: \(String(repeating: "x", count: 120))\r\n", 431), (String(repeating: "x", count: 128), 431),
        (String(repeating: "X:\r\n", count: 40), 431),
    ]

    /// Bodies in chunks, and what is refused about each.
    private static let chunks = [
        ("\r\n", 400), ("x\r\n", 400), (" 1\r\n", 400), ("1 \r\n", 400), ("+1\r\n", 400), ("-1\r\n", 400),
        ("0x1\r\n", 400), ("1\n", 400), ("1;\0\r\n", 400), ("1 ;x\r\n", 400), ("1\r\nxy\r\n", 400),
        ("1\r\nx\n", 400), ("1\r\nx0\r\n", 400), ("2\r\nx\r\n0\r\n\r\n", 400), ("8000000000000000\r\n", 400),
        ("10000000000000001\r\n", 400), ("21\r\n", 413), ("7fffffffffffffff\r\n", 413),
        ("20\r\n\(String(repeating: "x", count: 32))\r\n1\r\n", 413), (String(repeating: "0", count: 256), 400),
        ("1;\(String(repeating: "x", count: 300))\r\n", 400), ("0\r\n\n", 400), ("0\r\n X: a\r\n", 400),
        ("0\r\nX\r\n", 400), ("0\r\nX: \(String(repeating: "x", count: 140))\r\n", 431),
    ]

    /// Each text is enough to be refused, and what follows it does not count.
    private func expectRefusals(_ table: [(String, Int)], after start: String) {
        for (text, status) in table {
            for pieces in [Int.max, 1, 2, 3, 7] {
                for rest in ["", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"] {
                    let events = Self.events(start + text + rest, pieces: pieces)
                    #expect(
                        events.count == 1 && events[0].hasPrefix("\(status) "),
                        "in pieces of \(pieces): \(text.debugDescription): \(events)"
                    )
                }
            }
        }
    }

    @Test("request lines that are malformed or too long are refused, and nothing after them is read")
    func requestLines() {
        expectRefusals(Self.lines, after: "")
    }

    @Test("fields that are malformed, contradict each other or are too large are refused")
    func fieldLines() {
        expectRefusals(Self.fields, after: "POST / HTTP/1.1\r\nHost: a\r\n")
    }

    @Test("chunked bodies that are malformed or too large are refused")
    func chunkedBodies() {
        expectRefusals(Self.chunks, after: "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    }

    @Test("a host is named exactly once, unless the version is 1.0, and is nothing but a host")
    func hosts() {
        let hosts = ["a/b", "a b", "a@b", "a?b", "a#b", "é", "a\\b"]
        let table = [("\r\n", 400)] + hosts.map { ("Host: \($0)\r\n\r\n", 400) }
        expectRefusals(table, after: "POST / HTTP/1.1\r\n")
        expectRefusals([("Host: a\r\nHost: a\r\n\r\n", 400)], after: "POST / HTTP/1.0\r\n")
        expectRefusals([("Transfer-Encoding: chunked\r\n\r\n", 400)], after: "POST / HTTP/1.0\r\n")
    }

    @Test("a value that is not UTF-8 is refused")
    func notUTF8() {
        let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\nX: ".utf8) + [0xFF] + Array("\r\n\r\n".utf8)
        #expect(Self.events(bytes, cutting: { $0 }, Self.limits).map { $0.prefix(3) } == ["400"])
    }

    @Test("what is exactly as large as allowed is accepted, and one byte more is not")
    func boundaries() {
        for (extra, refused) in [(0, false), (1, true)] {
            let target = "/" + String(repeating: "x", count: 64 - "GET / HTTP/1.1\r\n".utf8.count + extra)
            let line = Self.events("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n", pieces: 5)
            #expect(line[0].hasPrefix("414") == refused)
            let value = String(repeating: "x", count: 128 - "Host: a\r\nX: \r\n\r\n".utf8.count + extra)
            let fields = Self.events("GET / HTTP/1.1\r\nHost: a\r\nX: \(value)\r\n\r\n", pieces: 5)
            #expect(fields[0].hasPrefix("431") == refused)
            let body = String(repeating: "x", count: 32 + extra)
            let start = "PUT / HTTP/1.1\r\nHost: a\r\n"
            let sized = Self.events("\(start)Content-Length: \(32 + extra)\r\n\r\n\(body)", pieces: 5)
            #expect(sized[0].hasPrefix("413") == refused)
            let chunk = "\(String(32 + extra, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
            let chunked = Self.events("\(start)Transfer-Encoding: chunked\r\n\r\n\(chunk)", pieces: 5)
            #expect(chunked[0].hasPrefix("413") == refused)
        }
    }

    @Test("the phase says whose time limit counts")
    func phases() {
        var reader = RequestReader(Self.limits)
        var phases: [RequestReader.Phase] = []
        for text in ["", "\r\n", "P", "UT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n", "\r\n", "x", "y", "G"] {
            reader.append(text.utf8)
            while reader.next() != nil {}
            phases.append(reader.phase)
        }
        #expect(phases == [.idle, .head, .head, .head, .body, .body, .idle, .head])
    }
}
