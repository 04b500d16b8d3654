import HTTPTypes
import Testing

@testable import DatasyncHTTP

@Suite("Reading answers of HTTP/1.1")
struct HTTPAnswerParserTests {
    /// Parses an answer that arrives in pieces of every size, and must come out the same.
    private func parse(_ text: String, closes: Bool = false, limit: Int = 1_000) throws -> (Int, String)? {
        var results: [String] = []
        var last: (Int, String)?
        for size in [1, 2, 3, 7, 1_000] {
            var parser = HTTPAnswerParser(maximumBodySize: limit)
            var answer: (response: HTTPResponse, body: [UInt8])?
            let bytes = Array(text.utf8)
            for start in stride(from: 0, to: bytes.count, by: size) where answer == nil {
                answer = try parser.receive(bytes[start..<min(start + size, bytes.count)])
            }
            if answer == nil, closes { answer = try parser.close() }
            last = answer.map { ($0.response.status.code, String(decoding: $0.body, as: UTF8.self)) }
            results.append("\(String(describing: last))")
        }
        #expect(Set(results).count == 1, "\(results)")
        return last
    }

    @Test(
        "whole answers, whatever ends them",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", 200, "{}"),
            ("HTTP/1.1 201\r\nContent-Length: 0\r\n\r\n", 201, ""),
            ("HTTP/1.0 200 OK\nContent-Length: 2\n\n{}", 200, "{}"),
            ("HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
            ("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304, ""),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "x"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3;x=y\r\ncde\r\n0\r\n\r\n", 200, "abcde"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\nA\r\n0123456789\r\n0\r\nT: v\r\n\r\n", 200,
                "0123456789"
            ),
        ]
    )
    func whole(_ text: String, _ status: Int, _ body: String) throws {
        let answer = try #require(try parse(text))
        #expect(answer == (status, body))
    }

    @Test("without a length the answer ends with the connection")
    func untilClose() throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nabc"
        #expect(try parse(text) == nil)
        #expect(try #require(try parse(text, closes: true)) == (200, "abc"))
    }

    @Test("every cut makes an answer incomplete, never shorter")
    func cuts() throws {
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        ] {
            for length in 0..<text.utf8.count {
                let cut = String(decoding: Array(text.utf8).prefix(length), as: UTF8.self)
                #expect(try parse(cut, closes: true) == nil, "\(length)")
            }
        }
    }

    @Test(
        "what is no HTTP is refused",
        arguments: [
            "garbage\r\n\r\n", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 abc\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 70_000),
        ]
    )
    func malformed(_ text: String) {
        #expect(throws: HTTPAnswerParser.Malformed.self) { try parse(text, closes: true) }
    }

    @Test("a body beyond the limit is refused, one of exactly the limit is taken")
    func limit() throws {
        let length = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
        for text in [length, chunked] {
            #expect(try parse(text, limit: 3)?.1 == "abc")
            #expect(throws: HTTPAnswerParser.TooLarge.self) { try parse(text, limit: 2) }
        }
        #expect(throws: HTTPAnswerParser.TooLarge.self) {
            try parse("HTTP/1.1 200 OK\r\n\r\nabc", closes: true, limit: 2)
        }
    }
}
