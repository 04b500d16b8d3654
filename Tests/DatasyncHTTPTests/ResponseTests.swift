import HTTPTransport
import RemoteContract
import SyncContract
import Testing

@testable import DatasyncHTTP

@Suite("Answers and what they mean")
struct ResponseTests {
    private static let table = TableDefinition("todo", columns: [.init("text", .string)])

    private func answer(_ status: Int, _ body: String = "", fields: HTTPFields = [:]) -> ServerResponse {
        ServerResponse(status: status, fields: fields, body: Array(body.utf8), server: "example.org")
    }

    @Test(
        "every status has one meaning",
        arguments: [
            (200, .success), (201, .success), (204, .success), (409, .conflict), (412, .conflict), (410, .gone),
            (401, .failure(.unauthorized)), (404, .failure(.notFound)), (408, .failure(.throttled)),
            (429, .failure(.throttled)), (503, .failure(.throttled)), (400, .failure(.refused)),
            (402, .failure(.refused)), (403, .failure(.refused)), (405, .failure(.refused)), (413, .failure(.refused)),
            (415, .failure(.refused)), (428, .failure(.refused)), (499, .failure(.refused)),
            (500, .failure(.serverFailure)), (501, .failure(.serverFailure)), (502, .failure(.notTheService)),
            (504, .failure(.notTheService)), (407, .failure(.notTheService)), (599, .failure(.serverFailure)),
            (100, .failure(.notTheService)),
            (202, .failure(.notTheService)), (203, .failure(.notTheService)), (206, .failure(.notTheService)),
            (300, .failure(.notTheService)), (301, .failure(.notTheService)), (304, .failure(.notTheService)),
            (308, .failure(.notTheService)), (600, .failure(.notTheService)), (999, .failure(.notTheService)),
            (511, .failure(.notTheService)), (520, .failure(.notTheService)), (530, .failure(.notTheService)),
            (531, .failure(.serverFailure)), (505, .failure(.serverFailure)),
        ] as [(Int, ResponseMapping)]
    )
    func mapping(_ status: Int, _ meaning: ResponseMapping) {
        #expect(ResponseMapping(status: status) == meaning)
    }

    @Test("a web page that says 404 or 410 says nothing about a row", arguments: [404, 410])
    func pagesAreNoRows(_ status: Int) {
        #expect(answer(status, "<!DOCTYPE html><p>Not found</p>").mapping == .failure(.notTheService))
        #expect(answer(status, "x", fields: [.contentType: "text/html"]).mapping == .failure(.notTheService))
        #expect(answer(status, #"{"error":"The item does not exist"}"#).mapping == ResponseMapping(status: status))
        #expect(answer(status).mapping == ResponseMapping(status: status))
    }

