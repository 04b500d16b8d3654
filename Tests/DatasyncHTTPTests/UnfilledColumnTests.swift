import DatasyncEmulator
import EmulatorTransport
import QueryEvaluation
import RemoteContract
import SyncContract
import Testing

@testable import DatasyncHTTP

@Suite("A column that no row has filled yet, which the Node server does not have", .timeLimit(.minutes(5)))
struct UnfilledColumnTests {
    private static let table = TableDefinition(
        "todo",
        columns: [.init("text", .string), .init("whole", .int64), .init("note", .string)]
    )

    private let emulator: Emulator
    private let remote: DatasyncRemote

    init() throws {
        emulator = Emulator(EmulatorConfiguration(dialect: .azureMobileApps, tables: ["todo"]))
        remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .azureMobileApps,
            transport: EmulatorTransport(emulator)
        )
    }

    private func fill(_ values: [String: JSONValue]...) throws {
        try emulator.seed(values, in: "todo")
        emulator.clearRequests()
    }

    private func pulled(_ predicate: QueryPredicate, _ position: PullPosition = .everything) async throws -> [String] {
        var ids: [String] = []
        var position: PullPosition? = position
        while let current = position {
            let query = Query("todo").filtered(by: predicate)
            let page = try await remote.page(query, of: Self.table, at: current, pageSize: 2)
            ids += page.records.compactMap(\.id.stringValue)
            position = page.next
        }
        return ids
    }

    private static let conditions: [QueryPredicate] = [
        Column("whole") == 3, Column("whole") != 3, Column("whole") == .null, Column("whole") != .null,
        Column("whole") < 3, !(Column("whole") < 3), Column("whole").isAny(of: [1, 3]),
        Column("whole").isAny(of: [1, .null]), !Column("whole").isAny(of: [1, 3]),
        Column("whole") + Column("whole") == 6, !(Column("whole") + 1 == 6),
        Column("text") == "b" || Column("whole") > 3,
        Column("text") == "b" && Column("note") == .null, Column("note").contains("b"), !Column("note").contains("b"),
        Column("note").lowercased == "b", Column("text") == Column("note"), Column("text") != Column("note"),
    ]

    @Test("is null in every row, whatever a query asks of it", arguments: conditions.indices)
    func isNull(_ index: Int) async throws {
        let rows = ["a", "b", "c"].map { Record(id: .string($0), ["text": .string($0)]) }
        try fill(["id": "a", "text": "a"], ["id": "b", "text": "b"], ["id": "c", "text": "c"])
        let predicate = Self.conditions[index]
        let query = Query("todo").filtered(by: predicate)
        let expected = try QueryEvaluator(Self.table).evaluate(query, over: rows).compactMap(\.id.stringValue)
        #expect(try await pulled(predicate) == expected)
        #expect(try await Set(pulled(predicate, .changes(since: nil))) == Set(expected))
        let page = try await remote.page(query, of: Self.table)
        #expect(page.records.compactMap(\.id.stringValue) == expected)
    }

    @Test("orders nothing, and selects nothing")
    func orderAndSelection() async throws {
        try fill(["id": "a", "text": "1"], ["id": "b", "text": "2"])
        let query = Query("todo").ordered(by: "whole").ordered(by: "text", .descending).selecting(["note", "text"])
        let page = try await remote.page(query, of: Self.table)
        #expect(page.records == [Record(id: "b", ["text": "2"]), Record(id: "a", ["text": "1"])])
    }

    @Test("is null where rows are only counted")
    func count() async throws {
        try fill(["id": "a", "text": "1"], ["id": "b", "text": "2"])
        var query = Query("todo").filtered(by: Column("whole") == .null).limited(to: 0)
        query.includesTotalCount = true
        #expect(try await remote.page(query, of: Self.table).totalCount == 2)
    }

    @Test("is asked for no more once it is there, and nothing where no row is")
    func requests() async throws {
        let condition = Column("whole") == 3
        #expect(try await pulled(condition).isEmpty)
        #expect(emulator.requests.count == 3, "the page, whether the column is there, and whether any row is")
        try fill(["id": "a", "text": "1", "deleted": true])
        #expect(try await pulled(condition).isEmpty)
        #expect(emulator.requests.count == 4, "and the page without the column")
        try fill(["id": "b", "whole": 3])
        #expect(try await pulled(condition) == ["b"])
        emulator.clearRequests()
        #expect(try await pulled(Column("whole") == 4, .changes(since: nil)).isEmpty)
        #expect(emulator.requests.count == 3, "the page, whether the column is there, and the page once more")
        emulator.clearRequests()
        #expect(try await pulled(Column("whole") == 4, .changes(since: nil)).isEmpty)
        #expect(emulator.requests.count == 1, "it is known by now")
        let byID = Column("id").isAny(of: ["x", "y"]) && Column("whole") == 4
        emulator.clearRequests()
        #expect(try await pulled(byID).isEmpty)
        #expect(emulator.requests.count == 1, "also where rows are asked for by their ids behind a pull of everything")
    }

    private func remote(_ answer: @escaping @Sendable (EmulatorRequest, Emulator) async throws -> EmulatorResponse)
        throws
        -> DatasyncRemote
    {
        let transport = EmulatorTransport(emulator) { try await answer($0, $1) }
        return try DatasyncRemote(baseURL: EmulatorTransport.url, dialect: .azureMobileApps, transport: transport)
    }

    @Test("does not have the empty answer of before believed when it is filled right behind that")
    func filledBehindTheAnswer() async throws {
        try fill(["id": "a", "text": "1"])
        let other = try remote { request, emulator in
            let answer = try await emulator.handle(request)
            if emulator.requests.count == 1 { try emulator.seed([["id": "b", "whole": 3]], in: "todo") }
            return answer
        }
        let query = Query("todo").filtered(by: !(Column("whole") == 4))
        #expect(try await other.page(query, of: Self.table).records.map(\.id) == ["a", "b"])
    }

    @Test("is not looked for at other servers, nor where it may not be")
    func otherServers() async throws {
        try fill(["id": "a", "text": "1"])
        let query = Query("todo").filtered(by: !(Column("whole") == 4))
        let dotNet = try remote { request, emulator in
            var answer = try await emulator.handle(request)
            answer.headers["x-zumo-server-version"] = "net-1.0.119.0"
            return answer
        }
        #expect(try await dotNet.page(query, of: Self.table).records.isEmpty)
        #expect(emulator.requests.count == 1)
        emulator.clearRequests()
        let strict = try remote { request, emulator in
            var answer = try await emulator.handle(request)
            if !request.query.contains("whole") { answer.status = 403 }
            return answer
        }
        #expect(try await strict.page(query, of: Self.table).records.isEmpty)
        #expect(emulator.requests.count == 3)
    }

    @Test("is looked for again by a pull of everything: the server may have been set up anew")
    func anew() async throws {
        try fill(["id": "a", "whole": 3])
        let condition = Column("whole") == .null
        #expect(try await pulled(condition).isEmpty)
        emulator.reset()
        try fill(["id": "b", "text": "1"])
        #expect(try await pulled(condition) == ["b"])
    }

    @Test("does not hide what fills it while a pull of changes has it for null")
    func filledMeanwhile() async throws {
        try fill(["id": "a", "text": "1", "updatedAt": "2026-01-01T00:00:00.000Z"])
        var options = DatasyncOptions()
        options.settlingTime = .zero
        let other = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .azureMobileApps,
            options: options,
            transport: EmulatorTransport(emulator) { request, emulator in
                var answer = try await emulator.handle(request)
                let isFirst = request.query.contains("whole")
                answer.headers["Date"] = "Thu, 01 Jan 2026 00:00:\(isFirst ? "01" : "20") GMT"
                guard !isFirst else { return answer }
                // Behind the question whether there is any row, and before the page that does without the column.
                let rows: [[String: JSONValue]] = [
                    ["id": "b", "whole": 3, "updatedAt": "2026-01-01T00:00:05.000Z"],
                    ["id": "c", "text": "1", "updatedAt": "2026-01-01T00:00:06.000Z"],
                ]
                try emulator.seed(rows, in: "todo")
                return answer
            }
        )
        let query = Query("todo").filtered(by: Column("whole") == 3 || Column("id") == "a" || Column("id") == "c")
        let first = try await other.page(query, of: Self.table, at: .changes(since: nil), pageSize: nil)
        #expect(first.records.map(\.id) == ["a", "c"])
        let cursor = try #require(first.cursor)
        let second = try await other.page(query, of: Self.table, at: .changes(since: cursor), pageSize: nil)
        #expect(second.records.map(\.id).contains("b"))
    }
}
