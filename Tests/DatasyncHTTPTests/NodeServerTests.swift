import DatasyncHTTP
import Foundation
import RemoteContract
import ScriptedServer
import SyncContract
import Testing

@Suite("The adapter against recorded answers of the Node server", .timeLimit(.minutes(5)))
struct NodeServerTests {
    private static let table = TableDefinition(
        "TodoItem",
        columns: [.init("text", .string), .init("complete", .bool)],
        idComparison: .asciiCaseInsensitive
    )

    /// Calls against a server that gives recorded answers in turn.
    private func run<Value: Sendable>(
        _ fixtures: String...,
        call: (DatasyncRemote) async throws -> Value
    ) async throws -> (result: Result<Value, RemoteError>, requests: [ScriptedServer.Request]) {
        let answers = try fixtures.map(Fixture.named)
        let turn = Turn()
        let server = try ScriptedServer { _ in [.send(answers[turn.next() % answers.count])] }
        let remote = try DatasyncRemote(baseURL: server.url, dialect: .azureMobileApps)
        let result: Result<Value, RemoteError>
        do {
            result = .success(try await call(remote))
        } catch let error as RemoteError {
            result = .failure(error)
        }
        #expect(remote.requestCount == fixtures.count)
        return (result, server.requests)
    }

    private func insert(_ remote: DatasyncRemote, _ id: RecordID = "a1") async throws -> Record {
        try await remote.insert(Record(id: id, ["text": "milk", "complete": false]), into: Self.table)
    }

    private func update(_ remote: DatasyncRemote, version: String? = "MQ==") async throws -> Record {
        try await remote.update(
            Record(id: "a1", ["text": "milk 2"]),
            in: Self.table,
            version: version,
            restoring: false
        )
    }

