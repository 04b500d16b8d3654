import Foundation
import Testing

@testable import DatasyncEmulator

/// The paging vectors of protocol 3: 248 rows, `id-000` to `id-247`.
struct PagingTests {
    private func client(pageSize: Int? = nil) throws -> Client {
        let client = Client { $0.pageSize = pageSize }
        let rows = (0..<248)
            .map { number -> [String: JSONValue] in
                let id = "id-" + String(repeating: "0", count: 3 - "\(number)".count) + "\(number)"
                return ["id": .string(id), "year": .integer(Int64(1_900 + number % 7))]
            }
        try client.emulator.seed(rows, in: "todoitem")
        return client
    }

    /// Follows nextLink to the end; the sizes of the pages and all ids.
    private func walk(_ client: Client, _ query: String = "") async throws -> (sizes: [Int], ids: [String]) {
        var sizes: [Int] = []
        var ids: [String] = []
        var next: String? = query
        while let query = next {
            try #require(sizes.count < 300)
            let page = try await client.get("/tables/todoitem" + (query.isEmpty ? "" : "?" + query))
            #expect(page.status == 200)
            sizes.append(try page.ids.count)
            ids += try page.ids
            next = try page.json["nextLink"]?.string
        }
        return (sizes, ids)
    }

    @Test("pages follow each other to the last row")
    func pages() async throws {
        let client = try client()
        let plain = try await walk(client)
        #expect(plain.sizes == [100, 100, 48])
        #expect(plain.ids == plain.ids.sorted() && Set(plain.ids).count == 248)
        #expect(try await walk(self.client(pageSize: 25), "$top=100").sizes == [25, 25, 25, 25])
        #expect(try await walk(client, "$top=50&$count=true").sizes == [50])
        #expect(try await walk(client, "$orderby=year%20desc,id%20desc").ids.count == 248)
    }

