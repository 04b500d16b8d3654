import Foundation
import Testing

@testable import DatasyncEmulator

/// Answers as bytes, and the fields they are made of.
struct ResponseBytesTests {
    @Test(
        "a field that would not stay one line is not sent, nor is anything else of its answer",
        arguments: [
            ("X", "a\r\nSet-Cookie: b"), ("X", "a\nb"), ("X", "a\rb"), ("X", "a\0"), ("X", "\u{7F}"), ("X: a", "b"),
            ("X\r\nY", "b"), ("", "b"), ("É", "b"), ("X ", "b"),
        ]
    )
    func splitting(_ name: String, _ value: String) async throws {
        #expect(ResponseBytes.encode(EmulatorResponse(200, headers: [name: value]), isToHead: false, .usual) == nil)
        let respond: EmulatorServer.Responder = { _, _ in EmulatorResponse(200, headers: [name: value]) }
        try await withServer(.azureMobileApps, respond: respond) { _, url in
            let answer = try await RawClient(url).ask("GET", "/")
            #expect(answer.status == 500)
            #expect(try answer.json["error"]?.string != nil)
        }
    }

    @Test("a status that is not that of a final answer is not sent", arguments: [0, 100, 101, 199, 1_000, -1])
    func statuses(_ status: Int) {
        #expect(ResponseBytes.encode(EmulatorResponse(status), isToHead: false, .usual) == nil)
    }

    @Test("what is left to the server is not taken from elsewhere")
    func ownFields() throws {
        var response = EmulatorResponse(200, headers: ["content-length": "9", "Connection": "x", "X": "é\ty"])
        response.headers["Transfer-Encoding"] = "chunked"
        response.headers["date"] = "then"
        response.body = Data("ab".utf8)
        let bytes = try #require(ResponseBytes.encode(response, isToHead: false, .usual))
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "HTTP/1.1 200 OK\r\nX: é\ty\r\ndate: then\r\nContent-Length: 2\r\n\r\nab"
        )
    }

    @Test("repeated fields are kept in their order, and seen as one where one is asked for")
    func fields() {
        var fields: HTTPHeaderFields = ["A": "0", "a": "1"]
        fields.append("b", "2")
        fields.append("A", "3")
        #expect(fields.values(of: "a") == ["1", "3"])
        #expect(fields["a"] == "1, 3" && fields["B"] == "2" && fields["c"] == nil)
        #expect(fields.map(\.name) == ["a", "b", "A"])
        #expect(fields.list("A") == ["1", "3"])
        fields["a"] = "4"
        #expect(fields.values(of: "A") == ["4"])
        fields["a"] = nil
        #expect(fields.map(\.name) == ["b"])
    }
}
