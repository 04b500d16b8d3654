import DatasyncHTTP
import Foundation
import RemoteContract
import SyncContract
import Testing

@Suite("Requests, byte for byte")
struct RequestTests {
    private static let table = TableDefinition(
        "todo",
        columns: [.init("text", .string), .init("complete", .bool), .init("due", .date)]
    )

    private static let row = Record(
        id: "a1",
        [
            "text": "milk", "complete": .null, "extra": "kept", "nothing": .null, "version": "V1", "deleted": false,
            "updatedAt": .date(Timestamp(milliseconds: 0)), "createdAt": .date(Timestamp(milliseconds: 0)),
        ]
    )

    /// What one call sends in a dialect.
    private func lines(
        _ dialect: DatasyncDialect,
        answer: String = #"{"id":"a1","version":"V9"}"#,
        _ call: (DatasyncRemote) async throws -> Void
    ) async throws -> [String] {
        let transport = RecordingTransport(answer: answer)
        try await call(try .recording(dialect, into: transport))
        return transport.lines
    }

    @Test("an insert has the id, no nulls and nothing that the server sets: createdAt only where it is a column")
    func insert() async throws {
        let two = try await lines(.azureMobileApps) { _ = try await $0.insert(Self.row, into: Self.table) }
        #expect(two == [#"POST /tables/todo {"id":"a1","extra":"kept","text":"milk"}"#])
        let three = try await lines(.datasync) { _ = try await $0.insert(Self.row, into: Self.table) }
        let createdAt = #""createdAt":"1970-01-01T00:00:00.000Z""#
        #expect(three == [#"POST /tables/todo {"id":"a1",\#(createdAt),"extra":"kept","text":"milk"}"#])
    }

