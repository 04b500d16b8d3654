import Foundation
import Testing

@testable import DatasyncEmulator

/// What a genuine server answered to replacements, deletions and conditions.
@Suite("A genuine server's answers to changes")
struct GenuineConditionTests {
    private let client = GenuineServer.client()
    private let path = "/tables/TodoItem"

    private func create(_ id: String) async throws -> String {
        let body = #"{"id":"\#(id)","text":"old","complete":true,"price":2.5,"due":"2024-01-01T00:00:00Z"}"#
        let created = try await client.send("POST", path, text: body)
        #expect(created.status == 201)
        return try #require(try created.json["version"]?.string)
    }

    @Test("a replacement gives what it leaves out its default")
    func replacement() async throws {
        _ = try await create("r1")
        let replaced = try await client.send("PUT", path + "/r1", text: #"{"id": "r1"}"#)
        #expect(replaced.status == 200 && replaced.headers["Location"] == nil)
        #expect(
            replaced.textWithoutStamps
                == #"{"text":null,"complete":false,"priority":null,"price":null,"note":null,"due":null,…,"id":"r1","deleted":false}"#
        )
    }

    @Test(
        "replacements that are not carried out, and those that are",
        arguments: [
            (#"{"id":"r1","complete":null}"#, "r1", 500), (#"{"id": "r2"}"#, "r1", 400), (#"{"id": "R1"}"#, "r1", 400),
            (#"{"text": "n"}"#, "r1", 400), (#"{"id": null}"#, "r1", 400), (#"{"id": "zzz"}"#, "zzz", 404),
            (#"{"id": "zzz"}"#, "zzz?__includedeleted=true", 404), ("null", "r1", 400), ("{", "zzz", 500),
            (#"{"id": "r1", "foo": {}}"#, "r1", 200),
            (#"{"id": "r1", "text": "v", "version": "AAAA", "updatedAt": "2001-01-01T00:00:00Z"}"#, "r1", 200),
            (#"{"id": "r1", "deleted": true}"#, "r1/", 200),
        ]
    )
    func replacements(_ body: String, _ target: String, _ status: Int) async throws {
        _ = try await create("r1")
        let answer = try await client.send("PUT", "\(path)/\(target)", text: body)
        #expect(answer.status == status)
        #expect(status == 200 || answer.body.isEmpty)
        #expect(client.emulator.rows(in: "TodoItem")[0]["text"] == "old" || status == 200)
    }

    @Test("a deleted row: what is gone, what is not, and how it comes back")
    func tombstone() async throws {
        _ = try await create("e1")
        let deleted = try await client.send("DELETE", path + "/e1")
        #expect(deleted.status == 204 && deleted.body.isEmpty && deleted.headers.map(\.name).isEmpty)
        let stored = try await client.get(path + "/e1?__includedeleted=true")
        #expect(stored.status == 200 && stored.text.hasSuffix(#""id":"e1","deleted":true}"#))
        for (method, target, headers, status) in [
            ("DELETE", "", [:], 410), ("DELETE", "?__includedeleted=true", [:], 410),
            ("DELETE", "", ["If-Match": "*"], 410),
            ("GET", "", [:], 410), ("GET", "?__includeDeleted=TRUE", [:], 200),
            ("GET", "?__includedeleted=1", [:], 410),
            ("GET", "?__includedeleted=false&__includedeleted=true", [:], 200), ("GET", "?__includedeleted", [:], 410),
            ("GET", "?__includedeleted=%20true", [:], 410), ("GET", "?__%69ncludedeleted=true", [:], 200),
            ("GET", "", ["If-None-Match": stored.headers["ETag"] ?? ""], 410),
            ("GET", "?__includedeleted=true", ["If-None-Match": stored.headers["ETag"] ?? ""], 304),
            ("PUT", "", ["If-Match": "\"AAAA\""], 410),
            ("PUT", "?__includedeleted=true", ["If-Match": "\"AAAA\""], 412),
            ("PUT", "?__includedeleted=true", ["If-Match": stored.headers["ETag"] ?? ""], 200),
        ] as [(String, String, [String: String], Int)] {
            var fields: HTTPHeaderFields = [:]
            for (name, value) in headers { fields[name] = value }
            let body = method == "PUT" ? #"{"id": "e1", "text": "back"}"# : ""
            let answer = try await client.send(method, path + "/e1" + target, fields, text: body)
            #expect(answer.status == status, "\(method) \(target) \(headers)")
            if status == 410 || status == 304 {
                #expect(answer.body.isEmpty && answer.headers["ETag"] == nil && answer.headers["Content-Type"] == nil)
            }
            if status == 412 { #expect(answer.body == stored.body && answer.headers["ETag"] == stored.headers["ETag"]) }
        }
        #expect(try await client.get(path + "/e1").text.hasPrefix(#"{"text":"back","complete":false,"#))
    }

    struct Condition: Sendable, CustomTestStringConvertible {
        let field: String
        let values: [String]
        let statuses: [Int]

        var testDescription: String { "\(field): \(values.joined(separator: " | "))" }

        init(_ statuses: [Int], _ field: String, _ values: String...) {
            (self.statuses, self.field, self.values) = (statuses, field, values)
        }
    }

    private static let unmodified = [304, 412, 412]
    private static let met = [200, 200, 204]
    private static let unmet = [412, 412, 412]
    private static let failed = [500, 500, 500]

    @Test(
        "conditions of GET, PUT and DELETE; V stands for the row's version",
        arguments: [
            Condition(unmodified, "If-None-Match", "\"V\""), Condition(unmodified, "If-None-Match", "*"),
            Condition(unmodified, "If-None-Match", "\"dGVzdA==\", \"V\""),
            Condition(unmodified, "If-Modified-Since", "Fri, 01 Jan 2100 00:00:00 GMT"),
            Condition(met, "If-None-Match", "\"dGVzdA==\""), Condition(met, "If-None-Match", "W/\"V\""),
            Condition(met, "If-None-Match", "V"), Condition(met, "If-Match", "\"V\""), Condition(met, "If-Match", "*"),
            Condition(met, "If-Match", "dGVzdA=="), Condition(met, "If-Match", ""), Condition(met, "If-Match", "'V'"),
            Condition(met, "If-Match", "xx, \"V\""),
            Condition(met, "If-Modified-Since", "Tue, 14 Nov 2023 22:13:20 GMT"),
            Condition(met, "If-Unmodified-Since", "Fri, 01 Jan 2100 00:00:00 GMT"),
            Condition(met, "If-Modified-Since", "soon"), Condition(unmet, "If-Match", "\"dGVzdA==\""),
            Condition(unmet, "If-Match", "\"*\""), Condition(unmet, "If-Match", "W/\"V\""),
            Condition(unmet, "If-Match", "\"dGVzdA==\", \"AAAA\""), Condition(unmet, "If-Match", "\"\""),
            Condition(unmet, "If-Match", "\"!!\""), Condition(unmet, "If-Match", "\"dGVzdA==\", xx"),
            Condition(unmet, "If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT"),
            Condition(unmet, "If-Unmodified-Since", "Tue, 14 Nov 2023 22:13:20 GMT"),
            Condition(failed, "If-Match", "\"dGVzdA==\", \"V\""), Condition(failed, "If-Match", "\"V\", \"V\""),
            Condition(failed, "If-Match", "\"dGVzdA==\"", "\"V\""), Condition(failed, "If-Match", "*, \"V\""),
            Condition(failed, "If-Match", "*, \"x\""),
        ]
    )
    func conditions(_ condition: Condition) async throws {
        for (method, status) in zip(["GET", "PUT", "DELETE"], condition.statuses) {
            let version = try await create(method)
            var fields: HTTPHeaderFields = [:]
            for value in condition.values { fields.append(condition.field, value.replacing("V", with: version)) }
            let body = method == "PUT" ? #"{"id":"PUT","text":"new"}"# : ""
            let answer = try await client.send(method, "\(path)/\(method)", fields, text: body)
            #expect(answer.status == status)
            let isWithRow = status == 200 || status == 412
            #expect(answer.body.isEmpty != isWithRow && (answer.headers["ETag"] != nil) == isWithRow)
        }
        let changed = client.emulator.rows(in: "TodoItem").contains { $0["text"] == "new" }
        #expect(changed == (condition.statuses[1] == 200), "what failed was not done")
    }
}
