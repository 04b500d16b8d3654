import Foundation
import Testing

@testable import DatasyncEmulator

/// Servers that speak a dialect in their own way.
struct EditionTests {
    private let version: HTTPHeaderFields = ["ZUMO-API-VERSION": "3.0.0"]

    private func predecessor(adjust: (inout EmulatorConfiguration) -> Void = { _ in }) throws -> Client {
        let table = EmulatedTableDefinition(
            "todoitem",
            columns: ["text": .init(.text), "due": .init(.date)]
        )
        let client = Client(tables: [table]) {
            $0.edition = .predecessor
            adjust(&$0)
        }
        try client.emulator.seed(
            [["id": "a", "text": "1", "due": "2024-03-04T05:06:07.089Z", "version": "YQ=="]],
            in: "todoitem"
        )
        return client
    }

    @Test("the predecessor wants a version, in the query or the header")
    func apiVersion() async throws {
        let client = try predecessor()
        #expect(try await client.get("/tables/todoitem").status == 400)
        #expect(try await client.get("/tables/todoitem?ZUMO-API-VERSION=3.0").status == 200)
        #expect(try await client.send("GET", "/tables/todoitem", ["ZUMO-API-VERSION": "3.1.0"]).status == 400)
        #expect(try await client.send("GET", "/tables/todoitem", version).status == 200)
        #expect(try await client.get("/tables/nope").status == 404)
    }

    @Test("the predecessor shows a number out of range as a text, and its pages stay readable")
    func infinity() async throws {
        let table = EmulatedTableDefinition("todoitem", columns: ["price": .number.optional])
        let client = Client(tables: [table]) { $0.edition = .predecessor }
        for (id, number, shown) in [("a", "1e400", "Infinity"), ("b", "-1e400", "-Infinity")] {
            let text = "{\"id\":\"\(id)\",\"price\":\(number)}"
            let made = try await client.send("POST", "/tables/todoitem", version, text: text)
            #expect(try made.status == 201 && made.json["price"]?.string == shown)
            let changed = try await client.send("PUT", "/tables/todoitem/\(id)", version, text: text)
            #expect(try changed.status == 200 && changed.json["price"]?.string == shown)
        }
        for target in ["/tables/todoitem", "/tables/todoitem?$select=id,price"] {
            let page = try await client.send("GET", target, version)
            #expect(try page.json["items"]?.array?.map { $0["price"] } == ["Infinity", "-Infinity"])
        }
    }

    @Test("the predecessor's dates end in an offset, those of texts do not")
    func dates() async throws {
        let client = try predecessor()
        let answer = try await client.send(
            "PATCH",
            "/tables/todoitem/a",
            version,
            json: ["text": "2024-03-04T05:06:07.089Z"]
        )
        #expect(answer.status == 200)
        #expect(try answer.json["due"] == "2024-03-04T05:06:07.089+00:00")
        #expect(try answer.json["updatedAt"]?.string?.hasSuffix("+00:00") == true)
        #expect(try answer.json["text"] == "2024-03-04T05:06:07.089Z")
        let page = try await client.send("GET", "/tables/todoitem?$select=id,due", version).json
        #expect(page["items"]?.array?.first?["due"] == "2024-03-04T05:06:07.089+00:00")
    }

    @Test("the predecessor brings a deleted row back by PATCH only")
    func undelete() async throws {
        let client = try predecessor()
        #expect(try await client.send("DELETE", "/tables/todoitem/a", version).status == 204)
        let row = "/tables/todoitem/a"
        let body: JSONValue = ["id": "a", "text": "mine"]
        #expect(try await client.send("PUT", row + "?__includedeleted=true", version, json: body).status == 410)
        #expect(try await client.send("POST", row, version).status == 405)
        #expect(try await client.send("PATCH", row, version, json: ["text": "x"]).status == 410)
        #expect(try await client.send("PATCH", row, version, json: ["deleted": "false"]).status == 410)
        var stale = version
        stale["If-Match"] = "\"c3RhbGU=\""
        #expect(try await client.send("PATCH", row, stale, json: ["deleted": false]).status == 412)
        let restored = try await client.send("PATCH", row, version, json: ["deleted": false, "text": "mine"])
        #expect(restored.status == 200)
        #expect(try restored.json["text"] == "mine")
        #expect(try await client.send("PUT", row, version, json: body).status == 200)
    }

