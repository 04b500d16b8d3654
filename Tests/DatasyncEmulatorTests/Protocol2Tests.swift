import Foundation
import Testing

@testable import DatasyncEmulator

/// What stands in the record's summary but not in its printed exchanges.
struct Protocol2Tests {
    private let client = Client(
        .azureMobileApps,
        tables: ["TodoItem", EmulatedTableDefinition("Hard", softDelete: false)]
    )
    private let path = "/tables/TodoItem"

    private func seed(_ count: Int) throws {
        let rows = (0..<count)
            .map { ["id": .string("q\(1_000 + $0)"), "n": .integer(Int64($0))] as [String: JSONValue] }
        try client.emulator.seed(rows, in: "TodoItem")
    }

    private func create(_ table: String = "TodoItem") async throws {
        #expect(try await client.send("POST", "/tables/\(table)", json: ["id": "a", "text": "x"]).status == 201)
    }

    @Test("a list is a bare array of at most 50 rows, with the total in an object when asked for")
    func lists() async throws {
        try seed(120)
        let page = try await client.get(path)
        #expect(try page.json.array?.count == 50)
        #expect(page.headers["ETag"]?.hasPrefix("W/\"") == true)
        let counted = try await client.get(path + "?$inlinecount=allpages&$top=5&$skip=10&$count=true")
        #expect(try counted.json["count"] == 120)
        #expect(try counted.ids == ["q1010", "q1011", "q1012", "q1013", "q1014"])
        #expect(try await client.get(path + "?$top=1001").status == 400)
        #expect(try await client.get(path + "?$top=1000").ids.count == 50)
        #expect(try await client.get(path + "?$top=-1").ids.count == 120)
        #expect(try await client.get(path + "?$top=abc").ids.count == 120)
    }

    @Test("the link has the recorded odd form, and its query leads on until a page is not full")
    func link() async throws {
        try seed(100)
        let first = try await client.send("GET", path + "?$filter=n%20ge%200", ["Host": "127.0.0.1:3911"])
        let link = try #require(first.headers["Link"])
        #expect(link == "http://127.0.0.1/?%24filter=n%20ge%200&%24top=950&%24skip=50; rel=next")
        let query = try #require(link.split(separator: "?").last?.split(separator: ";").first)
        let second = try await client.get(path + "?" + query)
        #expect(try second.ids.first == "q1050")
        // There is nothing more, yet the page was full.
        #expect(second.headers["Link"]?.contains("%24top=900&%24skip=100") == true)
        #expect(try await client.get(path + "?$skip=100").ids.isEmpty)
        #expect(try await client.get(path + "?$top=50").headers["Link"] == nil)
        #expect(try await client.get(path + "?$top=51").headers["Link"] != nil)
    }