    @Test("a created row has its system properties, typed")
    func insert() async throws {
        let (result, requests) = try await run("insert") { try await insert($0) }
        #expect(
            try result.get()
                == Record(
                    id: "a1",
                    [
                        "text": "milk", "complete": false, "version": "MQ==", "deleted": false,
                        "createdAt": .date(Timestamp("2026-11-21T01:35:18.827Z")!),
                        "updatedAt": .date(Timestamp("2026-11-21T01:35:18.827Z")!),
                    ]
                )
        )
        #expect(requests.map(\.method) == ["POST"])
        #expect(requests.first?.fields["zumo-api-version"] == "2.0.0")
        #expect(requests.first?.body == #"{"id":"a1","complete":false,"text":"milk"}"#)
    }

    @Test("text of every kind arrives as it was sent")
    func unicode() async throws {
        let (result, _) = try await run("insert-unicode") { try await insert($0, "uni") }
        #expect(try result.get()["text"] == "O'Brien “é” 日本 😀 \" \\ \n")
        #expect(try result.get()["__version"] == .some(.null))
    }

    @Test("numbers of undeclared columns are kept as they came")
    func numbers() async throws {
        let (result, _) = try await run("insert-numbers") { try await insert($0, "num1") }
        let row = try result.get()
        #expect(row["amount"] == .int64(9_007_199_254_740_992))
        #expect(row["amount2"] == .decimal(DecimalText("1e-7")!))
        #expect(row["amount3"] == .decimal(DecimalText("12345678901234567000")!))
    }

    @Test("a duplicate id is a conflict with the server's row, not with one's own that the answer repeats")
    func duplicate() async throws {
        let (result, requests) = try await run("insert-duplicate", "list") { try await insert($0, "q010") }
        let error = #expect(throws: RemoteError.self) { try result.get() }
        #expect(error?.code == .conflict)
        #expect(error?.status == 409)
        #expect(error?.serverRecord?["text"] == "row 010")
        #expect(error?.serverRecord?.version == "MQ==")
        #expect(
            requests.last?.target
                == "/tables/TodoItem?$filter=%28id%20eq%20%27q010%27%29&__includeDeleted=true"
        )
    }

    @Test("a duplicate id whose row cannot be seen is a conflict without a row")
    func hiddenDuplicate() async throws {
        let (result, _) = try await run("insert-duplicate", "list-empty") { try await insert($0) }
        let error = #expect(throws: RemoteError.self) { try result.get() }
        #expect(error?.code == .conflict)
        #expect(error?.serverRecord == nil)
        #expect(error?.description.contains("other text") == false)
    }

    @Test("an update takes over the new version", arguments: [("update", "Mg=="), ("update-null", "OA==")])
    func update(_ fixture: String, _ version: String) async throws {
        let (result, requests) = try await run(fixture) { try await update($0) }
        #expect(try result.get().version == version)
        #expect(requests.map { "\($0.method) \($0.target)" } == ["PATCH /tables/TodoItem/a1"])
        #expect(requests.first?.fields["if-match"] == "\"MQ==\"")
    }

    @Test(
        "a stale version is a conflict with the server's row",
        arguments: [("update-stale", "Mg==", 412), ("update-stale-in-body", "Mw==", 409)]
    )
    func stale(_ fixture: String, _ version: String, _ status: Int) async throws {
        let (result, _) = try await run(fixture) { try await update($0) }
        let error = #expect(throws: RemoteError.self) { try result.get() }
        #expect(error?.code == .conflict)
        #expect(error?.status == status)
        #expect(error?.serverRecord?.version == version)
        #expect(error?.description.contains("milk") == false)
    }

    @Test(
        "failures have their code and the server's words",
        arguments: [
            ("update-empty", RemoteError.Code.serverFailure, "SQLITE_ERROR"),
            ("version-missing", .refused, "ZUMO-API-VERSION of 2.0.0"),
            ("insert-reserved", .refused, "'deleted' as it is reserved"),
            ("insert-unsupported-type", .serverFailure, "Unsupported type: Object"),
            ("list-bad-filter", .serverFailure, "type creation expression"),
            ("put-unrouted", .notTheService, "web page"),
        ]
    )
    func failures(_ fixture: String, _ code: RemoteError.Code, _ words: String) async throws {
        let (result, _) = try await run(fixture) { try await update($0) }
        let error = #expect(throws: RemoteError.self) { try result.get() }
        #expect(error?.code == code)
        #expect(error?.message.contains(words) == true)
        #expect(error?.message.contains("<pre>") == false)
    }

    @Test("a row that is missing is looked up, tombstones included, before it counts as missing")
    func missing() async throws {
        let (none, _) = try await run("update-missing", "list-empty") { try await update($0) }
        let error = #expect(throws: RemoteError.self) { try none.get() }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("The item does not exist") == true)
        let (found, _) = try await run("update-missing", "list") {
            try await $0.update(Record(id: "q010", ["text": "x"]), in: Self.table, version: nil, restoring: false)
        }
        let conflict = #expect(throws: RemoteError.self) { try found.get() }
        #expect(conflict?.code == .conflict)
        #expect(conflict?.serverRecord?.id == "q010")
    }

    @Test("a row is brought back, then changed from the version that gave")
    func restore() async throws {
        let (result, requests) = try await run("undelete", "update") {
            try await $0.update(Record(id: "a1", ["text": "milk 2"]), in: Self.table, version: "MTA=", restoring: true)
        }
        #expect(try result.get().version == "Mg==")
        #expect(requests.map(\.method) == ["POST", "PATCH"])
        #expect(requests.map { $0.fields["if-match"] } == ["\"MTA=\"", "\"MTE=\""])
        #expect(requests.first?.fields["content-length"] == "0")
        #expect(requests.first?.body == "")
    }

    @Test("a list is a bare array that does not tell its end, unless it is empty")
    func list() async throws {
        let (result, _) = try await run("list") { try await $0.page(Query("TodoItem").limited(to: 2), of: Self.table) }
        let page = try result.get()
        #expect(page.records.map(\.id) == ["q010", "q011"])
        #expect(page.records.first?.updatedAt == Timestamp("2026-11-21T01:35:19.385Z"))
        #expect(!page.isKnownToBeLast)
        #expect(page.totalCount == nil)
        let (empty, _) = try await run("list-empty") { try await $0.page(Query("TodoItem"), of: Self.table) }
        #expect(try empty.get() == RemotePage(records: [], isKnownToBeLast: true))
    }
}
