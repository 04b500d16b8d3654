import Foundation
import Testing

@testable import DatasyncEmulator

struct Protocol3Tests {
    private let client = Client(tables: ["todoitem", EmulatedTableDefinition("hard", softDelete: false)])
    private let path = "/tables/todoitem/a"

    private func create(_ table: String = "todoitem") async throws -> String {
        let created = try await client.send("POST", "/tables/\(table)", json: ["id": "a", "title": "x"])
        return try #require(try created.json["version"]?.string)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let header: String
        let value: String
        let get: Int
        let put: Int

        var testDescription: String { "\(header): \(value)" }
    }

    @Test(
        "the conditional headers, one by one; VERSION stands for the row's",
        arguments: [
            Case(header: "If-Match", value: "\"VERSION\"", get: 200, put: 200),
            Case(header: "If-Match", value: "*", get: 200, put: 200),
            Case(header: "If-Match", value: "\"dGVzdA==\", \"VERSION\"", get: 200, put: 200),
            Case(header: "If-Match", value: "\"dGVzdA==\"", get: 412, put: 412),
            Case(header: "If-Match", value: "W/\"VERSION\"", get: 412, put: 412),
            Case(header: "If-Match", value: "W/\"VERSION\", \"VERSION\"", get: 200, put: 200),
            Case(header: "If-Match", value: "\"*\"", get: 412, put: 412),
            Case(header: "If-Match", value: "\"\"", get: 412, put: 412),
            Case(header: "If-Match", value: "VERSION", get: 400, put: 400),
            Case(header: "If-Match", value: "\"VERSION", get: 400, put: 400),
            Case(header: "If-Match", value: "\"VERSION\" \"x\"", get: 400, put: 400),
            Case(header: "If-Match", value: "*, \"x\"", get: 400, put: 400),
            Case(header: "If-Match", value: "", get: 400, put: 400),
            Case(header: "If-None-Match", value: "\"VERSION\"", get: 304, put: 412),
            Case(header: "If-None-Match", value: "*", get: 304, put: 412),
            Case(header: "If-None-Match", value: "W/\"VERSION\"", get: 200, put: 200),
            Case(header: "If-None-Match", value: "\"dGVzdA==\"", get: 200, put: 200),
            Case(header: "If-None-Match", value: "VERSION", get: 400, put: 400),
            Case(header: "If-Modified-Since", value: "Tue, 14 Nov 2023 22:13:19 GMT", get: 200, put: 200),
            Case(header: "If-Modified-Since", value: "Tue, 14 Nov 2023 22:13:21 GMT", get: 304, put: 412),
            Case(header: "If-Modified-Since", value: "yesterday", get: 200, put: 200),
            Case(header: "If-Unmodified-Since", value: "Tue, 14 Nov 2023 22:13:19 GMT", get: 412, put: 412),
            Case(header: "If-Unmodified-Since", value: "Tue, 14 Nov 2023 22:13:21 GMT", get: 200, put: 200),
        ]
    )
    func conditions(each: Case) async throws {
        let version = try await create()
        let value = each.value.replacing("VERSION", with: version)
        let read = try await client.send("GET", path, [each.header: value])
        let write = try await client.send("PUT", path, [each.header: value], json: ["id": "a", "title": "y"])
        #expect(read.status == each.get)
        #expect(write.status == each.put)
        if each.get == 304 { #expect(read.body.isEmpty && read.headers["ETag"] == nil) }
        if each.put == 412 {
            #expect(write.headers["ETag"] == "\"\(version)\"")
            #expect(try write.json["title"] == "x")
        }
        // What was refused was not done, and a delete is judged by the same rule.
        let changed = each.put == 200
        #expect(client.emulator.rows(in: "todoitem")[0]["title"] == (changed ? "y" : "x"))
        if !changed {
            #expect(try await client.send("DELETE", path, [each.header: value]).status == each.put)
        }
    }

    @Test("headers that both apply are judged in order")
    func bothTags() async throws {
        let version = "\"\(try await create())\""
        let headers: HTTPHeaderFields = ["If-Match": "\"x\"", "If-None-Match": version]
        #expect(try await client.send("GET", path, headers).status == 412)
        #expect(try await client.send("GET", path, ["If-Match": version, "If-None-Match": version]).status == 304)
    }

    @Test("a replacement makes the members it leaves out null and keeps the order of checks")
    func replace() async throws {
        _ = try await client.send("POST", "/tables/todoitem", json: ["id": "a", "title": "x", "note": "n", "n": nil])
        let replaced = try await client.send("PUT", path, json: ["id": "a", "title": "y"])
        #expect(replaced.status == 200)
        let members = try #require(try replaced.json.object)
        #expect(Set(members.keys) == ["id", "title", "note", "n", "updatedAt", "version", "deleted"])
        #expect(members["note"] == .null && members["n"] == .null && members["title"] == "y")
        #expect(try await client.send("PUT", path, json: ["title": "y"]).status == 400)
        #expect(
            try await client.send("PUT", "/tables/todoitem/zz", ["If-Match": "bad"], json: ["id": "zz"]).status == 404
        )
        #expect(try await client.send("DELETE", path).status == 204)
        #expect(try await client.send("PUT", path, ["If-Match": "\"x\""], json: ["id": "a"]).status == 410)
        let revived = try await client.send(
            "PUT",
            path + "?__IncludeDeleted=True",
            json: ["id": "a", "deleted": false]
        )
        #expect(revived.status == 200)
        let flagged = try await client.send("PUT", path, json: ["id": "a", "deleted": true])
        #expect(try flagged.json["deleted"] == true)
        #expect(try await client.get(path).status == 410)
    }