    @Test("unknown columns find nothing, a malformed filter is a 500")
    func filters() async throws {
        try seed(3)
        for query in ["$filter=nope%20eq%201", "$orderby=nope", "$select=nope"] {
            let answer = try await client.get(path + "?" + query)
            #expect(answer.status == 200)
            #expect(try answer.json == [])
        }
        let malformed = try await client.get(path + "?$filter=n%20eq%20")
        #expect(malformed.status == 500)
        #expect(try malformed.json == ["error": "Expression expected (at index 6)"])
        #expect(try await client.get(path + "?$select=id,N&$top=1").json == [["id": "q1000", "n": 0]])
        #expect(
            try await client.get(path + "?$filter=substringof('100',id)%20and%20n%20gt%200").ids == ["q1001", "q1002"]
        )
    }

    @Test("a deletion answers the row; deleting again conflicts, even with the current version")
    func delete() async throws {
        try await create()
        let wrong = try await client.send("DELETE", path + "/a", ["If-Match": "\"xx\""])
        #expect(wrong.status == 412 && wrong.headers["ETag"] == "\"MQ==\"")
        let deleted = try await client.send("DELETE", path + "/a", ["If-Match": "\"MQ==\""])
        #expect(deleted.status == 200 && deleted.headers["ETag"] == "\"Mg==\"")
        #expect(try deleted.json["deleted"] == true)
        let again = try await client.send("DELETE", path + "/a", ["If-Match": "\"Mg==\""])
        #expect(again.status == 412)
        #expect(try again.json == (try deleted.json))
        #expect(try await client.send("DELETE", path + "/a").status == 409)
        #expect(try await client.send("DELETE", path + "/zz").status == 404)
        #expect(try await client.get(path + "/a").status == 404)
        #expect(try await client.get(path + "/a?__includeDeleted=true").status == 404)
        #expect(try await client.send("POST", path, json: ["id": "a"]).json == ["id": "a"])
    }

    @Test("tombstones show in lists for any non-empty value of the option in its exact case")
    func includeDeleted() async throws {
        try await create()
        _ = try await client.send("DELETE", path + "/a")
        #expect(try await client.get(path).ids.isEmpty)
        for value in ["true", "false", "0"] {
            #expect(try await client.get(path + "?__includeDeleted=" + value).ids == ["a"])
        }
        #expect(try await client.get(path + "?__includeDeleted=").ids.isEmpty)
        #expect(try await client.get(path + "?__includedeleted=true").ids.isEmpty)
    }

    @Test("an undeletion is a 201, honours If-Match and works on a live row")
    func undelete() async throws {
        try await create()
        _ = try await client.send("DELETE", path + "/a")
        #expect(try await client.send("POST", path + "/a", ["If-Match": "\"MQ==\""]).status == 412)
        let revived = try await client.send("POST", path + "/a", ["If-Match": "\"Mg==\""])
        #expect(revived.status == 201 && revived.headers["ETag"] == "\"Mw==\"")
        #expect(try revived.json["deleted"] == false)
        #expect(try await client.send("POST", path + "/a").status == 201)
        #expect(try await client.send("POST", path + "/zz").status == 404)
    }

    @Test("a deleted row can be changed and stays deleted")
    func updateDeleted() async throws {
        try await create()
        _ = try await client.send("DELETE", path + "/a")
        let changed = try await client.send("PATCH", path + "/a", json: ["text": "y"])
        #expect(changed.status == 200)
        #expect(try changed.json["deleted"] == true && changed.json["text"] == "y")
    }

    @Test("with soft delete off a deletion answers the last state, then there is nothing")
    func hardDelete() async throws {
        try await create("Hard")
        let deleted = try await client.send("DELETE", "/tables/Hard/a")
        #expect(deleted.status == 200)
        #expect(try deleted.json["deleted"] == false && deleted.json["version"] == "MQ==")
        #expect(try await client.send("DELETE", "/tables/Hard/a").status == 404)
    }

    @Test("what no route takes is an HTML page")
    func notRouted() async throws {
        for (method, target) in [("GET", "/tables/Nope"), ("PUT", path), ("GET", "/"), ("GET", path + "/a/b")] {
            let answer = try await client.send(method, target)
            #expect(answer.status == 404)
            #expect(answer.headers["Content-Type"] == "text/html; charset=utf-8")
            #expect(String(decoding: answer.body, as: UTF8.self).contains("<pre>Cannot \(method) \(target)</pre>"))
        }
        let attack = try await client.get("/<script>")
        #expect(!String(decoding: attack.body, as: UTF8.self).contains("<script>"))
        #expect(try await client.get("/TABLES/todoitem/").status == 200)
        #expect(try await client.send("HEAD", path).status == 500)
    }

    @Test("a body beyond 100 kB is a 400, a malformed token a 401")
    func refusals() async throws {
        let text = String(repeating: "x", count: 102_400)
        let large = try await client.send("POST", path, json: ["id": "a", "t": .string(text)])
        #expect(large.status == 400)
        #expect(try large.json == ["error": "request entity too large"])
        let token = try await client.send("GET", path, ["X-ZUMO-AUTH": "nonsense"])
        #expect(token.status == 401)
        #expect(try token.json == ["name": "JsonWebTokenError", "message": "jwt malformed"])
    }
}
