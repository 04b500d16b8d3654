import Foundation
import Testing

@testable import DatasyncEmulator

/// What a genuine server answered to queries over the same rows. Where stores differ, this is PostgreSQL with its order
/// of code points and the nulls of SQLite.
@Suite("A genuine server's answers to queries")
struct GenuineQueryTests {
    private let client: Client
    private let path = "/tables/TodoItem"

    init() throws {
        client = try Self.client(isGenuine: true)
    }

    private static func client(isGenuine: Bool) throws -> Client {
        let client = GenuineServer.client(isGenuine: isGenuine)
        let rows: [[JSONValue]] = [
            ["apple", true, 1, "2024-01-01T00:00:00.000Z"], ["Apple", false, 2.5, "2024-01-01T00:00:00.001Z"],
            ["banana", true, -3, "2023-12-31T23:59:59.999Z"], [nil, false, nil, nil],
            ["", true, 0, "1969-07-20T20:17:40.123Z"], ["Zebra", false, 10, "2024-02-29T12:30:45.678Z"],
            ["äpfel", true, 100, "2024-06-15T21:30:00Z"], ["_under", false, 0.1, nil],
            ["a b", true, nil, "2099-01-01T00:00:00Z"], ["a-b", false, 1e15, nil], ["it's", true, 7, nil],
            ["50% _x", false, 7.5, nil], ["Éclair", true, -0.5, nil], ["żółw", false, 3, nil],
            ["Äpfel", false, 4, nil],
        ]
        let members = rows.enumerated()
            .map { index, row -> [String: JSONValue] in
                let id = "q" + (index < 9 ? "0" : "") + "\(index + 1)"
                return [
                    "id": .string(id), "text": row[0], "complete": row[1], "price": row[2], "due": row[3],
                    "deleted": .bool(index == 13),
                ]
            }
        try client.emulator.seed(members, in: "TodoItem")
        return client
    }

    private func ask(_ option: String, _ value: String, of client: Client? = nil) async throws -> EmulatorResponse {
        try await (client ?? self.client).get("\(path)?$\(option)=\(PercentEncoding.encode(value))")
    }

    private static let all = "q01 q02 q03 q04 q05 q06 q07 q08 q09 q10 q11 q12 q13 q15"

