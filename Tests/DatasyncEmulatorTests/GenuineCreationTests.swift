import Foundation
import Testing

@testable import DatasyncEmulator

/// What a genuine server answered to rows, letter by letter.
@Suite("A genuine server's answers to rows")
struct GenuineCreationTests {
    private let client = GenuineServer.client()
    private let path = "/tables/TodoItem"

    @Test("a created row has every column in its order, then the system's, and the fields of its answer")
    func whole() async throws {
        let sent = #"{"id": "a1", "text": "x", "complete": true, "price": 1.5, "due": "2024-03-04T05:06:07.089Z"}"#
        let created = try await client.send("POST", path, text: sent)
        #expect(created.status == 201)
        let rest =
            #""priority":null,"price":1.5,"note":null,"due":"2024-03-04T05:06:07.089Z",…,"id":"a1","deleted":false}"#
        #expect(created.textWithoutStamps == #"{"text":"x","complete":true,"# + rest)
        #expect(created.text.contains(#""updatedAt":"2023-11-14T22:13:20.000Z","version":""#))
        let version = try #require(try created.json["version"]?.string)
        #expect(created.headers.map(\.name).sorted() == ["Content-Type", "ETag", "Last-Modified", "Location"])
        #expect(created.headers["Content-Type"] == "application/json; charset=utf-8")
        #expect(created.headers["ETag"] == "\"\(version)\"")
        #expect(created.headers["Last-Modified"] == "Tue, 14 Nov 2023 22:13:20 GMT")
        #expect(created.headers["Location"] == "http://server/tables/TodoItem/a1")
        let again = try await client.send("POST", path, text: #"{"id": "a1", "text": "other"}"#)
        #expect(again.status == 409 && again.body == created.body && again.headers["ETag"] == "\"\(version)\"")
        #expect(again.headers["Location"] == nil)
    }

    @Test(
        "bodies, and what comes of them",
        arguments: [
            (
                #"{"id": "a2"}"#, #""text":null,"complete":false,"priority":null,"price":null,"note":null,"due":null"#,
                "a2"
            ),
            (#"{"id": "   "}"#, #""text":null,"complete":false"#, "   "),
            (
                #"{"id": "a3", "foo": 1, "Bar": {"x": [1]}, "createdAt": "2020-01-01T00:00:00Z"}"#, #"{"text":null,"#,
                "a3"
            ),
            (#"{"ID":"a4","TEXT":"up","Complete":true,"DELETED":false}"#, #""text":"up","complete":true,"#, "a4"),
            (#"{"id":"a5b","text":"a","TEXT":"b"}"#, #""text":"b","#, "a5b"),
            (#"{"id": "v2", "version": "", "updatedAt": null}"#, #""text":null,"#, "v2"),
            (#"{"id":"c", /* a comment */ "text":"x", } // the end"#, #""text":"x","#, "c"),
            ("\u{FEFF}{\"id\":\"bom\"}", #""text":null,"#, "bom"),
            (
                #"{"id": "deep", "foo": "# + String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
                    + "}", #""text":null"#, "deep"
            ),
        ]
    )
    func created(_ sent: String, _ expected: String, _ id: String) async throws {
        let created = try await client.send("POST", path, text: sent)
        #expect(created.status == 201)
        #expect(created.text.contains(expected) && created.text.hasSuffix(#""id":"\#(id)","deleted":false}"#))
        #expect(!created.text.contains("foo") && !created.text.contains("createdAt"))
    }

    @Test("a row is stored deleted where its body says so")
    func deleted() async throws {
        let created = try await client.send("POST", path, text: #"{"id": "w4", "deleted": true, "text": "gone"}"#)
        #expect(created.status == 201 && created.text.hasSuffix(#""id":"w4","deleted":true}"#))
    }

    private static let unreadableBodies = [
        "[]", "\"x\"", "5", "", "{", "not json", "\0", "[{}]", "{} {}", "{}x", "{'id':'a'}", #"{"id":5}"#,
        #"{"id":{}}"#,
        #"{"id":"v1","version":"not base64!"}"#, #"{"id":"v1","version":5}"#, #"{"id":"w3","updatedAt":"soon"}"#,
        #"{"id":"w5","deleted":null}"#, #"{"id":"w6","deleted":"true"}"#, #"{"id":"s","text":"\ud83d"}"#,
        #"{"id":"s","text":"\ude00"}"#,
        #"{"id":"d","foo":"# + String(repeating: "[", count: 100) + String(repeating: "]", count: 100) + "}",
    ]

    @Test(
        "a body that cannot be read is a 500 without a word, or a 400 with one where that is asked for",
        arguments: unreadableBodies
    )
    func unreadable(_ sent: String) async throws {
        let genuine = try await client.send("POST", path, text: sent)
        #expect(genuine.status == 500 && genuine.body.isEmpty && genuine.headers["Content-Type"] == nil)
        let usual = GenuineServer.client(isGenuine: false)
        let refused = try await usual.send("POST", path, text: sent)
        #expect(refused.status == 400)
        #expect(refused.text.hasPrefix(#"{"code":"400","message":""#))
        #expect(refused.text.hasSuffix(#""instanceAnnotations":[],"typeAnnotation":null}"#))
        #expect(client.emulator.rows(in: "TodoItem").isEmpty && usual.emulator.rows(in: "TodoItem").isEmpty)
    }

    @Test("the literal null is a 400 without a word")
    func null() async throws {
        let answer = try await client.send("POST", path, text: "null")
        #expect(answer.status == 400 && answer.body.isEmpty)
    }

    @Test(
        "content types",
        arguments: [
            ("application/json; charset=utf-8", 201), ("APPLICATION/JSON", 201),
            ("application/json;odata=verbose", 201),
            ("application/problem+json", 201), ("application/merge-patch+json", 201), ("text/plain", 415),
            ("text/json", 415), ("application/*", 415), ("", 415), ("json", 415), ("application/json+x", 415),
        ]
    )
    func contentTypes(_ type: String, _ status: Int) async throws {
        let answer = try await client.send("POST", path, ["Content-Type": type], text: #"{"id":"c"}"#)
        #expect(answer.status == status)
        #expect(status == 201 || answer.body.isEmpty && answer.headers["Content-Type"] == nil)
        let put = try await client.send("PUT", path + "/unknown", ["Content-Type": type], text: #"{"id":"unknown"}"#)
        #expect(put.status == (status == 201 ? 404 : 415))
    }

    @Test("a text comes back with every sign escaped that a web page could stumble over")
    func escapes() async throws {
        let first = try await client.send("POST", path, text: ##"{"id":"u33","text":"<a href=\"x\">&'+</a>`"}"##)
        #expect(
            first.text.hasPrefix(
                #"{"text":"\u003Ca href=\u0022x\u0022\u003E\u0026\u0027\u002B\u003C/a\u003E\u0060","#
            )
        )
        let second = try await client.send("POST", path, text: #"{"id":"u34","text":"😀é\u007f\n\t\u0001\\/\u0000"}"#)
        #expect(second.text.hasPrefix(#"{"text":"\uD83D\uDE00\u00E9\u007F\n\t\u0001\\/\u0000","#))
        #expect(try second.json["text"] == "😀é\u{7f}\n\t\u{1}\\/\0")
    }

    @Test(
        "the address of a new row is the request's with the id behind it, never percent-encoded",
        arguments: [
            ("/tables/TodoItem/", "w9", "http://server/tables/TodoItem//w9"),
            ("/tables/TodoItem?foo=bar&$select=id", "w10", "http://server/tables/TodoItem?foo=bar&$select=id/w10"),
            ("/tables/todoitem", "a b", "http://server/tables/todoitem/a b"),
            ("/tables/TodoItem", "a?b", "http://server/tables/TodoItem/a?b"),
            ("/tables/TodoItem", "a%2Fb", "http://server/tables/TodoItem/a%2Fb"),
        ]
    )
    func location(_ target: String, _ id: String, _ location: String) async throws {
        let created = try await client.send("POST", target, text: #"{"id":"\#(id)"}"#)
        #expect(created.status == 201 && created.headers["Location"] == location)
        #expect(created.text.contains(#""text":null"#), "the query changes nothing")
        #expect(try await client.get("/tables/TodoItem/" + PercentEncoding.encode(id)).status == 200)
    }

    @Test(
        "an id that no header can hold: stored and answered 500, or usable where that is not asked for",
        arguments: ["ä", "日本", "a\\nb"]
    )
    func unsendable(_ id: String) async throws {
        let body = #"{"id":"\#(id)"}"#
        #expect(try await client.send("POST", path, text: body).status == 500)
        #expect(try await client.send("POST", path, text: body).status == 409)
        let usual = GenuineServer.client(isGenuine: false)
        let created = try await usual.send("POST", path, text: body)
        #expect(created.status == 201)
        #expect(created.headers["Location"]?.utf8.allSatisfy { (0x20...0x7E).contains($0) } == true)
        let segment = PercentEncoding.encode(id.replacing("\\n", with: "\n"))
        #expect(try await usual.get("\(path)/\(segment)").status == 200)
        #expect(try await client.get("\(path)/\(segment)").status == 200)
    }

    @Test("the methods that a path does not have")
    func methods() async throws {
        _ = try await client.send("POST", path, text: #"{"id":"a"}"#)
        for method in ["HEAD", "OPTIONS", "PATCH", "TRACE", "MERGE", "FOO", "POST"] {
            let answer = try await client.send(method, path + "/a", text: #"{"id":"a"}"#)
            #expect(answer.status == 405 && answer.headers["Allow"] == "DELETE, GET, PUT" && answer.body.isEmpty)
        }
        for method in ["HEAD", "OPTIONS", "PATCH", "TRACE", "MERGE", "FOO", "PUT", "DELETE"] {
            let answer = try await client.send(method, path, text: #"{"id":"a"}"#)
            #expect(answer.status == 405 && answer.headers["Allow"] == "GET, POST" && answer.body.isEmpty)
        }
    }
}
