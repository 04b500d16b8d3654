import DatasyncEmulator
import EmulatorTransport
import HTTPTransport
import RemoteContract
import SyncContract
import Testing

@testable import DatasyncHTTP

@Suite("What servers bound in a query")
struct LimitTests {
    private static let table = TableDefinition("todo", columns: [.init("text", .string)])

    @Test(
        "nodes are counted as the server does: the last number it takes, and the first that it refuses",
        arguments: [
            (16, "(id eq 'x')"), (20, "(price ne 1)"), (20, "(price eq null)"),
            (12, "(updatedAt gt cast(2024-01-01T00:00:00.000Z,Edm.DateTimeOffset))"),
            (12, "(day gt cast(2024-01-01,Edm.Date))"), (12, "(starts eq cast(08:30:00.250,Edm.TimeOfDay))"),
            (20, "startswith(text,'a')"), (20, "(text eq 'it''s (x) in y')"), (20, "(price eq -1e-07)"),
        ]
    )
    func nodes(_ most: Int, _ condition: String) {
        func chain(_ count: Int) -> String { Array(repeating: condition, count: count).joined(separator: " or ") }
        #expect(ODataLimits.nodeCount(chain(most)) <= 100)
        #expect(ODataLimits.nodeCount(chain(most + 1)) > 100)
    }