    @Test(
        "a filter, and the rows it finds",
        arguments: [
            ("text eq 'apple'", "q01"), ("text ne 'apple'", "q02 q03 q04 q05 q06 q07 q08 q09 q10 q11 q12 q13 q15"),
            ("text eq null", "q04"), ("text ne null", "q01 q02 q03 q05 q06 q07 q08 q09 q10 q11 q12 q13 q15"),
            ("not (text eq 'apple')", "q02 q03 q04 q05 q06 q07 q08 q09 q10 q11 q12 q13 q15"),
            ("text gt 'apple'", "q03 q07 q11 q13 q15"), ("text lt 'b'", "q01 q02 q05 q06 q08 q09 q10 q12"),
            ("text gt 'Z'", "q01 q03 q06 q07 q08 q09 q10 q11 q13 q15"), ("text gt null", ""),
            ("tolower(text) eq 'apple'", "q01 q02"), ("tolower(text) eq 'äpfel'", "q07"),
            ("text in ('apple','banana')", "q01 q03"), ("text in ('it''s')", "q11"),
            ("text in ('apple',null)", "q01 q04"),
            ("text in ()", ""), ("price in (1,2.5)", "q01 q02"), ("price in (null)", "q04 q09"),
            ("not (text in ('apple'))", "q02 q03 q04 q05 q06 q07 q08 q09 q10 q11 q12 q13 q15"),
            ("startswith(text,'a')", "q01 q09 q10"), ("contains(text,'_')", "q08 q12"),
            ("contains(text,'')", "q01 q02 q03 q05 q06 q07 q08 q09 q10 q11 q12 q13 q15"),
            ("length(text) eq 5", "q01 q02 q06 q07 q15"), ("indexof(text,'p') eq 1", "q01 q02 q07 q15"),
            ("indexof(text,'zz') eq -1", "q01 q02 q03 q05 q06 q07 q08 q09 q10 q11 q12 q13 q15"),
            ("substring(text,1) eq 'pple'", "q01 q02"), ("substring(text,1,2) eq 'pp'", "q01 q02"),
            ("substring(text,10) eq ''", "q01 q02 q03 q05 q06 q07 q08 q09 q10 q11 q12 q13 q15"),
            ("substring(text,-1) eq 'e'", ""), ("trim(text) eq 'a b'", "q09"), ("concat(text,'x') eq 'applex'", "q01"),
            ("price eq 2.5f", "q02"), ("price eq 1L", "q01"), ("not (price gt 1)", "q01 q03 q04 q05 q08 q09 q13"),
            ("price div 2 eq 1.25", "q02"), ("price div 0 eq 1", ""), ("price mod 2 eq 1", "q01 q11"),
            ("-price eq 3", "q03"),
            ("ceiling(price) eq 3", "q02"), ("round(price) eq 3", "q02"), ("price eq NaN", ""), ("price eq INF", ""),
            ("price eq 9007199254740993", ""), ("(price sub 1) ge 1", "q02 q06 q07 q10 q11 q12 q15"),
            ("complete", "q01 q03 q05 q07 q09 q11 q13"), ("complete eq null", ""),
            ("complete and price gt 1", "q07 q11"),
            ("price gt 1 and price lt 10 or complete", "q01 q02 q03 q05 q07 q09 q11 q12 q13 q15"), ("true", all),
            ("deleted eq true", ""), ("deleted eq false", all), ("id gt 'q05'", "q06 q07 q08 q09 q10 q11 q12 q13 q15"),
            ("id lt 'Q05'", ""), ("version ne null", all), ("TEXT eq 'apple'", "q01"),
            ("STARTSWITH(text,'a')", "q01 q09 q10"),
            ("cast(price,Edm.Int32) eq 1", "q01"), ("cast(price,Edm.String) eq '1'", "q01"),
            ("$it/text eq 'apple'", "q01"),
            ("date(due) eq 2024-01-01", "q01 q02"), ("year(due) eq 2024", "q01 q02 q06 q07"),
            ("year(updatedAt) gt 2000", all),
            ("due eq cast(2024-01-01T00:00:00.000Z,Edm.DateTimeOffset)", "q01"),
            ("due gt cast(2024-01-01T00:00:00.000Z,Edm.DateTimeOffset)", "q02 q06 q07 q09"),
            ("due lt cast(2024-01-01T00:00:00Z,Edm.DateTimeOffset)", "q03 q05"),
            ("due eq cast(2024-01-01T00:00:00.0000001Z,Edm.DateTimeOffset)", ""),
            ("due gt cast(2024-01-01T01:00:00.000+01:00,Edm.DateTimeOffset)", "q02 q06 q07 q09"),
            ("due gt cast(2024-01-01T00:00:00.000+00:00,Edm.DateTimeOffset)", "q02 q06 q07 q09"),
            ("due gt 2024-01-01", "q06 q07 q09"), ("due gt cast(2024-01-01,Edm.Date)", "q06 q07 q09"),
            ("due gt 2024-01-01T00:00:00.123456789012Z", "q06 q07 q09"),
            ("due gt 2024-01-01T00:00Z", "q02 q06 q07 q09"),
            ("due eq null", "q04 q08 q10 q11 q12 q13 q15"), ("due lt 1970-01-01T00:00:00Z", "q05"),
            ("updatedAt eq null", ""),
        ]
    )
    func found(_ filter: String, _ rows: String) async throws {
        let page = try await ask("filter", filter)
        #expect(page.status == 200)
        #expect(try page.ids.joined(separator: " ") == rows)
    }