    @Test(
        "what the server says is found in its usual places",
        arguments: [
            (#""bad filter""#, ": bad filter"), (#"{"error":"no"}"#, ": no"), (#"{"description":"no"}"#, ": no"),
            (#"{"message":"no"}"#, ": no"), (#"{"title":"no","status":400}"#, ": no"),
            (#"{"error":{"code":"x","message":"no"}}"#, ": no"), (#"{"error":7,"message":"no"}"#, ": no"),
            (
                #"[{"memberNames":["a"],"errorMessage":"too long"},{"errorMessage":"too short"}]"#,
                ": a: too long; too short"
            ),
            (
                #"{"title":"One or more","status":400,"errors":{"name":["The name is too long."],"b":["x","y"]}}"#,
                ": b: x; b: y; name: The name is too long."
            ),
            (#""a\r\nb\u0000c""#, ": a  b c"), ("", ""), ("<html>", ""), ("plain", ""), ("{}", ""), ("[]", ""),
            ("7", ""),
            (#""""#, ""), (#"{"error":""}"#, ""),
        ]
    )
    func serverText(_ body: String, _ expected: String) {
        #expect(answer(400, body).serverText == expected)
        #expect(answer(500, body).serverText == expected)
        // Successes hold rows.
        for status in [200, 304] { #expect(answer(status, body).serverText == "") }
        // Their body is a row.
        for status in [409, 412] {
            let error = answer(status, body).failure(table: "todo")
            #expect(expected.isEmpty || !error.message.contains(expected))
        }
    }

    @Test("what the server says is cut to 200 characters")
    func longText() {
        let text = answer(400, "\"" + String(repeating: "é", count: 5_000) + "\"").serverText
        #expect(text == ": " + String(repeating: "é", count: 200) + "…")
    }

    @Test("a redirect names its host and nothing else of its address")
    func redirect() {
        let fields: HTTPFields = [.location: "https://login.example.com/x?token=secret"]
        let message = answer(302, fields: fields).failure(table: "todo").message
        #expect(message.contains("https://login.example.com"))
        #expect(!message.contains("secret"))
    }

    @Test(
        "a version is taken from a strong tag only",
        arguments: [
            ("\"MQ==\"", "MQ=="), (#""a\"b""#, "a\"b"), ("W/\"MQ==\"", nil), ("MQ==", nil), ("\"", nil), ("\"\"", nil),
            ("", nil), (nil, nil), ("\"open", nil), ("w/\"x\"", nil),
        ] as [(String?, String?)]
    )
    func entityTags(_ header: String?, _ version: String?) {
        #expect(EntityTag.version(header) == version)
    }

    @Test("a version in a tag comes back as it was", arguments: ["MQ==", "a\"b", "\"\"", "x"])
    func entityTagRoundTrip(_ version: String) throws {
        #expect(EntityTag.version(try EntityTag.quoted(version, table: "todo")) == version)
    }

    @Test("the body's version counts before the tag's, and a tag fills a gap")
    func rowVersions() throws {
        let reader = RowReader(table: Self.table)
        let strong: HTTPFields = [.eTag: "\"V2\""]
        let weak: HTTPFields = [.eTag: "W/\"V2\""]
        #expect(try reader.row("a", in: answer(200, #"{"id":"a","version":"V1"}"#, fields: strong)).version == "V1")
        #expect(try reader.row("a", in: answer(200, #"{"id":"a"}"#, fields: strong)).version == "V2")
        #expect(try reader.row("a", in: answer(200, #"{"id":"a","version":null}"#, fields: strong)).version == "V2")
        #expect(try reader.row("a", in: answer(200, #"{"id":"a"}"#, fields: weak)).version == nil)
    }

    @Test("what one answer has shown of its members is right for the next, and forgotten with the declaration")
    func learnedMembers() throws {
        let readers = RowReaders()
        let bodies = [
            #"{"id":"a","text":"x","more":1,"version":"V1"}"#, #"{"more":"2","id":"a","other":[1],"text":null}"#,
            #"{"version":"V2","id":"a"}"#, #"{"id":"a","text":"x","more":1,"version":"V3"}"#,
        ]
        for body in bodies {
            let fresh = try RowReader(table: Self.table).row("a", in: answer(200, body))
            #expect(try readers.reader(of: Self.table).row("a", in: answer(200, body)) == fresh)
            for broken in [#"{"id":"a","new":1,"text":"#, "<p>", #"{"id":"a","text":7}"#] {
                #expect(throws: RemoteError.self) {
                    try readers.reader(of: Self.table).row("a", in: answer(200, broken))
                }
            }
        }
        let redeclared = TableDefinition("todo", columns: [.init("text", .int64)])
        let row = try readers.reader(of: redeclared).row("a", in: answer(200, #"{"id":"a","text":7}"#))
        #expect(row["text"] == 7)
    }

    @Test("each answer teaches by its own date")
    func learnedDates() {
        var known = ServerKnowledge()
        for (second, stamp) in [(37, 784_111_777_000), (38, 784_111_777_900), (38, 784_111_773_000)] as [(Int, Int64)] {
            let fields: HTTPFields = [.date: "Sun, 06 Nov 1994 08:49:\(second) GMT"]
            known.learn(stamp: stamp, of: Self.table, from: answer(200, fields: fields))
        }
        #expect(known.lag(of: Self.table, earlier: 0) == 5_000)
    }

    @Test("a stamp that no clock explains teaches nothing, nor does a cursor that has learned from one")
    func oldStamps() {
        let fields: HTTPFields = [.date: "Sun, 06 Nov 1994 08:49:37 GMT"]
        let (date, day) = (784_111_777_000 as Int64, 86_400_000 as Int64)
        var known = ServerKnowledge()
        #expect(known.lag(of: Self.table, earlier: 365 * day) == 0)
        known.learn(stamp: date - 365 * day, of: Self.table, from: answer(200, fields: fields))
        #expect(known.lag(of: Self.table, earlier: 0) == 0)
        #expect(known.lag(of: Self.table, earlier: 7_000) == 7_000)
        // A database that takes local time for universal time.
        known.learn(stamp: date - 14 * 3_600_000, of: Self.table, from: answer(200, fields: fields))
        #expect(known.lag(of: Self.table, earlier: 0) == 14 * 3_600_000)
    }

    @Test("ids of an answer are compared as the table does")
    func ids() throws {
        let folding = TableDefinition("todo", columns: [], idComparison: .asciiCaseInsensitive)
        let body = answer(200, #"{"id":"A1"}"#)
        #expect(try RowReader(table: folding).row("a1", in: body).id == "A1")
        #expect(throws: RemoteError.self) { try RowReader(table: Self.table).row("a1", in: body) }
        let both = answer(200, #"[{"id":"A1"},{"id":"a1"}]"#)
        for id in ["a1", "A1"] {
            #expect(try RowReader(table: folding).row(id, inListOf: both)?.id == .string(id))
        }
    }

    @Test(
        "a conflict's body is the server's row only if it has what a server writes",
        arguments: [
            (#"{"id":"a","version":"V"}"#, true), (#"{"id":"a","updatedAt":"2024-01-01T00:00:00Z"}"#, true),
            (#"{"id":"a"}"#, false), (#"{"id":"a","version":null,"updatedAt":null}"#, false),
            (#"{"id":"b","version":"V"}"#, false), ("", false), ("<p>", false), ("[]", false),
        ]
    )
    func conflictingRow(_ body: String, _ isRow: Bool) {
        #expect((RowReader(table: Self.table).conflictingRow("a", in: answer(409, body)) != nil) == isRow)
    }

    @Test(
        "pages tell what they know of their end",
        arguments: [
            // The body, limit, offset; whether it is known to be the last one, and the count.
            (#"{"items":[{"id":"a"}],"count":1,"nextLink":null}"#, nil, 0, true, 1),
            (#"{"items":[{"id":"a"}],"count":9,"nextLink":null}"#, nil, 0, true, 9),
            (#"{"items":[{"id":"a"}],"count":9,"nextLink":"$skip=1"}"#, nil, 0, false, 9),
            (#"{"items":[{"id":"a"}],"count":1,"nextLink":"$skip=1"}"#, nil, 0, false, 1),
            (#"{"items":[{"id":"a"}],"count":9,"nextLink":null}"#, 1, 0, false, 9),
            (#"{"items":[{"id":"a"}],"count":1,"nextLink":null}"#, 1, 0, true, 1),
            (#"{"items":[{"id":"a"}],"count":9,"nextLink":null}"#, 1, 8, true, 9),
            (#"{"items":[{"id":"a"}],"count":9,"nextLink":null}"#, 1, 7, false, 9),
            (#"{"items":[{"id":"a"}],"count":null,"nextLink":null}"#, 1, 0, false, nil),
            (#"{"items":[{"id":"a"}]}"#, nil, 0, true, nil),
            (#"{"items":[{"id":"a"}],"nextLink":""}"#, nil, 0, true, nil),
            (#"{"items":[],"count":9,"nextLink":null}"#, 0, 0, false, 9),
            (#"{"items":[],"count":0,"nextLink":null}"#, 0, 0, true, 0),
            (#"{"items":[],"count":9,"nextLink":null}"#, 5, 20, true, 9),
            (#"{"items":[],"nextLink":"$skip=1"}"#, nil, 0, false, nil), ("[]", nil, 0, true, nil),
            ("[]", 0, 0, false, nil),
            (#"[{"id":"a"}]"#, nil, 0, false, nil), (#"{"results":[{"id":"a"}],"count":1}"#, nil, 0, true, 1),
            (#"{"results":[{"id":"a"}],"count":2}"#, nil, 0, false, 2), (#"{"results":[]}"#, nil, 0, true, nil),
        ] as [(String, Int?, Int, Bool, Int?)]
    )
    func pages(_ body: String, _ limit: Int?, _ offset: Int, _ isLast: Bool, _ count: Int?) throws {
        var query = Query("todo").skipping(offset)
        query.limit = limit
        let page = try RowReader(table: Self.table).page(of: query, in: answer(200, body))
        #expect(page.isKnownToBeLast == isLast)
        #expect(page.totalCount == count)
        #expect(page.records.allSatisfy { $0.id == "a" })
    }

    @Test(
        "the link of a page says how many rows the next one skips, in the spellings that servers use",
        arguments: [
            ("$filter=x%20eq%20'$skip=9'&$skip=50", 50), ("https://example.org/tables/todo?%24skip=5&$top=5", 5),
            ("$FILTER=x&$SKIP=6", 6), ("$top=3", nil), ("$skip=", nil), ("$skip=x", nil), ("x", nil),
        ] as [(String, Int?)]
    )
    func links(_ link: String, _ offset: Int?) throws {
        let body = #"{"items":[],"count":9,"nextLink":"\#(link)"}"#
        let page = try RowReader(table: Self.table).page(of: Query("todo"), in: answer(200, body))
        #expect(page.nextOffset == offset)
        #expect(!page.isKnownToBeLast)
    }

    @Test("of two members of a page with one name the last counts, wherever it stands")
    func repeatedMembers() throws {
        let body =
            #"{"count":9,"items":[{"id":7}],"nextLink":7,"results":[],"items":[{"id":"a"}],"nextLink":null,"count":1}"#
        let page = try RowReader(table: Self.table).page(of: Query("todo"), in: answer(200, body))
        #expect(page.records.map(\.id) == ["a"])
        #expect(page.totalCount == 1)
        #expect(page.isKnownToBeLast)
        // `results` stands in where `items` is none.
        let results = #"{"items":[{"id":7}],"items":null,"results":[{"id":"b"}]}"#
        #expect(try RowReader(table: Self.table).page(of: Query("todo"), in: answer(200, results)).records.count == 1)
    }

    @Test("a page that breaks off is no JSON, whatever its rows were")
    func brokenPage() {
        for body in [#"{"items":[{"id":"a"},{"id":7},{"id":"b""#, #"{"items":[{}],"count":1"#, #"[{"id":7}]]"#] {
            let error = #expect(throws: RemoteError.self) {
                try RowReader(table: Self.table).page(of: Query("todo"), in: answer(200, body))
            }
            #expect(error?.cause is JSONError)
        }
    }

    @Test(
        "what is not a page is refused",
        arguments: [
            "", "{", "null", "7", "\"[]\"", "{}", #"{"items":{}}"#, #"{"items":[7]}"#, #"{"items":[{}]}"#,
            #"{"items":[{"id":7}]}"#, #"{"items":[],"count":"1"}"#, #"{"items":[],"count":-1}"#,
            #"{"items":[],"count":1.5}"#, #"{"items":[],"nextLink":7}"#, "<html></html>", #"[{"id":"a"},null]"#,
        ]
    )
    func noPages(_ body: String) {
        let error = #expect(throws: RemoteError.self) {
            try RowReader(table: Self.table).page(of: Query("todo"), in: answer(200, body))
        }
        #expect(error?.code == (body.hasPrefix("<") ? .notTheService : .invalidResponse))
    }

    @Test(
        "a success that is no JSON, and does not claim to be, is not the service's",
        arguments: [
            ("text/plain", "OK", true), ("text/html", "", true), ("application/json", "OK", false), ("", "OK", false),
        ]
    )
    func foreignSuccess(_ type: String, _ body: String, _ isForeign: Bool) {
        let fields: HTTPFields = type.isEmpty ? [:] : [.contentType: type]
        for status in [200, 201] {
            #expect(
                answer(status, body, fields: fields).mapping == (isForeign ? .failure(.notTheService) : .success)
            )
        }
        // There is nothing that could be another's.
        #expect(answer(204, fields: fields).mapping == .success)
        // What parses is judged by what it says.
        #expect(answer(200, #"{"id":"a"}"#, fields: [.contentType: "text/plain"]).mapping == .success)
    }

    @Test(
        "how long to wait is a number of seconds or an instant",
        arguments: [
            ("7", nil, .seconds(7)), ("0", nil, .zero), ("Sun, 06 Nov 1994 08:49:47 GMT", true, .seconds(10)),
            ("Sun, 06 Nov 1994 08:49:27 GMT", true, .zero), ("Sun, 06 Nov 1994 08:49:47 GMT", nil, .zero),
            ("", nil, nil), ("-1", nil, nil), ("1.5", nil, nil), ("soon", nil, nil), (nil, nil, nil),
            // Whatever is said, it is no longer than a year.
            ("9223372036854775807", nil, .seconds(31_536_000)),
            ("99999999999999999999", nil, .seconds(31_536_000)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", true, .seconds(31_536_000)),
        ] as [(String?, Bool?, Duration?)]
    )
    func retryAfter(_ text: String?, _ hasDate: Bool?, _ expected: Duration?) {
        var fields = HTTPFields()
        fields[.retryAfter] = text
        if hasDate == true { fields[.date] = "Sun, 06 Nov 1994 08:49:37 GMT" }
        for status in [408, 429, 503, 500, 502, 301, 413] {
            #expect(answer(status, fields: fields).failure(table: "todo").retryAfter == expected)
        }
    }
}
