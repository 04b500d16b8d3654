import Foundation
import Testing

@testable import DatasyncEmulator

/// What a genuine server makes of values, and what it refuses.
@Suite("A genuine server's types")
struct GenuineTypeTests {
    private static let path = "/tables/TodoItem"

    @Test(
        "a value that fits, and what comes back of it",
        arguments: [
            ("text", "null", "null"), ("price", "\"1.5\"", "1.5"), ("price", "1.0", "1"), ("price", "100", "100"),
            ("price", "0.1", "0.1"), ("price", "1e21", "1E+21"),
            ("price", "123456789012345680", "1.2345678901234568E+17"),
            ("price", "9007199254740993", "9007199254740992"), ("price", "5e-324", "5E-324"), ("price", "-0.0", "-0"),
            ("price", "1e308", "1E+308"), ("price", "0.0000001", "1E-07"),
            ("price", "0.30000000000000004", "0.30000000000000004"), ("price", "-2.5e-3", "-0.0025"),
            ("price", "1.25e16", "12500000000000000"), ("price", "-0", "-0"),
            ("priority", "\"12\"", "12"), ("priority", "9007199254740993", "9007199254740993"),
            ("priority", "9223372036854775807", "9223372036854775807"), ("priority", "-0", "0"),
            ("complete", "true", "true"),
        ]
    )
    func fits(_ column: String, _ sent: String, _ kept: String) async throws {
        let client = GenuineServer.client()
        let created = try await client.send("POST", Self.path, text: #"{"id":"a","\#(column)":\#(sent)}"#)
        #expect(created.status == 201 && created.written(column) == kept)
        #expect(try await client.get(Self.path + "/a").written(column) == kept)
    }

    @Test(
        "a value that does not fit",
        arguments: [
            ("text", ["5", "true", "{}", "[]"]), ("complete", ["\"true\"", "1", "null", "\"\""]),
            ("price", ["\"abc\"", "\"\"", "true", "NaN", "\"NaN\"", "\"Infinity\"", "01"]),
            ("priority", ["1.5", "1.0", "1e3", "9223372036854775808", "\"1.0\"", "\"\""]),
            (
                "due",
                [
                    "\"0001-01-01T00:00:00+01:00\"", "\"9999-12-31T23:59:59.999-01:00\"", "\"10000-01-01T00:00:00Z\"",
                    "\"2024-02-30T00:00:00Z\"", "\"2024-12-31T23:59:60Z\"", "\"2024-03-04T24:00:00Z\"", "\"\"",
                    "\"soon\"", "\"   \"", "5",
                ]
            ),
        ]
    )
    func misfits(_ column: String, _ values: [String]) async throws {
        for value in values {
            for isGenuine in [true, false] {
                let client = GenuineServer.client(isGenuine: isGenuine)
                let body = #"{"id":"a","\#(column)":\#(value)}"#
                let refused = try await client.send("POST", Self.path, text: body)
                #expect(refused.status == (isGenuine ? 500 : 400), "\(value)")
                #expect(client.emulator.rows(in: "TodoItem").isEmpty)
                _ = try await client.send("POST", Self.path, text: #"{"id":"a","text":"old"}"#)
                #expect(try await client.send("PUT", Self.path + "/a", text: body).status == refused.status)
                #expect(client.emulator.rows(in: "TodoItem")[0]["text"] == "old")
            }
        }
    }

    @Test(
        "a date, and what comes back of it",
        arguments: [
            ("2024-03-04T05:06:07Z", "2024-03-04T05:06:07.000Z"),
            ("2024-03-04T05:06:07.1Z", "2024-03-04T05:06:07.100Z"),
            ("2024-03-04T05:06:07.1234567Z", "2024-03-04T05:06:07.123Z"),
            ("2024-03-04T05:06:07.9999999Z", "2024-03-04T05:06:07.999Z"),
            ("2024-03-04T05:06:07.12345678Z", "2024-03-04T05:06:07.123Z"),
            ("2024-03-04T05:06:07.123456789Z", "2024-03-04T05:06:07.123Z"),
            ("2024-03-04T05:06:07.089+02:00", "2024-03-04T03:06:07.089Z"),
            ("2024-03-04T05:06:07.089-05:30", "2024-03-04T10:36:07.089Z"),
            ("2024-03-04T05:06:07", "2024-03-04T05:06:07.000Z"),
            ("2024-03-04T05:06Z", "2024-03-04T05:06:00.000Z"), ("2024-03-04", "2024-03-04T00:00:00.000Z"),
            ("2024-03-04 05:06:07Z", "2024-03-04T05:06:07.000Z"), ("2024-03-04T05:06:07z", "2024-03-04T05:06:07.000Z"),
            ("1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"),
            ("1969-12-31T23:59:59.1234567Z", "1969-12-31T23:59:59.123Z"),
            ("1900-01-01T00:00:00Z", "1900-01-01T00:00:00.000Z"), ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
            ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
            ("Mon, 04 Mar 2024 05:06:07 GMT", "2024-03-04T05:06:07.000Z"), ("03/04/2024", "2024-03-04T00:00:00.000Z"),
            ("2024-03-04T05:06:07+0200", "2024-03-04T03:06:07.000Z"),
            ("2024-03-04T05:06:07+02", "2024-03-04T03:06:07.000Z"),
        ]
    )
    func dates(_ sent: String, _ kept: String) async throws {
        let created = try await GenuineServer.client().send("POST", Self.path, text: #"{"due":"\#(sent)"}"#)
        #expect(created.status == 201 && created.written("due") == "\"\(kept)\"")
    }

    @Test("a number out of range is refused, or stored so that no page with it can be read")
    func infinity() async throws {
        let usual = GenuineServer.client(isGenuine: false)
        #expect(try await usual.send("POST", Self.path, text: #"{"id":"x","price":1e400}"#).status == 400)
        #expect(usual.emulator.rows(in: "TodoItem").isEmpty)

        let client = GenuineServer.client(pageSize: 1_000)
        #expect(try await client.send("POST", Self.path, text: #"{"id":"x","price":1e400}"#).status == 500)
        for target in [Self.path, Self.path + "/x", Self.path + "?$filter=price%20ge%200"] {
            let answer = try await client.get(target)
            #expect(answer.status == 500 && answer.body.isEmpty)
        }
        #expect(
            try await client.send("POST", Self.path, text: #"{"id":"x"}"#).status == 500,
            "the row does not fit a 409"
        )
        #expect(try await client.get(Self.path + "?$select=id,updatedAt,version").ids == ["x"])
        #expect(try await client.get(Self.path + "?$filter=id%20ne%20'x'").ids == [])
        try client.emulator.seed((0..<500).map { ["id": .string("a\($0)")] }, in: "TodoItem")
        await #expect(throws: EmulatorError.self, "a long page breaks off") { try await client.get(Self.path) }
        #expect(try await client.send("DELETE", Self.path + "/x").status == 204)
        #expect(try await client.get(Self.path).ids.count == 500)
        #expect(try await client.get(Self.path + "/x?__includedeleted=true").status == 500)
        let mended = try await client.send(
            "PUT",
            Self.path + "/x?__includedeleted=true",
            text: #"{"id":"x","price":1}"#
        )
        #expect(mended.status == 200)
    }

    private static let rich = EmulatedTableDefinition(
        "rich",
        columns: [
            "name": .text, "count": .integer, "size": .number, "cost": .decimal, "at": .date, "day": .day,
            "time": .time,
            "ref": .uuid, "blob": .bytes, "flag": .boolean, "anything": .json, "costOrNot": .decimal.optional,
            "anythingOrNot": .json.optional,
        ]
    )

    @Test("what a body leaves out becomes its kind's default, or null")
    func defaults() async throws {
        let created = try await GenuineServer.client(table: Self.rich)
            .send("POST", "/tables/rich", text: #"{"id":"1"}"#)
        let kinds =
            #"{"name":"","count":0,"size":0,"cost":0,"at":"0001-01-01T00:00:00.000Z","day":"0001-01-01","#
            + #""time":"00:00:00.000","ref":"00000000-0000-0000-0000-000000000000","blob":"","flag":false,"anything":{},"#
        #expect(
            created.textWithoutStamps == kinds + #""costOrNot":null,"anythingOrNot":null,…,"id":"1","deleted":false}"#
        )
    }

    @Test(
        "the other kinds of columns",
        arguments: [
            ("cost", "123456789012345.678901234567", "123456789012345.678901234567"), ("cost", "1.10", "1.10"),
            ("cost", "\"2.50\"", "2.50"), ("cost", "1e3", "1000"), ("cost", "-1.5e-3", "-0.0015"),
            ("cost", "0.0", "0.0"),
            ("cost", "0.33333333333333333333333333331", "0.3333333333333333333333333333"),
            ("cost", "1e29", nil), ("cost", "1e400", nil), ("cost", "true", nil),
            ("day", "\"2024-02-29\"", "\"2024-02-29\""),
            ("day", "\"2023-02-29\"", nil), ("day", "\"2024-02-29T00:00:00Z\"", nil),
            ("time", "\"07:14\"", "\"07:14:00.000\""),
            ("time", "\"07:14:15.67891\"", "\"07:14:15.678\""), ("time", "\"24:00\"", nil),
            ("ref", "\"5F9A1C00-0000-4000-8000-00000000ABCD\"", "\"5f9a1c00-0000-4000-8000-00000000abcd\""),
            ("ref", "\"5F9A1C000000400080000000ABCD0000\"", nil), ("blob", "\"AQID\"", "\"AQID\""),
            ("blob", "\"-_-_\"", nil),
            ("name", "null", nil), ("count", "null", nil), ("anything", "null", nil), ("anything", "5", "5"),
            ("anything", "1e400", nil),
        ] as [(String, String, String?)]
    )
    func kinds(_ column: String, _ sent: String, _ kept: String?) async throws {
        let client = GenuineServer.client(isGenuine: false, table: Self.rich)
        let created = try await client.send("POST", "/tables/rich", text: #"{"id":"1","\#(column)":\#(sent)}"#)
        #expect(created.status == (kept == nil ? 400 : 201))
        #expect(created.status == 400 || created.written(column) == kept)
    }

    @Test("a table without columns shows every column that any row ever had, in the order of their coming")
    func undeclared() async throws {
        let client = GenuineServer.client(table: "free")
        let first = try await client.send("POST", "/tables/free", text: #"{"id":"1","z":1.0,"a":{"x":1e2}}"#)
        #expect(first.textWithoutStamps == #"{"z":1,"a":{"x":100},…,"id":"1","deleted":false}"#)
        let second = try await client.send("POST", "/tables/free", text: #"{"id":"2","b":true}"#)
        #expect(second.textWithoutStamps == #"{"z":null,"a":null,"b":true,…,"id":"2","deleted":false}"#)
        #expect(try await client.get("/tables/free/1").text.contains(#""b":null"#))
    }
}