    @Test(
        "a filter with which the server fails",
        arguments: [
            "contains(text,null)", "startswith(text,null)", "startswith(null,'a')", "length(null) eq 0",
            "concat(text,null) eq 'apple'", "price gt null", "null", "replace(text,'a','b') eq 'x'",
            "totaloffsetminutes(due) eq 0", "year(null) eq 1",
            "due gt cast('2024-01-01T00:00:00.000Z',Edm.DateTimeOffset)", "due gt cast(2024-01-01,Edm.DateTimeOffset)",
            "updatedAt gt null", "", " ",
        ]
    )
    func failing(_ filter: String) async throws {
        let genuine = try await ask("filter", filter)
        #expect(genuine.status == 500 && genuine.body.isEmpty)
        let usual = try await ask("filter", filter, of: Self.client(isGenuine: false))
        #expect(usual.status == 400)
        #expect(try usual.json["code"] == "400")
    }

    @Test(
        "a filter that the server refuses, whatever its store",
        arguments: [
            "price eq 2.5M", "price eq '1'", "(price - 1) ge 1", "complete eq 1", "complete eq 'true'", "1",
            "version eq 'AAAA'", "nope eq 1", "text eq \"apple\"", "text eq apple", "text eq 'apple", "text eq", "eq",
            "(",
            "text eq 'a' and", "text like 'a'", "text has 'a'", "substringof('a',text)", "text/length eq 1",
            "any(text)",
            "due gt cast(2024-01-01T00:00:00.000,Edm.DateTimeOffset)", "due gt 2024-01-01T00:00:00",
            "due gt '2024-01-01T00:00:00Z'", "due gt datetimeoffset'2024-01-01T00:00:00Z'",
            "due gt datetime'2024-01-01T00:00:00'", "due gt 2024-01-01t00:00:00z", "due gt 2024-02-30T00:00:00Z",
            "due gt -0001-01-01T00:00:00Z", "due gt 10000-01-01T00:00:00Z", "due gt 2024-01-01T01:00:00 01:00",
            "text", "price", "text add 1 eq 2", "not text", "text and complete", "contains(price,'1')",
            "year(text) eq 1",
            "createdAt eq null", "due in ('x')",
        ]
    )
    func refused(_ filter: String) async throws {
        for isGenuine in [true, false] {
            let answer = try await ask("filter", filter, of: Self.client(isGenuine: isGenuine))
            #expect(answer.status == 400 && answer.headers["Content-Type"] == "application/json; charset=utf-8")
            #expect(answer.text.hasPrefix(#"{"code":"400","message":""#))
            #expect(
                answer.text.hasSuffix(
                    #"","target":null,"details":null,"innerError":null,"instanceAnnotations":[],"typeAnnotation":null}"#
                )
            )
        }
    }

    @Test(
        "a filter that no store translates",
        arguments: ["matchesPattern(text,'^a')", "isof(text,Edm.String)", "time(due) eq 00:00:00", "now() gt due"]
    )
    func untranslatable(_ filter: String) async throws {
        let answer = try await ask("filter", filter)
        #expect(answer.status == 400 && answer.body.isEmpty)
    }

    @Test("the messages that were seen")
    func messages() async throws {
        #expect(
            try await ask("filter", "startswith(id,'q') and (nope eq 1)").text
                == #"{"code":"400","message":"Could not find a property named \u0027nope\u0027 on type \u0027Svc.TodoItem\u0027.","#
                + #""target":null,"details":null,"innerError":null,"instanceAnnotations":[],"typeAnnotation":null}"#
        )
        for (option, value, message) in [
            ("orderby", "nope", "Could not find a property named 'nope' on type 'Svc.TodoItem'."),
            ("orderby", "text desc asc", "Syntax error at position 13 in 'text desc asc'."),
            ("select", "nope", "Could not find a property named 'nope' on type 'Svc.TodoItem'."),
            ("select", "id text", "Term 'id text' is not valid in a $select or $expand expression."),
            (
                "select", "",
                "'select' and 'expand' cannot be empty or whitespace. Omit the parameter from the query if it is not used."
            ),
        ] {
            let answer = try await ask(option, value)
            #expect(try answer.status == 400 && answer.json["message"]?.string == message)
        }
        let doubled = try await client.get(path + "?$filter=startswith(id,'q')&$filter=text%20eq%20'apple'")
        #expect(doubled.status == 400)
        let message = try #require(try doubled.json["message"]?.string)
        #expect(message.hasPrefix("Syntax error at position "))
        #expect(message.hasSuffix(" in 'startswith(id,'q'),text eq 'apple''."), "the values are joined")
    }

    @Test(
        "an order, and the rows in it",
        arguments: [
            ("text", "q04 q05 q12 q02 q06 q08 q09 q10 q01 q03 q11 q15 q13 q07"),
            ("text desc", "q07 q13 q15 q11 q03 q01 q10 q09 q08 q06 q02 q12 q05 q04"),
            ("price", "q04 q09 q03 q13 q05 q08 q01 q02 q15 q11 q12 q06 q07 q10"),
            ("price desc", "q10 q07 q06 q12 q11 q15 q02 q01 q08 q05 q13 q03 q04 q09"),
            ("due", "q04 q08 q10 q11 q12 q13 q15 q05 q03 q01 q02 q06 q07 q09"),
            ("due desc", "q09 q07 q06 q02 q01 q03 q05 q04 q08 q10 q11 q12 q13 q15"),
            ("complete desc,price", "q09 q03 q13 q05 q01 q11 q07 q04 q08 q02 q15 q12 q06 q10"),
            ("year(due)", "q04 q08 q10 q11 q12 q13 q15 q05 q03 q01 q02 q06 q07 q09"),
        ]
    )
    func ordered(_ order: String, _ rows: String) async throws {
        let page = try await ask("orderby", order)
        #expect(try page.status == 200 && page.ids.joined(separator: " ") == rows)
    }

    @Test(
        "an order with a column twice is a failure, one of six columns is refused",
        arguments: [
            ("price,price desc", 500), ("", 500), ("id,text,price,due,note,complete", 400),
            ("id,text,price,due,note", 200),
        ]
    )
    func badOrders(_ order: String, _ status: Int) async throws {
        #expect(try await ask("orderby", order).status == status)
    }

    @Test(
        "a selection, and the first row of it",
        arguments: [
            ("id", #"{"id":"q01"}"#), ("id,text", #"{"id":"q01","text":"apple"}"#),
            ("text,id", #"{"text":"apple","id":"q01"}"#),
            ("TEXT", #"{"text":"apple"}"#), ("id,", #"{"id":"q01"}"#), ("id,id", #"{"id":"q01"}"#),
            ("note,deleted", #"{"note":null,"deleted":false}"#),
            ("price,due,complete", #"{"price":1,"due":"2024-01-01T00:00:00.000Z","complete":true}"#),
        ]
    )
    func selected(_ selection: String, _ row: String) async throws {
        let page = try await client.get("\(path)?$select=\(selection)&$top=1")
        #expect(page.text == #"{"items":["# + row + #"],"count":null,"nextLink":null}"#)
    }

    @Test(
        "a selection that is refused or fails",
        arguments: [("*", 500), ("id,*", 500), ("", 400), ("text/x", 400), ("nope", 400)]
    )
    func badSelections(_ selection: String, _ status: Int) async throws {
        #expect(try await ask("select", selection).status == status)
    }

    @Test(
        "sizes and counts",
        arguments: [
            ("$count=", 500), ("$top=", 500), ("$skiptoken=x", 500), ("$top=3", 200), ("$top=%203", 200),
            ("$top=+3", 200),
            ("$Top=3", 200), ("$top=128000", 200), ("$top=128001", 400), ("$top=-1", 400), ("$top=1.5", 400),
            ("$top=99999999999999999999", 400), ("$skip=2147483647", 200), ("$skip=2147483648", 400),
            ("$top=3&$top=4", 400),
        ]
    )
    func sizes(_ query: String, _ status: Int) async throws {
        #expect(try await client.get(path + "?" + query).status == status)
    }

    // MARK: Limits

    @Test(
        "a filter of a hundred nodes is the longest: so many conditions, and one more is refused",
        arguments: [
            ("id eq 'x'", 16), ("price ne 1", 20), ("updatedAt gt cast(2024-01-01T00:00:00Z,Edm.DateTimeOffset)", 12),
            ("startswith(text,'a')", 20),
        ]
    )
    func nodes(_ condition: String, _ count: Int) async throws {
        func filter(_ count: Int) -> String { Array(repeating: condition, count: count).joined(separator: " or ") }
        #expect(try await ask("filter", filter(count)).status == 200)
        let refused = try await ask("filter", filter(count + 1))
        #expect(refused.status == 400)
        #expect(
            try refused.json["message"]?.string?.hasPrefix("The node count limit of '100' has been exceeded.") == true
        )
    }

    @Test(
        "beside the condition of a page by stamp and id there is room for so many more",
        arguments: [("cast(2024-01-01T00:00:00Z,Edm.DateTimeOffset)", 15), ("2024-01-01T00:00:00Z", 16)]
    )
    func nodesBesideKeyset(_ date: String, _ count: Int) async throws {
        let keyset = "(updatedAt gt \(date) or (updatedAt eq \(date) and id gt 'x'))"
        for (count, status) in [(count, 200), (count + 1, 400)] {
            let rest = Array(repeating: "text eq 'x'", count: count).joined(separator: " or ")
            #expect(try await ask("filter", "\(keyset) and (\(rest))").status == status)
        }
    }

    @Test("the members of a list are not counted, parentheses are by their depth")
    func uncounted() async throws {
        let list = (0..<300).map { "'\($0)'" }.joined(separator: ",")
        #expect(try await ask("filter", "id in (\(list))").status == 200)
        for (depth, status) in [(99, 200), (100, 400)] {
            let nested = String(repeating: "(", count: depth) + "true" + String(repeating: ")", count: depth)
            #expect(try await ask("filter", nested).status == status)
        }
    }

    // MARK: Links

    @Test(
        "the next page's query, letter by letter as it stands in the JSON",
        arguments: [
            ("$filter=startswith(id,'n')", #"$filter=startswith(id,%27n%27)\u0026$skip=5"#),
            ("$filter=startswith(id,'n')&$top=8", #"$filter=startswith(id,%27n%27)\u0026$top=3\u0026$skip=5"#),
            (
                "$filter=startswith(id,'n')&$count=true&$orderby=text&$select=id,text&__includedeleted=true",
                #"$filter=startswith(id,%27n%27)\u0026$count=true\u0026$orderby=text\u0026$select=id,text\u0026__includedeleted=true\u0026$skip=5"#
            ),
            (
                "$filter=startswith(id,'n')%20and%20text%20ne%20'a%2Bb%26c%3Dd%C3%BC''s'&foo=1+2&Bar=x%2By",
                #"$filter=startswith(id,%27n%27)%20and%20text%20ne%20%27a%2Bb%26c%3Dd%C3%BC%27%27s%27\u0026foo=1%202\u0026Bar=x%2By\u0026$skip=5"#
            ),
            ("$FILTER=startswith(id,'n')&$SKIP=1", #"$FILTER=startswith(id,%27n%27)\u0026$SKIP=6"#),
            (
                "$filter=updatedAt%20gt%202000-01-01T00:00:00.000%2B00:00%20and%20startswith(id,'n')",
                #"$filter=updatedAt%20gt%202000-01-01T00%3A00%3A00.000%2B00%3A00%20and%20startswith(id,%27n%27)\u0026$skip=5"#
            ),
        ]
    )
    func links(_ query: String, _ link: String) async throws {
        let client = GenuineServer.client(pageSize: 5)
        try client.emulator.seed((0..<12).map { ["id": .string("n\(10 + $0)")] }, in: "TodoItem")
        #expect(try await client.get(path + "?" + query).text.hasSuffix("\"nextLink\":\"\(link)\"}"))
    }
}