    @Test("beside the conditions of a pull there is room for 15 texts, and for as many ids in a list as the line holds")
    func besideConditions() throws {
        func pull(_ predicate: QueryPredicate) throws -> Query {
            try ChangePaging.widestRequest(Query("todo").filtered(by: predicate), pageSize: nil)
        }
        func texts(_ count: Int) -> QueryPredicate {
            .any((0..<count).map { Column("text") == .string("it's \($0)") })
        }
        let wire = DatasyncDialect.datasync.wireProtocol()
        #expect(throws: Never.self) { try wire.page(pull(texts(15)), of: Self.table) }
        #expect(throws: RemoteError.self) { try wire.page(pull(texts(16)), of: Self.table) }
        let ids = QueryPredicate.any((0..<500).map { Column("id") == .string("id-\($0)") })
        #expect(throws: Never.self) { try wire.page(pull(ids), of: Self.table) }
        let many = DatasyncDialect.datasync.wireProtocol(maximumFilterNodes: 200)
        #expect(throws: Never.self) { try many.page(pull(texts(30)), of: Self.table) }
        #expect(throws: Never.self) {
            try DatasyncDialect.azureMobileApps.wireProtocol().page(pull(texts(30)), of: Self.table)
        }
    }

    @Test("a pull that the server would refuse, if only in its middle, is refused before anything is sent")
    func beforeSending() async throws {
        let tooManyNodes = QueryPredicate.any((0..<17).map { Column("text") == .string("it's \($0)") })
        let tooLong = Column("id").isAny(of: (0..<700).map { .string("identifier-\($0)") })
        for predicate in [tooManyNodes, tooLong] {
            for position in [PullPosition.changes(since: nil), .everything] {
                let transport = RecordingTransport(answer: #"{"items":[]}"#)
                let remote = try DatasyncRemote.recording(.datasync, into: transport)
                let query = Query("todo").filtered(by: predicate)
                do {
                    _ = try await remote.page(query, of: Self.table, at: position, pageSize: nil)
                    // Its pages have one condition only.
                    #expect(position == .everything && predicate == tooManyNodes)
                } catch let error as RemoteError {
                    #expect(error.code == .invalidRequest)
                    #expect(error.message.contains("are the most"))
                    #expect(transport.lines.isEmpty)
                }
            }
        }
    }

    @Test(
        "a pull that ids longer than most leave no room ends with their length and the remedy",
        arguments: [PullPosition.changes(since: nil), .everything]
    )
    func longIDs(_ start: PullPosition) async throws {
        let emulator = EmulatedService.datasync.emulator()
        let ids = ["a", "b", "c"].map { $0 + String(repeating: "x", count: 1_399) }
        try emulator.seed(
            ids.map { ["id": .string($0), "text": "milk", "updatedAt": "2024-01-01T00:00:00Z"] },
            in: "todo"
        )
        let remote = try EmulatedService.datasync.remote(emulator)
        let query = Query("todo").filtered(by: Column("text") != .string(String(repeating: "x", count: 7_200)))
        var (position, error): (PullPosition?, RemoteError?) = (start, nil)
        while let current = position {
            do {
                position = try await remote.page(query, of: Self.table, at: current, pageSize: 1).next
            } catch let refusal as RemoteError {
                (position, error) = (nil, refusal)
            }
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("1400 characters") == true)
        #expect(error?.message.contains("maximumRequestLine") == true)
    }

    @Test("the first line is counted as the server does, with its line break", arguments: [8_192, 8_193])
    func requestLineAtServer(_ length: Int) async throws {
        let emulator = EmulatedService.datasync.emulator()
        let id = String(repeating: "a", count: length - "DELETE /tables/todo/ HTTP/1.1\r\n".utf8.count)
        var options = DatasyncOptions()
        for maximum in [options.maximumRequestLine, 9_000] {
            options.maximumRequestLine = maximum
            let remote = try DatasyncRemote(
                baseURL: EmulatorTransport.url,
                dialect: .datasync,
                options: options,
                transport: EmulatorTransport(emulator)
            )
            do {
                #expect(try await remote.delete(id, from: Self.table, version: nil) == .unconfirmed(status: 404))
                #expect(length == 8_192)
            } catch let error as RemoteError {
                #expect(length == 8_193 && error.status == (maximum == 9_000 ? 414 : nil))
            }
        }
    }

    @Test("the first line of a request holds 8,192 bytes, and more where options say so")
    func requestLine() async throws {
        var options = DatasyncOptions()
        for (length, isRefused, maximum) in [(8_192, false, 8_192), (8_193, true, 8_192), (8_193, false, 9_000)] {
            options.maximumRequestLine = maximum
            let transport = RecordingTransport()
            let remote = try DatasyncRemote.recording(.datasync, into: transport, options: options)
            let id = String(repeating: "a", count: length - "DELETE /tables/todo/ HTTP/1.1\r\n".utf8.count)
            do {
                try await remote.delete(id, from: Self.table, version: nil)
                #expect(!isRefused)
            } catch let error as RemoteError {
                #expect(isRefused && error.code == .invalidRequest)
            }
            #expect(transport.lines.isEmpty == isRefused)
        }
    }

    @Test("protocol 3 orders by five columns")
    func order() throws {
        var query = Query("todo")
        for name in ["a", "b", "c", "d", "e"] { query = query.ordered(by: name) }
        let wire = DatasyncDialect.datasync.wireProtocol()
        #expect(throws: Never.self) { try wire.page(query, of: Self.table) }
        #expect(throws: RemoteError.self) { try wire.page(query.ordered(by: "f"), of: Self.table) }
        // One that is named again is sent once.
        _ = try wire.page(query.ordered(by: "a", .descending), of: Self.table)
    }

    @Test(
        "the largest page is read from a refusal, in the words of each server",
        arguments: [
            (#"{"code":"400","message":"The limit of \u002710\u0027 for Top query has been exceeded."}"#, 10),
            ("The limit of '7' for Top query has been exceeded. The value from the incoming request is '8'.", 7),
            (#"{"error":"You cannot request more than 1000 records"}"#, 1_000),
            (#"{"message":"The node count limit of '100' has been exceeded."}"#, nil), ("", nil), ("limit of '", nil),
            (#"{"message":"The limit of '0' for Top query has been exceeded."}"#, nil),
        ] as [(String, Int?)]
    )
    func maximumTop(_ body: String, _ maximum: Int?) {
        for status in [400, 500] {
            let response = ServerResponse(status: status, fields: [:], body: Array(body.utf8), server: "example.org")
            #expect(response.maximumTop == (status == 400 ? maximum : nil))
        }
    }

    @Test("the largest page of a refusal bounds what is asked for from then on, and no more comes than is asked for")
    func belowMaximumTop() async throws {
        var configuration = EmulatorConfiguration(dialect: .datasync, tables: ["todo"])
        configuration.maximumTop = 10
        let emulator = Emulator(configuration)
        try emulator.seed((0..<20).map { ["id": .string("id-\($0)"), "text": "milk"] }, in: "todo")
        let remote = try EmulatedService.datasync.remote(emulator)
        for (limit, count) in [(50, 10), (3, 3), (11, 10)] {
            let page = try await remote.page(Query("todo").limited(to: limit), of: Self.table)
            #expect(page.records.count == count)
        }
        #expect(emulator.requests.count == 4, "it refuses once")
    }
}