    @Test("the next link is a bare, encoded query that keeps everything else")
    func nextLink() async throws {
        let client = try client()
        func next(_ query: String) async throws -> JSONValue? {
            try await client.get("/tables/todoitem?" + query).json["nextLink"]
        }
        #expect(try await client.get("/tables/todoitem").json["nextLink"] == "$skip=100")
        #expect(try await next("$top=125") == "$top=25&$skip=100")
        #expect(try await next("$top=5&$skip=5") == .null)
        #expect(try await next("$top=0&$count=true") == .null)
        #expect(try await next("$skip=1000") == .null)
        #expect(try await next("$skip=148") == .null)
        #expect(try await next("$skip=147") == "$skip=247")
        let link = try await next(
            "$filter=id%20ne%20'a:+%2B'&$SKIP=5&$count=true&__includedeleted=true&$select=id,year"
        )
        #expect(
            link == "$filter=id%20ne%20%27a%3A%20%2B%27&$SKIP=105&$count=true&__includedeleted=true&$select=id,year"
        )
    }

    @Test("the count disregards skip and top, and the page is empty for top 0")
    func count() async throws {
        let client = try client()
        let page = try await client.get("/tables/todoitem?$top=0&$count=true&$filter=year%20eq%201900")
        #expect(try page.json == ["items": [], "count": 36, "nextLink": nil])
        #expect(try await client.get("/tables/todoitem?$top=5&$skip=7&$count=true").json["count"] == 248)
        #expect(try await client.get("/tables/todoitem?$top=5").json["count"] == .null)
        for value in ["false", "TRUE", "1", "nope"] {
            #expect(try await client.get("/tables/todoitem?$count=" + value).json["count"] == 248, "any value asks")
        }
    }

    @Test("tombstones are hidden unless asked for, and the link keeps asking")
    func tombstones() async throws {
        let client = try client()
        for id in try await client.get("/tables/todoitem?$top=95").ids {
            #expect(try await client.send("DELETE", "/tables/todoitem/" + id).status == 204)
        }
        #expect(try await walk(client).ids.count == 153)
        #expect(try await walk(client, "__includeDeleted=TRUE").ids.count == 248)
        #expect(try await walk(client, "__includedeleted=true&$filter=deleted").ids.count == 95)
        #expect(try await walk(client, "$filter=deleted").ids.isEmpty)
    }

    @Test("keyset paging by updatedAt and id meets every row once, also while rows change")
    func keyset() async throws {
        let client = try client()
        var seen: [String] = []
        var filter = ""
        while true {
            let page = try await client.get(
                "/tables/todoitem?$orderby=updatedAt,id&$top=40&__includedeleted=true" + filter
            )
            let rows = try #require(try page.json["items"]?.array)
            guard let last = rows.last, let stamp = last["updatedAt"]?.string, let id = last["id"]?.string else {
                break
            }
            seen += try page.ids
            let date = "cast(\(stamp),Edm.DateTimeOffset)"
            filter =
                "&$filter=" + PercentEncoding.encode("updatedAt gt \(date) or (updatedAt eq \(date) and id gt '\(id)')")
        }
        #expect(seen.count == 248 && Set(seen).count == 248)
    }

    @Test(
        "an option that makes no sense is a 400 with an error object",
        arguments: [
            "$filter=(year%20-%201900)%20ge%20100", "$filter=nope%20eq%201", "$orderby=nope", "$select=nope",
            "$orderby=year%20fizz",
            "$select=year%20rating", "$skip=-1", "$skip=NaN", "$top=-1", "$top=NaN", "$top=1000000",
            "$top=128001", "$skip=2147483648", "$top=3&$top=4", "$filter=true&$FILTER=true", "$expand=x", "$apply=x",
            "$compute=x", "$deltatoken=x", "$skiptoken=x", "$filter=", "$orderby=", "$top=", "$skip=", "$count=",
            "$select=", "$select=*", "$select=id/x", "$orderby=id,ID", "$filter=null", "$filter=1", "$filter=id",
            "$orderby=id,updatedAt,version,deleted,year,year%20add%201",
        ]
    )
    func refused(query: String) async throws {
        let answer = try await client().get("/tables/todoitem?" + query)
        #expect(answer.status == 400)
        #expect(try answer.json["code"] == "400" && answer.json["message"]?.string?.isEmpty == false)
    }

    @Test(
        "options that the server does not know are ignored",
        arguments: [
            "$inlinecount=allpages", "$search=x", "$format=xml", "$foo=1", "filter=nope", "top=3", "$", "$$=1",
            "$apply=aggregate(year%20with%20sum%20as%20s)", "$compute=year%20add%201%20as%20x", "$top=%20248",
            "$TOP=+248",
        ]
    )
    func ignored(query: String) async throws {
        let answer = try await client(pageSize: 1_000).get("/tables/todoitem?" + query)
        #expect(answer.status == 200)
        #expect(try answer.ids.count == 248 && answer.json["count"] == .null)
    }

    @Test("a selection gives exactly the columns named")
    func selection() async throws {
        let page = try await client().get("/tables/todoitem?$top=1&$select=YEAR,%20updatedat")
        let row = try #require(try page.json["items"]?.array?.first?.object)
        #expect(Set(row.keys) == ["year", "updatedAt"])
    }

    @Test("a table that never had a row takes any column for null, a strict one does not")
    func unknownColumns() async throws {
        let client = Client(tables: ["empty", EmulatedTableDefinition("strict", columns: ["title": .text.optional])])
        #expect(try await client.get("/tables/empty?$filter=project%20eq%20'x'").status == 200)
        #expect(try await client.get("/tables/strict?$filter=project%20eq%20'x'").status == 400)
        #expect(try await client.get("/tables/strict?$filter=title%20eq%20'x'").status == 200)
        _ = try await client.send("POST", "/tables/empty", json: ["id": "1", "title": "t"])
        #expect(try await client.get("/tables/empty?$filter=project%20eq%20'x'").status == 400)
        #expect(try await client.get("/tables/empty?$filter=Title%20eq%20't'").ids == ["1"])
    }
}