    @Test("a PATCH of the predecessor's merges, and refuses what is no column or another version")
    func patch() async throws {
        let client = try predecessor()
        let row = "/tables/todoitem/a"
        #expect(try await client.send("PATCH", row, version, json: ["nope": 1]).status == 500)
        #expect(try await client.send("PATCH", row, version, json: ["text": "x", "version": "c3RhbGU="]).status == 400)
        #expect(try await client.send("PATCH", row, version, json: ["id": "b"]).status == 400)
        let merged = try await client.send("PATCH", row, version, json: ["text": "x", "version": "YQ=="])
        #expect(try merged.json["text"] == "x" && merged.json["due"] != .null)
        #expect(try await client.send("PATCH", row, version, json: ["deleted": true]).status == 200)
        #expect(try await client.send("GET", row, version).status == 410)
    }

    @Test("the losers of a race at the predecessor get 500 and change nothing")
    func races() async throws {
        let gate = LateCommitTests.Gate()
        let client = try predecessor {
            $0.store.commitDelay = .seconds(1)
            $0.store.pause = { _ in await gate.pass() }
        }
        let texts: [JSONValue] = ["1st", "2nd"]
        let writes = await texts.asyncMapped { text in
            let write = Task {
                try await client.send("PUT", "/tables/todoitem/a", version, json: ["id": "a", "text": text])
            }
            await gate.arrival()
            return write
        }
        gate.open(0)
        #expect(try await writes[0].value.status == 200)
        gate.open(1)
        let loser = try await writes[1].value
        #expect(loser.status == 500)
        #expect(loser.headers["Content-Type"]?.hasPrefix("application/problem+json") == true)
        #expect(client.emulator.rows(in: "todoitem").first?["text"] == "1st")
    }

