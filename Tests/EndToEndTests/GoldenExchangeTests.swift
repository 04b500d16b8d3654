import Foundation
import Testing

@Suite("The golden exchange with the built emulator")
struct GoldenExchangeTests {
    @Test("step by step: versions, conditions, tombstones, and refusals")
    func exchange() async throws {
        try await EmulatorProcess.with(3, ["--table", "todoitem"]) { server in
            let table = "/tables/todoitem"
            // 1. Create.
            let created = try await server.send("POST", table, #"{"id":"a1","title":"x"}"#)
            #expect(created.status == 201)
            let v1 = try #require(try created.object["version"] as? String)
            #expect(created.headers["etag"] == "\"\(v1)\"")
            #expect(Set(try created.object.keys).isSuperset(of: ["id", "updatedAt", "version", "deleted"]))

            // 2. Query.
            let page = try await server.send("GET", table + "?$orderby=updatedAt&$count=true&__includedeleted=true")
            #expect(try page.object["count"] as? Int == 1)
            #expect((try page.object["items"] as? [[String: Any]])?.first?["id"] as? String == "a1")
            #expect(try page.object.keys.contains("nextLink"), "null is written")

            // 3. Replace, and again with the old version.
            let body = #"{"id":"a1","title":"x2"}"#
            let replaced = try await server.send("PUT", table + "/a1", body, headers: ["If-Match": "\"\(v1)\""])
            #expect(replaced.status == 200)
            let v2 = try #require(try replaced.object["version"] as? String)
            let t2 = try #require(try replaced.object["updatedAt"] as? String)
            #expect(v2 != v1)
            let stale = try await server.send("PUT", table + "/a1", body, headers: ["If-Match": "\"\(v1)\""])
            #expect(stale.status == 412 && stale.headers["etag"] == "\"\(v2)\"")
            #expect(try stale.object["version"] as? String == v2)

            // 4. Delete.
            func delete(_ version: String) async throws -> Int {
                try await server.send("DELETE", table + "/a1", headers: ["If-Match": "\"\(version)\""]).status
            }
            #expect(try await delete(v1) == 412)
            #expect(try await delete(v2) == 204)
            #expect(try await delete(v2) == 410)
            #expect(try await server.send("GET", table + "/a1").status == 410)
            let tombstone = try await server.send("GET", table + "/a1?__includedeleted=true")
            let v3 = try #require(try tombstone.object["version"] as? String)
            #expect(tombstone.status == 200 && v3 != v2)
            #expect(try tombstone.object["deleted"] as? Bool == true)

            // 5. What changed since.
            let since = "?$filter=%28updatedAt%20gt%20cast%28\(t2)%2CEdm.DateTimeOffset%29%29&$orderby=updatedAt"
            let news = try await server.send("GET", table + since + "&__includedeleted=true")
            #expect((try news.object["items"] as? [[String: Any]])?.count == 1)
            let visible = try await server.send("GET", table + since)
            #expect((try visible.object["items"] as? [[String: Any]])?.isEmpty == true)

            // 6. The id is taken by a tombstone; a replacement brings it back.
            let duplicate = try await server.send("POST", table, #"{"id":"a1","title":"y"}"#)
            #expect(duplicate.status == 409)
            #expect(try duplicate.object["deleted"] as? Bool == true)
            let restored = try await server.send(
                "PUT",
                table + "/a1?__includedeleted=true",
                #"{"id":"a1","title":"y"}"#,
                headers: ["If-Match": "\"\(v3)\""]
            )
            #expect(restored.status == 200)
            #expect(try restored.object["deleted"] as? Bool == false)

            // 7. Refusals.
            #expect(try await server.send("PUT", table + "/a1", #"{"id":"b","title":"y"}"#).status == 400)
            #expect(try await server.send("PUT", table + "/zz", #"{"id":"zz"}"#).status == 404)
            let text = try await server.send("POST", table, "x", headers: ["Content-Type": "text/plain"])
            #expect(text.status == 415)
            #expect(try await server.send("GET", table + "?$top=-1").status == 400)
            #expect(try await server.send("GET", table + "?$filter=nope%20eq%201").status == 400)
        }
    }

    @Test(
        "the emulator says where it listens as one JSON object, and stops on both signals",
        arguments: [SIGINT, SIGTERM]
    )
    func signals(_ signal: Int32) async throws {
        let emulator = try await EmulatorProcess.start(3)
        #expect(try await emulator.send("GET", "/tables/TodoItem").status == 200)
        #expect(await emulator.stop(signal) == 0)
    }
}
