import Foundation
import Testing

@testable import DatasyncEmulator

/// The golden exchange of protocol 3, step by step, through a real socket.
struct GoldenExchangeTests {
    private struct Answer {
        let status: Int
        let etag: String?
        let contentType: String?
        let lastModified: String?
        let data: Data

        var json: JSONValue {
            get throws { try JSONValue(parsing: data) }
        }
    }

    private let client: RawClient
    private let server: EmulatorServer

    init() async throws {
        let table = EmulatedTableDefinition("todoitem", columns: ["title": .text.optional])
        server = EmulatorServer(EmulatorConfiguration(tables: [table]))
        client = try RawClient(try await server.start())
    }

    private func send(
        _ method: String,
        _ target: String,
        ifMatch: String? = nil,
        body: String? = nil,
        contentType: String = "application/json"
    ) async throws -> Answer {
        var fields = ["ZUMO-API-VERSION": "3.0.0"]
        fields["If-Match"] = ifMatch
        if body != nil { fields["Content-Type"] = contentType }
        let answer = try await client.ask(method, target, fields, body: body)
        return Answer(
            status: answer.status,
            etag: answer.fields["etag"],
            contentType: answer.fields["content-type"],
            lastModified: answer.fields["last-modified"],
            data: Data(answer.body)
        )
    }

    private func tag(_ answer: Answer) throws -> String {
        let version = try #require(try answer.json["version"]?.string)
        #expect(Data(base64Encoded: version)?.count == 16)
        return "\"\(version)\""
    }

    @Test("the golden exchange runs as specified, over a socket")
    func golden() async throws {
        let path = "/tables/todoitem"
        // 1
        let created = try await send("POST", path, body: #"{"id":"a1","title":"x"}"#)
        #expect(created.status == 201)
        let v1 = try tag(created)
        #expect(created.etag == v1)
        #expect(created.lastModified?.hasSuffix(" GMT") == true)
        let members = try #require(try created.json.object)
        #expect(Set(members.keys) == ["id", "updatedAt", "version", "deleted", "title"])
        #expect(members["deleted"] == false)
        #expect(members["updatedAt"]?.string?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
        // 2
        let all = try await send("GET", path + "?$orderby=updatedAt&$count=true&__includedeleted=true")
        #expect(all.status == 200)
        #expect(try all.json == ["items": [try created.json], "count": 1, "nextLink": nil])
        #expect(all.etag == nil)
        // 3
        let replaced = try await send("PUT", path + "/a1", ifMatch: v1, body: #"{"id":"a1","title":"z"}"#)
        #expect(replaced.status == 200)
        let v2 = try tag(replaced)
        #expect(v2 != v1 && replaced.etag == v2)
        let stale = try await send("PUT", path + "/a1", ifMatch: v1, body: #"{"id":"a1","title":"w"}"#)
        #expect(stale.status == 412 && stale.etag == v2)
        #expect(try stale.json == (try replaced.json))
        // 4
        #expect(try await send("DELETE", path + "/a1", ifMatch: v1).status == 412)
        let deleted = try await send("DELETE", path + "/a1", ifMatch: v2)
        #expect(deleted.status == 204 && deleted.data.isEmpty && deleted.etag == nil)
        #expect(try await send("DELETE", path + "/a1", ifMatch: v2).status == 410)
        let gone = try await send("GET", path + "/a1")
        #expect(gone.status == 410 && gone.data.isEmpty)
        let tombstone = try await send("GET", path + "/a1?__includedeleted=true")
        #expect(tombstone.status == 200)
        #expect(try tombstone.json["deleted"] == true)
        let v3 = try tag(tombstone)
        #expect(v3 != v2)
        // 5
        let stamp = try #require(try replaced.json["updatedAt"]?.string)
        let filter = "%28updatedAt%20gt%20cast%28\(stamp.replacing(":", with: "%3A"))%2CEdm.DateTimeOffset%29%29"
        let query = path + "?$filter=\(filter)&$orderby=updatedAt&$count=true"
        let changes = try await send("GET", query + "&__includedeleted=true")
        #expect(try changes.json == ["items": [try tombstone.json], "count": 1, "nextLink": nil])
        #expect(try await send("GET", query).json == ["items": [], "count": 0, "nextLink": nil])
        // 6
        let again = try await send("POST", path, body: #"{"id":"a1","title":"x"}"#)
        #expect(again.status == 409 && again.etag == v3)
        #expect(try again.json == (try tombstone.json))
        let revived = try await send(
            "PUT",
            path + "/a1?__includedeleted=true",
            ifMatch: v3,
            body: #"{"id":"a1","title":"y"}"#
        )
        #expect(revived.status == 200)
        #expect(try revived.json["deleted"] == false)
        // 7
        let mismatch = try await send("PUT", path + "/a1", body: #"{"id":"b"}"#)
        #expect(mismatch.status == 400 && mismatch.data.isEmpty)
        #expect(try await send("PUT", path + "/zz", body: #"{"id":"zz"}"#).status == 404)
        #expect(try await send("POST", path, body: "x", contentType: "text/plain").status == 415)
        let negative = try await send("GET", path + "?$top=-1")
        #expect(negative.status == 400)
        #expect(try negative.json["code"] == "400" && negative.json["message"]?.string != nil)
        #expect(try await send("GET", path + "?$filter=nope%20eq%201").status == 400)
        await server.stop()
    }
}