    @Test("the predecessor's next link is a whole URL of which most escapes are gone")
    func nextLink() async throws {
        let client = try predecessor { $0.pageSize = 1 }
        try client.emulator.seed([["id": "b", "text": "2"]], in: "todoitem")
        let filter = PercentEncoding.encode("text ne 'a+b&c=d\u{fc}#%'")
        let page = try await client.send("GET", "/tables/todoitem?$filter=\(filter)", version).json
        #expect(
            page["nextLink"]
                == "http://localhost/tables/todoitem?$filter=text ne %27a%2Bb%26c=d\u{fc}%23%25%27&$skip=1"
        )
    }

    /// The predecessor in protocol 2.
    private func predecessor2(adjust: (inout EmulatorConfiguration) -> Void = { _ in }) throws -> Client {
        let table = EmulatedTableDefinition("todoitem", columns: ["text": .init(.text), "due": .init(.date).optional])
        let client = Client(.azureMobileApps, tables: [table]) {
            $0.edition = .predecessor
            adjust(&$0)
        }
        try client.emulator.seed(
            ["a", "b", "c"].map { ["id": .string($0), "text": "1", "due": "2024-03-04T05:06:07.089Z"] },
            in: "todoitem"
        )
        return client
    }

    @Test("in protocol 2 the predecessor's lists are arrays or counted, and have no link")
    func lists() async throws {
        let client = try predecessor2 { $0.pageSize = 2 }
        let page = try await client.get("/tables/todoitem?$orderby=id")
        #expect(try page.json.array?.count == 2 && page.ids == ["a", "b"])
        #expect(page.headers["Link"] == nil)
        #expect(try await client.get("/tables/todoitem?$orderby=id&$skip=2").ids == ["c"])
        for option in ["$inlinecount=allpages", "$count=true"] {
            let counted = try await client.get("/tables/todoitem?" + option).json
            #expect(counted["count"] == 3 && counted["results"]?.array?.count == 2, "\(option)")
            #expect(counted.object?.keys.sorted() == ["count", "results"])
        }
        #expect(try await client.get("/tables/todoitem?$inlinecount=none&$count=false").json.array?.count == 2)
        let row = try #require(try page.json.array?.first)
        #expect(row["due"] == "2024-03-04T05:06:07.089+00:00" && row["createdAt"] == nil)
        #expect(row["updatedAt"]?.string?.hasSuffix("+00:00") == true)
    }

    @Test("in protocol 2 the predecessor reads the old date literals, and texts as they are")
    func oldDates() async throws {
        let client = try predecessor2()
        func answer(_ filter: String) async throws -> EmulatorResponse {
            try await client.get("/tables/todoitem?$filter=" + PercentEncoding.encode(filter))
        }
        for name in ["datetime", "datetimeoffset"] {
            #expect(try await answer("due ge \(name)'2024-03-04T05:06:07.089Z'").ids == ["a", "b", "c"])
            #expect(try await answer("due gt \(name)'2024-03-04T05:06:07.089Z' or id eq 'b'").ids == ["b"])
        }
        #expect(try await answer("due gt datetime'2024-03-04T05:06:07'").status == 400)
        #expect(try await answer("text eq 'datetime''2024-03-04T05:06:07Z'''").ids == [])
        #expect(try await answer("substringof('1',text)").status == 400)
        #expect(try await answer("text eq 'x").status == 400)
        let newer = try predecessor()
        let filter = PercentEncoding.encode("due gt datetime'2024-03-04T05:06:07Z'")
        #expect(try await newer.send("GET", "/tables/todoitem?$filter=\(filter)", version).status == 400)
    }

    @Test("in protocol 2 the predecessor brings a deleted row back by one PATCH, and not by POST")
    func undelete2() async throws {
        let client = try predecessor2()
        let row = "/tables/todoitem/a"
        #expect(try await client.send("GET", row, version).status == 400)
        #expect(try await client.send("DELETE", row).status == 204)
        let gone = try await client.send("DELETE", row)
        #expect(gone.status == 410 && gone.headers["Content-Type"]?.hasPrefix("application/problem+json") == true)
        let refused = try await client.send("POST", row)
        #expect(refused.status == 405 && refused.headers["Allow"] == "DELETE, GET, PATCH, PUT")
        #expect(try await client.send("PATCH", row, json: ["text": "mine"]).status == 410)
        #expect(try await client.send("PUT", row, json: ["id": "a", "text": "mine"]).status == 410)
        let restored = try await client.send("PATCH", row, json: ["text": "mine", "deleted": false])
        #expect(try restored.status == 200 && restored.json["text"] == "mine")
        let unknown = try await client.get("/tables/todoitem/nobody")
        #expect(try unknown.status == 404 && unknown.json["title"] == "Not Found")
        #expect(try await client.send("PATCH", row, ["If-Match": "\"c3RhbGU=\""], json: ["text": "x"]).status == 412)
        #expect(try await client.send("POST", "/tables/todoitem", json: ["id": "a"]).status == 409)
    }

    @Test("in protocol 2 the predecessor has no createdAt, also in a table without columns")
    func createdAt() async throws {
        let client = Client(.azureMobileApps) { $0.edition = .predecessor }
        let sent: JSONValue = ["id": "a", "text": "x", "createdAt": "2024-01-01T00:00:00Z"]
        let made = try await client.send("POST", "/tables/todoitem", json: sent)
        #expect(try made.status == 201 && made.json["createdAt"] == nil && made.json["text"] == "x")
        #expect(client.emulator.rows(in: "todoitem").first?["createdAt"] == nil)
    }

    @Test("version 4 of the Node server finds no deleted row to change, and pages in its own way")
    func node4() async throws {
        let client = Client(.azureMobileApps) {
            $0.edition = .node4
            $0.pageSize = 2
        }
        try client.emulator.seed((0..<5).map { ["id": .string("\($0)")] }, in: "todoitem")
        #expect(try await client.send("DELETE", "/tables/todoitem/0").status == 200)
        #expect(try await client.send("DELETE", "/tables/todoitem/0").status == 404)
        #expect(try await client.send("PATCH", "/tables/todoitem/0", json: ["text": "x"]).status == 404)
        #expect(try await client.send("POST", "/tables/todoitem/0").status == 201)
        let whole = try await client.get("/tables/todoitem?$top=0")
        #expect(try whole.ids == ["0", "1"])
        #expect(try await client.get("/tables/todoitem?$top=4").ids == ["0", "1", "2", "3"])
        #expect(try await client.get("/tables/todoitem?$top=4").headers["Link"]?.contains("top=4") == true)
        #expect(try await client.get("/tables/todoitem?$top=2").headers["Link"] != nil)
    }
}

extension Sequence {
    fileprivate func asyncMapped<Value>(_ transform: (Element) async -> Value) async -> [Value] {
        var values: [Value] = []
        for element in self { await values.append(transform(element)) }
        return values
    }
}