    @Test("hard deletion forgets the row; a flagged row of such a table stays visible")
    func hardDelete() async throws {
        _ = try await create("hard")
        let flagged = try await client.send("PUT", "/tables/hard/a", json: ["id": "a", "deleted": true])
        #expect(flagged.status == 200)
        #expect(try await client.get("/tables/hard").ids == ["a"])
        #expect(try await client.send("DELETE", "/tables/hard/a").status == 204)
        #expect(try await client.send("DELETE", "/tables/hard/a").status == 404)
        #expect(try await client.get("/tables/hard/a?__includedeleted=true").status == 404)
    }

    @Test(
        "ids are made when missing, null or empty: 32 lower-case hexadecimal digits",
        arguments: [nil, JSONValue.null, ""]
    )
    func madeIDs(id: JSONValue?) async throws {
        var item: [String: JSONValue] = ["title": "x"]
        item["id"] = id
        let created = try await client.send("POST", "/tables/todoitem/", ["Host": "h:1"], json: .object(item))
        #expect(created.status == 201)
        let made = try #require(try created.json["id"]?.string)
        #expect(made.wholeMatch(of: /[0-9a-f]{32}/) != nil)
        #expect(created.headers["Location"] == "http://h:1/tables/todoitem//" + made)
    }

    @Test("the client's stamp and version are overwritten, its deletion mark is stored")
    func systemMembers() async throws {
        let item: JSONValue = ["Id": "b", "UpdatedAt": "2001-01-01T00:00:00Z", "version": "AQ==", "deleted": true]
        let created = try await client.send("POST", "/tables/todoitem", json: item)
        #expect(created.status == 201)
        #expect(try created.json["updatedAt"] == "2023-11-14T22:13:20.000Z")
        #expect(try created.json["version"] != "AQ==" && created.json["deleted"] == true)
        #expect(created.headers["Last-Modified"] == "Tue, 14 Nov 2023 22:13:20 GMT")
        #expect(try created.json.object?.count == 4)
    }

    @Test(
        "a body that cannot be used is a 400, never a 500",
        arguments: [
            "", "null", "[]", "5", "{", "{\"id\":", "{\"id\":1}", "{\"version\":\"!\"}",
            "{\"deleted\":1}",
            "{\"updatedAt\":\"soon\"}", "{\"id\":\"\u{1}\"}", "{} {}", "nul", "{\"n\":1e999}", "{\"n\":01}",
            "{\"s\":\"\\u12\"}",
            String(repeating: "[", count: 100_000), String(repeating: "{\"a\":", count: 100_000),
        ]
    )
    func badBodies(body: String) async throws {
        let request = EmulatorRequest(
            "POST",
            "/tables/todoitem",
            headers: ["Content-Type": "application/json; charset=utf-8"],
            body: Data(body.utf8)
        )
        #expect(try await client.emulator.handle(request).status == 400)
        #expect(client.emulator.rows(in: "todoitem").isEmpty)
    }

    @Test("routes: case and a trailing slash do not matter, anything else does")
    func routes() async throws {
        _ = try await create()
        #expect(try await client.get("/Tables/TODOITEM/").ids == ["a"])
        #expect(try await client.get(path + "/").status == 200)
        #expect(try await client.get("/tables/other").status == 404)
        #expect(try await client.get("/tables").status == 404)
        #expect(try await client.get("/").status == 404)
        #expect(try await client.get("/tables/todoitem/a/b").status == 404)
        for segment in ["%zz", "%ff", "a%2Fb"] {
            #expect(try await client.get("/tables/todoitem/" + segment).status == 404)
        }
        #expect(try await client.get("/tables/todoitem/%00").status == 400)
        #expect(try await client.get("/tables/todoitem/.").ids == ["a"], "dots are resolved")
        #expect(try await client.get("/tables/todoitem/%2E/x/%2e%2E").ids == ["a"])
        #expect(try await client.send("PATCH", path, json: ["title": "y"]).status == 405)
        #expect(try await client.send("PUT", "/tables/todoitem", json: ["id": "a"]).status == 405)
        let onDemand = try await Client(adjust: { $0.createsTablesOnDemand = true }).get("/tables/other")
        #expect(onDemand.status == 200)
    }

