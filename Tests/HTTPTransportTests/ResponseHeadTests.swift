import Testing

@testable import HTTPTransport

@Suite("The head of an answer")
struct ResponseHeadTests {
    /// The head of lines, as far as they are one.
    private func head(
        _ lines: [String],
        to method: HTTPRequest.Method = .get
    ) throws(ResponseHead.Refusal) -> ResponseHead {
        var head = ResponseHead(to: method)
        for line in lines { try head.receive(line: Array((line + "\r\n").utf8)) }
        return head
    }

    @Test(
        "tells how the body ends",
        arguments: [
            (["HTTP/1.1 200 OK", "Content-Length: 5", ""], .length(5)),
            (["HTTP/1.1 200", "content-length:5", ""], .length(5)),
            (["HTTP/1.0 200 OK", "Content-Length:\t 007 ", ""], .length(7)),
            (["HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length: 5", ""], .length(5)),
            (["HTTP/1.1 200 OK", "Content-Length: 5, 5", ""], .length(5)),
            (["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", ""], .chunked),
            (["HTTP/1.1 200 OK", "Transfer-Encoding: gzip, Chunked ", ""], .chunked),
            (["HTTP/1.1 204 No Content", ""], .none), (["HTTP/1.1 304 Not Modified", "Content-Length: 5", ""], .none),
            (["HTTP/1.1 103 Early", "Link: x", "", "HTTP/1.1 200 OK", "Content-Length: 1", ""], .length(1)),
        ] as [([String], ResponseHead.Body)]
    )
    func bodies(_ lines: [String], _ body: ResponseHead.Body) throws {
        let head = try head(lines)
        #expect(head.isComplete)
        #expect(head.body == body)
    }

    @Test("of an answer to HEAD promises no body")
    func answerToHead() throws {
        #expect(try head(["HTTP/1.1 200 OK", "Content-Length: 5", ""], to: .head).body == ResponseHead.Body.none)
        #expect(try head(["HTTP/1.1 200 OK", ""], to: .head).body == ResponseHead.Body.none)
    }

    @Test(
        "is refused when it is none, or leaves open where the body ends",
        arguments: [
            ["SSH-2.0"], ["HTTP/2 200"], ["HTTP/1.1"], ["HTTP/1.1 99 Few"], ["HTTP/1.1 2000 Many"], ["HTTP/1.1 2x0"],
            ["HTTP/1.10 200 OK"], ["HTTP/1.1 200 OK", "no colon"], ["HTTP/1.1 200 OK", ": nameless"],
            ["HTTP/1.1 200 OK", "a b: c"], ["HTTP/1.1 200 OK", "Content-Length : 5"],
            ["HTTP/1.1 200 OK", "X: a", " folded: b"], ["HTTP/1.1 200 OK", ""],
            ["HTTP/1.1 200 OK", "Content-Length: -5", ""], ["HTTP/1.1 200 OK", "Content-Length: +5", ""],
            ["HTTP/1.1 200 OK", "Content-Length: 0x5", ""], ["HTTP/1.1 200 OK", "Content-Length: ", ""],
            ["HTTP/1.1 200 OK", "Content-Length: 99999999999999999999", ""],
            ["HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length: 6", ""],
            ["HTTP/1.1 200 OK", "Content-Length: 5, 6", ""], ["HTTP/1.1 200 OK", "Content-Length: 5,", ""],
            ["HTTP/1.1 200 OK", "Transfer-Encoding: gzip", ""],
            ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked, gzip", ""],
        ]
    )
    func refusals(_ lines: [String]) {
        #expect(throws: ResponseHead.Refusal.self) { try head(lines) }
    }

    @Test("passes interim answers over, and takes no trailer for a field")
    func interimAndTrailers() throws {
        let head = try head([
            "HTTP/1.1 100 Continue", "X-Interim: 1", "", "HTTP/1.1 200 OK", "Transfer-Encoding: chunked",
            "ETag: \"V1\"",
            "", "ETag: \"trailer\"", "",
        ])
        #expect(head.status == 200)
        #expect(head.fields[.eTag] == "\"V1\"")
        #expect(head.fields.count == 2)
    }

    @Test("is not complete before its empty line")
    func incomplete() throws {
        let lines = ["HTTP/1.1 200 OK", "Content-Length: 5", ""]
        for count in 0..<lines.count { #expect(try head(Array(lines.prefix(count))).isComplete == false) }
        #expect(try head(["HTTP/1.1 100 Continue", ""]).isComplete == false)
    }
}