    @Test("an update of protocol 3 puts the whole row, undeclared columns and createdAt included, without nulls")
    func update3() async throws {
        let lines = try await lines(.datasync) {
            _ = try await $0.update(Self.row, in: Self.table, version: "V1", restoring: false)
            _ = try await $0.update(Self.row, in: Self.table, version: nil, restoring: false)
            _ = try await $0.update(Self.row, in: Self.table, version: "V1", restoring: true)
        }
        let body = #"{"id":"a1","createdAt":"1970-01-01T00:00:00.000Z","extra":"kept","text":"milk"}"#
        #expect(
            lines == [
                #"PUT /tables/todo/a1 If-Match: "V1" "# + body, "PUT /tables/todo/a1 " + body,
                #"PUT /tables/todo/a1?__includedeleted=true If-Match: "V1" "# + body,
            ]
        )
    }

    @Test("a createdAt that is null is not sent, as no null is")
    func nullCreatedAt() async throws {
        let row = Record(id: "a1", ["text": "milk", "createdAt": .null])
        for dialect in DatasyncDialect.allCases {
            let lines = try await lines(dialect) {
                _ = try await $0.update(row, in: Self.table, version: nil, restoring: false)
            }
            #expect(lines.count == 1 && lines.allSatisfy { !$0.contains("createdAt") })
        }
    }

    @Test("a tombstone of protocol 3 is written whole, createdAt included")
    func tombstone3() async throws {
        let lines = try await lines(.datasync, answer: #"{"id":"a1","version":"V9","deleted":true}"#) {
            _ = try await $0.writeTombstone(Self.row, in: Self.table, version: nil)
            _ = try await $0.writeTombstone(Self.row, in: Self.table, version: "V1")
        }
        let body =
            #"{"id":"a1","createdAt":"1970-01-01T00:00:00.000Z","deleted":true,"extra":"kept","text":"milk"}"#
        #expect(
            lines == [
                "POST /tables/todo " + body, #"PUT /tables/todo/a1?__includedeleted=true If-Match: "V1" "# + body,
            ]
        )
    }

    @Test("an update of protocol 2 patches the declared columns, nulls included")
    func update2() async throws {
        let lines = try await lines(.azureMobileApps) {
            _ = try await $0.update(Self.row, in: Self.table, version: "V1", restoring: false)
            _ = try await $0.update(Self.row, in: Self.table, version: nil, restoring: false)
        }
        let body = #"{"id":"a1","complete":null,"text":"milk"}"#
        #expect(
            lines == [#"PATCH /tables/todo/a1 If-Match: "V1" "# + body, "PATCH /tables/todo/a1 " + body]
        )
    }

    @Test("bringing a row back in protocol 2 undeletes it first, then goes on from the version that gave")
    func restore2() async throws {
        let lines = try await lines(.azureMobileApps) {
            _ = try await $0.update(Self.row, in: Self.table, version: "V1", restoring: true)
            _ = try await $0.update(Self.row, in: Self.table, version: nil, restoring: true)
        }
        let body = #"{"id":"a1","complete":null,"text":"milk"}"#
        #expect(
            lines == [
                #"POST /tables/todo/a1 If-Match: "V1""#, #"PATCH /tables/todo/a1 If-Match: "V9" "# + body,
                "POST /tables/todo/a1", "PATCH /tables/todo/a1 " + body,
            ]
        )
    }

    @Test("each of the requests that bring a row back in protocol 2 says that it is JSON")
    func contentTypesOfRestore2() async throws {
        let transport = RecordingTransport()
        let remote = try DatasyncRemote.recording(.azureMobileApps, into: transport)
        _ = try await remote.update(Self.row, in: Self.table, version: "V1", restoring: true)
        #expect(transport.contentTypes == ["application/json", "application/json"])
    }

    @Test("a protocol 2 update of a row without values writes nulls, because one without columns fails")
    func emptyUpdate2() async throws {
        let lines = try await lines(.azureMobileApps) {
            _ = try await $0.update(Record(id: "a1"), in: Self.table, version: nil, restoring: false)
        }
        #expect(lines == [#"PATCH /tables/todo/a1 {"id":"a1","complete":null,"due":null,"text":null}"#])
    }

    @Test(
        "a protocol 2 update of a table without columns is refused before anything is sent",
        arguments: [true, false]
    )
    func noColumns2(_ restoring: Bool) async throws {
        let transport = RecordingTransport()
        let remote = try DatasyncRemote.recording(.azureMobileApps, into: transport)
        let bare = TableDefinition("bare", columns: [])
        let error = await #expect(throws: RemoteError.self) {
            try await remote.update(Self.row, in: bare, version: nil, restoring: restoring)
        }
        #expect(error?.code == .invalidRequest)
        #expect(transport.lines.isEmpty)
    }

    @Test("a deletion has the version as its condition and no body", arguments: DatasyncDialect.allCases)
    func delete(_ dialect: DatasyncDialect) async throws {
        let lines = try await lines(dialect) {
            try await $0.delete("a1", from: Self.table, version: "a\"b=")
            try await $0.delete("a1", from: Self.table, version: nil)
            try await $0.delete("a1", from: Self.table, version: "")
        }
        #expect(
            lines == [#"DELETE /tables/todo/a1 If-Match: "a\"b=""#, "DELETE /tables/todo/a1", "DELETE /tables/todo/a1"]
        )
    }

    @Test("a row is looked up with tombstones: by its address in protocol 3, by a query in protocol 2")
    func lookup() async throws {
        let three = try await lines(.datasync) { _ = try await $0.record("a1", in: Self.table) }
        #expect(three == ["GET /tables/todo/a1?__includedeleted=true"])
        let two = try await lines(.azureMobileApps, answer: "[]") { _ = try await $0.record("O'B", in: Self.table) }
        #expect(two == ["GET /tables/todo?$filter=%28id%20eq%20%27O%27%27B%27%29&__includeDeleted=true"])
    }

    @Test(
        "ids are one percent-encoded segment of the path",
        arguments: [
            ("a.b", "a.b"), ("a~b_c-d", "a~b_c-d"), ("id with space&+=#", "id%20with%20space%26%2B%3D%23"),
            ("100%", "100%25"), ("a/b", "a%2Fb"), ("é日😀", "%C3%A9%E6%97%A5%F0%9F%98%80"), ("a:b|c", "a%3Ab%7Cc"),
            ("?x", "%3Fx"), ("a%2Fb", "a%252Fb"), ("...", "..."), ("\\", "%5C"),
        ]
    )
    func ids(_ id: String, _ encoded: String) async throws {
        let lines = try await lines(.datasync) { try await $0.delete(id, from: Self.table, version: nil) }
        #expect(lines == ["DELETE /tables/todo/" + encoded])
    }

    @Test("ids that no path can name are refused", arguments: ["", ".", ".."])
    func impossibleIDs(_ id: String) async throws {
        let remote = try DatasyncRemote.recording(.datasync, into: RecordingTransport())
        let error = await #expect(throws: RemoteError.self) {
            try await remote.delete(id, from: Self.table, version: nil)
        }
        #expect(error?.code == .invalidRequest)
        #expect(remote.requestCount == 0)
    }

    @Test("a version that no server gave is refused, never dropped", arguments: ["a b", "a\r\nX: y", "é", "\u{7F}"])
    func impossibleVersions(_ version: String) async throws {
        let transport = RecordingTransport()
        let remote = try DatasyncRemote.recording(.datasync, into: transport)
        let error = await #expect(throws: RemoteError.self) {
            try await remote.delete("a1", from: Self.table, version: version)
        }
        #expect(error?.code == .invalidRequest)
        #expect(transport.lines.isEmpty)
    }

    @Test("what JSON cannot express is refused before anything is sent", arguments: DatasyncDialect.allCases)
    func notFinite(_ dialect: DatasyncDialect) async throws {
        let transport = RecordingTransport()
        let remote = try DatasyncRemote.recording(dialect, into: transport)
        let error = await #expect(throws: RemoteError.self) {
            try await remote.insert(Record(id: "a1", ["text": .double(.infinity)]), into: Self.table)
        }
        #expect(error?.code == .invalidRequest)
        #expect(transport.lines.isEmpty)
    }

    @Test("dates finer than milliseconds are sent with all their digits, and in UTC")
    func finerDates() async throws {
        let row = Record(id: "a1", ["due": .date(Timestamp("2024-01-01T02:00:00.1234567+02:00")!)])
        let lines = try await lines(.datasync) { _ = try await $0.insert(row, into: Self.table) }
        #expect(lines == [#"POST /tables/todo {"id":"a1","due":"2024-01-01T00:00:00.1234567Z"}"#])
    }

    @Test("pages of protocol 3 are asked for in this form")
    func pages3() async throws {
        let since = Timestamp("2024-08-23T20:22:54.291Z")!
        let lines = try await lines(.datasync, answer: #"{"items":[]}"#) {
            let pull = Query("todo").ordered(by: "updatedAt")
            _ = try await $0.page(pull, of: Self.table)
            _ = try await $0.page(pull.filtered(by: Column("updatedAt") > .date(since)), of: Self.table)
            _ = try await $0.page(
                pull.ordered(by: "id", .descending).limited(to: 50).skipping(100).selecting(["text", "due"]),
                of: Self.table
            )
            _ = try await $0.page(Query("todo").limited(to: 0).countingAll(), of: Self.table)
        }
        #expect(
            lines == [
                "GET /tables/todo?$orderby=updatedAt&$count=true&__includedeleted=true",
                "GET /tables/todo?$filter=%28updatedAt%20gt%20cast%282024-08-23T20%3A22%3A54.291Z%2C"
                    + "Edm.DateTimeOffset%29%29&$orderby=updatedAt&$count=true&__includedeleted=true",
                "GET /tables/todo?$orderby=updatedAt%2Cid%20desc&$skip=100&$top=50&$select=due%2Cid%2Ctext"
                    + "&$count=true&__includedeleted=true",
                "GET /tables/todo?$top=0&$count=true&__includedeleted=true",
            ]
        )
    }

    @Test("pages of protocol 2 are asked for in this form")
    func pages2() async throws {
        let since = Timestamp("2015-12-13T04:28:12.816Z")!
        let lines = try await lines(.azureMobileApps, answer: "[]") {
            let pull = Query("todo").ordered(by: "updatedAt").ordered(by: "id")
            _ = try await $0.page(pull, of: Self.table)
            _ = try await $0.page(
                pull.filtered(by: Column("updatedAt") >= .date(since)).limited(to: 50).skipping(50).countingAll(),
                of: Self.table
            )
        }
        #expect(
            lines == [
                "GET /tables/todo?$orderby=updatedAt%2Cid&__includeDeleted=true",
                "GET /tables/todo?$filter=%28updatedAt%20ge%20datetimeoffset%272015-12-13T04%3A28%3A12.816Z%27%29"
                    + "&$orderby=updatedAt%2Cid&$top=50&$skip=50&$inlinecount=allpages&__includeDeleted=true",
            ]
        )
    }

    @Test("a change of columns that no table declares is not sent where it would empty the row")
    func undeclaredPatch() async throws {
        for fields in [["nickname": "x"], [:]] as [[String: FieldValue]] {
            let lines = try await lines(.azureMobileApps) { remote in
                let error = await #expect(throws: RemoteError.self) {
                    _ = try await remote.patch("a1", fields, in: Self.table, version: nil)
                }
                #expect(error?.code == .invalidRequest)
            }
            #expect(lines.isEmpty)
        }
    }
}