    @Test(
        "ids and options are decoded exactly once",
        arguments: ["a%2Fb", "50%25", "a+b c", "日本 é", "e\u{301}", "?&=#"]
    )
    func decoding(id: String) async throws {
        _ = try await client.send("POST", "/tables/todoitem", json: ["id": .string(id)])
        _ = try await client.send("POST", "/tables/todoitem", json: ["id": "\u{e9}"])
        let segment = PercentEncoding.encode(id)
        #expect(
            try await client.get("/tables/todoitem/" + segment).json["id"]?.string?.utf8.elementsEqual(id.utf8) == true
        )
        let literal = PercentEncoding.encode("id eq '\(id)'").replacing("%20", with: "+")
        let found = try await client.get("/tables/todoitem?%24filter=" + literal)
        #expect(try found.ids.count == 1 && found.ids[0].utf8.elementsEqual(id.utf8))
    }

    @Test("a body beyond 30,000,000 bytes is a 413, a request line beyond 8,192 a 414")
    func sizes() async throws {
        let text = String(repeating: "x", count: 30_000_000)
        #expect(try await client.send("POST", "/tables/todoitem", json: ["id": "a", "t": .string(text)]).status == 413)
        let query = "/tables/todoitem?x="
        let rest = 8_192 - "GET \(query) HTTP/1.1\r\n".utf8.count
        #expect(try await client.get(query + text.prefix(rest)).status == 200)
        #expect(try await client.get(query + text.prefix(rest + 1)).status == 414)
    }

    @Test("stamps rise strictly, with a clock that stands still and one that is set back")
    func stamps() async throws {
        let clock = ManualClock()
        let client = Client(clock: clock)
        var stamps: [String] = []
        for number in 0..<60 {
            if number == 20 { clock.set(clock.now - 3_600_000) }
            if number == 40 { clock.set(clock.now + 7_200_000) }
            let id = "r\(number % 7)"
            let item: JSONValue = ["id": .string(id)]
            let answer =
                number < 7
                ? try await client.send("POST", "/tables/todoitem", json: item)
                : try await client.send("PUT", "/tables/todoitem/" + id, json: item)
            stamps.append(try #require(try answer.json["updatedAt"]?.string))
        }
        #expect(stamps == stamps.sorted() && Set(stamps).count == 60)
        _ = try await client.send("DELETE", "/tables/todoitem/r0")
        let tombstone = try await client.get("/tables/todoitem/r0?__includedeleted=true").json["updatedAt"]?.string
        #expect(tombstone.map { $0 > stamps[59] } == true)
    }

    @Test("of twenty inserts of one id at once, one is created and the others conflict with it")
    func concurrentInserts() async throws {
        let answers = try await withThrowingTaskGroup(of: EmulatorResponse.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await client.send("POST", "/tables/todoitem", json: ["id": "a", "n": .integer(Int64(number))])
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count { $0.status == 201 } == 1)
        #expect(answers.count { $0.status == 409 } == 19)
        #expect(Set(try answers.map { try $0.json }).count == 1)
    }

    @Test("declared dates come back as UTC with milliseconds, cut; what is not a date is refused")
    func declaredDates() async throws {
        let client = Client(tables: [
            EmulatedTableDefinition("todoitem", columns: ["due": .date.optional, "t": .text.optional])
        ])
        for (sent, kept) in [
            ("2016-11-21T01:02:03.004005+02:00", "2016-11-20T23:02:03.004Z"),
            ("2016-12-31T23:59:59.9999999Z", "2016-12-31T23:59:59.999Z"),
            ("1969-12-31T23:59:59.9996Z", "1969-12-31T23:59:59.999Z"),
            ("2020-01-02T03:04:05Z", "2020-01-02T03:04:05.000Z"),
        ] {
            let made = try await client.send(
                "POST",
                "/tables/todoitem",
                json: ["due": .string(sent), "t": .string(sent)]
            )
            #expect(made.status == 201)
            #expect(try made.json["due"] == .string(kept))
            #expect(try made.json["t"] == .string(sent), "a text stays as it was sent")
        }
        #expect(try await client.send("POST", "/tables/todoitem", json: ["id": "a", "due": "soon"]).status == 400)
        #expect(try await client.get("/tables/todoitem/a").status == 404)
        #expect(try await client.send("POST", "/tables/todoitem", json: ["id": "a", "due": nil]).status == 201)
        #expect(try await client.send("PUT", "/tables/todoitem/a", json: ["id": "a", "due": 5]).status == 400)
    }
}
