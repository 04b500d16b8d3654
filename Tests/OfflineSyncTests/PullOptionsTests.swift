import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("How a pull is asked for")
struct PullOptionsTests {
    @Test("several tables and conditions in one call, each with its own progress")
    func severalTables() async throws {
        let other = TableDefinition("Other", columns: [.init("text", .string)])
        let store = MemoryStore(try StoreSchema([todoTable, other]))
        let remote = ScriptedRemote { request, _ in
            guard case .changes(since: nil) = request.position else { return PullPage(records: []) }
            return PullPage(records: [serverRow("in\(request.table)")], cursor: "c")
        }
        let context = SyncContext(store: store, remote: remote)
        let todos = try context.table("TodoItem")
        let done = todos.query.filtered(by: Column("complete") == true)
        let report = try await context.pull(todos, done, try context.table("Other"))
        #expect(report.received == 2, "the condition brings the row that is here already")
        #expect(report.requests == 0 && remote.requests.count == 3)
        try await context.pull(todos, done, try context.table("Other"))
        #expect(remote.requests.dropFirst(3).allSatisfy { $0.position == .changes(since: "c") })
    }

    @Test(
        "what waits in any of the tables is pushed first, or last, or not at all",
        arguments: DatasyncDialect.allCases
    )
    func order(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            let (context, table) = (world.laptop.context, world.laptop.table)
            try await table.insert(["text": "milk"], id: "a")
            #expect(try await table.pull(options: .init(order: .pullOnly)).push == nil)
            #expect(world.onServer().isEmpty)
            #expect(try await context.status().pending == 1)
            #expect(try await table.pull(options: .init(order: .pullFirst)).push?.pushed == 1)
            #expect(world.onServer() == ["a": "milk"])
        }
    }

    @Test("a pull that comes first drops what the server has already, and pushes the rest")
    func pruning() async throws {
        try await SyncWorld.with(.datasync) { world in
            for id in ["a", "b", "c"] { try await world.shareItem(id) }
            let laptop = world.laptop
            for id in ["a", "b"] {
                try await world.phone.table.update(Record(id: .string(id), ["text": "same"]))
            }
            try await world.phone.table.delete("c")
            _ = try await world.phone.context.push()
            try await laptop.table.update(Record(id: "a", ["text": "same"]))
            try await laptop.table.update(Record(id: "b", ["text": "other"]))
            try await laptop.table.delete("c")
            let report = try await laptop.table.pull(queryID: "all", options: .init(order: .pullFirst))
            #expect(report.pruned == 2)
            #expect(report.notTaken.map(\.itemID) == ["b"])
            #expect(try await laptop.context.operations().map(\.itemID) == ["b"])
            #expect(try await laptop.texts() == ["a": "same", "b": "other"])
            #expect(try await laptop.table.read("a")?.version == world.phone.table.read("a")?.version)
        }
    }

    @Test("a pull of several tables that comes first counts what it drops in all of them")
    func pruningOfSeveral() async throws {
        let remote = ScriptedRemote { request, number in
            guard request.table == "A" else { return PullPage(records: []) }
            return PullPage(records: [number <= 2 ? serverRow("a") : serverRow("a", "cream", version: "v2")])
        }
        let schema = try StoreSchema(["A", "B"].map { TableDefinition($0, columns: [.init("text", .string)]) })
        let context = SyncContext(store: MemoryStore(schema), remote: remote)
        let (first, second) = (try context.table("A"), try context.table("B"))
        try await context.pull(first, second)
        try await first.update(Record(id: "a", ["text": "cream"]))
        let report = try await context.pull(first, second, options: .init(order: .pullFirst))
        #expect(report.pruned == 1)
        #expect(try await context.status().pending == 0)
    }

    @Test("a pull that comes first keeps the deletion of a row that others have changed")
    func deletionOfNewerRow() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            let laptop = world.laptop
            try await laptop.table.delete("a")
            let report = try await laptop.table.pull(queryID: "all", options: .init(order: .pullFirst))
            #expect(report.pruned == 0)
            #expect(report.notTaken.map(\.isConflict) == [true])
            #expect(try await laptop.texts().isEmpty)
            #expect(world.onServer() == ["a": "theirs"])
        }
    }

    @Test(
        "parameters go with every request for a page, and belong to the progress",
        arguments: DatasyncDialect.allCases
    )
    func parameters(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect, pageSize: 2, age: 60_000) { world in
            try world.emulator.seed((0..<5).map { ["id": .string("r\($0)")] }, in: "TodoItem")
            let table = world.laptop.table
            let options = PullOptions(parameters: ["tenant": "a&b c", "é": "1"])
            #expect(try await table.pull(queryID: "all", options: options).received == 5)
            let targets = world.emulator.requests.map(\.request.query)
            #expect(targets.count > 2)
            #expect(targets.allSatisfy { $0.contains("tenant=a%26b%20c") && $0.contains("%C3%A9=1") })
            #expect(try await table.pull(queryID: "all", options: options).requests == 1)
            #expect(try await table.pull(queryID: "all").requests > 1, "without them it is another query")
            for name in ["$top", "__includeDeleted", ""] {
                let error = await #expect(throws: SyncError.self) {
                    try await table.pull(options: .init(parameters: [name: "1"]))
                }
                #expect(error?.code == .invalidParameter)
                #expect((error?.cause as? RemoteError)?.code == .invalidRequest)
            }
        }
    }

    @Test(
        "parameters that are the protocol's own are refused before anything is sent, the changes that wait included",
        arguments: [PullOptions.Order.pushFirst, .pullFirst]
    )
    func refusedBeforePush(_ order: PullOptions.Order) async throws {
        try await SyncWorld.with(.datasync) { world in
            let wireName = "TodoItem"
            let named = TableDefinition("Todo", columns: todoTable.columns, wireName: wireName)
            let remote = world.laptop.server
            let renaming = SyncContext(store: try makeStore(named), remote: remote)
            for (context, name) in [(world.laptop.context, wireName), (renaming, "Todo")] {
                try await context.table(name).insert(["text": "milk"], id: "a")
                let options = PullOptions(order: order, parameters: ["$filter": "x", "tenant": "1"])
                let code = try await syncErrorCode { try await context.pull(Query(name), options: options) }
                #expect(code == .invalidParameter)
                #expect(try await context.status().pending == 1)
            }
            #expect(world.emulator.requests.isEmpty)
        }
    }

    @Test(
        "parameters of a pull go with those of the service, before which they go",
        arguments: DatasyncDialect.allCases
    )
    func addedParameters(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect, age: 60_000) { world in
            try world.emulator.seed([["id": "a"]], in: "TodoItem")
            let service = try DatasyncRemote(
                baseURL: EmulatorTransport.url,
                dialect: dialect,
                transport: EmulatorTransport(world.emulator)
            )
            let remote = try service.adding(parameters: ["tenant": "1", "key": "k"])
            let context = SyncContext(store: try makeStore(), remote: remote)
            let options = PullOptions(parameters: ["tenant": "2", "page": "3"])
            #expect(try await context.pull(Query("TodoItem"), options: options).received == 1)
            let queries = world.emulator.requests.map(\.request.query)
            #expect(!queries.isEmpty)
            for part in ["tenant=2", "key=k", "page=3"] {
                #expect(queries.allSatisfy { $0.contains(part) }, "\(queries)")
            }
            let row = Record(id: "a", ["updatedAt": .date(Timestamp(milliseconds: 0))])
            let page = try await remote.page(Query("TodoItem"), of: todoTable, at: .changes(since: nil), pageSize: nil)
            let cursor = try #require(page.cursor)
            #expect(!remote.mayRepeat(row, of: todoTable, after: cursor))
        }
    }

    @Test("a remote that takes no parameters says so")
    func refusedParameters() async throws {
        let context = SyncContext(store: try makeStore(), remote: UnavailableRemote.unreachable)
        let error = await #expect(throws: SyncError.self) {
            try await context.pull(Query("TodoItem"), options: .init(parameters: ["a": "b"]))
        }
        #expect((error?.cause as? RemoteError)?.message.contains("no further parameters") == true)
    }

    @Test("the page size of a pull goes before that of the context")
    func pageSize() async throws {
        let remote = ScriptedRemote(pages: [PullPage(records: [])])
        let context = SyncContext(store: try makeStore(), remote: remote, options: .init(pageSize: 70))
        try await context.pull(Query("TodoItem"))
        try await context.pull(Query("TodoItem"), options: .init(pageSize: 3))
        try await context.pull(Query("TodoItem"), options: .init(pageSize: 0))
        #expect(remote.requests.map(\.pageSize) == [70, 3, 70])
        let unbounded = SyncContext(store: try makeStore(), remote: remote, options: .init(pageSize: -1))
        try await unbounded.pull(Query("TodoItem"))
        #expect(remote.requests.last?.pageSize == .some(nil))
    }

    @Test("a query without a name has its own progress for each set of parameters")
    func namesWithParameters() async throws {
        let remote = ScriptedRemote { _, number in PullPage(records: [], cursor: "\(number)") }
        let context = SyncContext(store: try makeStore(), remote: remote)
        for tenant in ["a", "b", "a", "b"] {
            try await context.pull(Query("TodoItem"), options: .init(parameters: ["tenant": tenant]))
        }
        #expect(remote.requests.suffix(2).map(\.position) == [.changes(since: "1"), .changes(since: "2")])
        try await context.resetDeltaToken(of: Query("TodoItem"), parameters: ["tenant": "a"])
        try await context.pull(Query("TodoItem"), options: .init(parameters: ["tenant": "a"]))
        #expect(remote.requests.last?.position == .changes(since: nil))
    }

    @Test(
        "the name of a query has 1 to 128 characters",
        arguments: [(0, false), (1, true), (128, true), (129, false)]
    )
    func lengthOfName(_ length: Int, _ isTaken: Bool) async throws {
        let context = SyncContext(store: try makeStore(), remote: ScriptedRemote(pages: [PullPage(records: [])]))
        let name = String(repeating: "x", count: length)
        let code = try await syncErrorCode { try await context.pull(Query("TodoItem"), queryID: name) }
        #expect(code == (isTaken ? nil : .invalidParameter))
    }

    @Test("one query's token is reset, and no other")
    func reset() async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            try await world.shareItem()
            let (context, table) = (world.laptop.context, world.laptop.table)
            try await table.pull()
            try await world.laptop.store.delete(table.query)
            try await context.resetDeltaToken(of: table)
            #expect(try await world.laptop.pull().received == 0, "the named one goes on")
            #expect(try await table.pull().received == 1)
            try await world.laptop.store.delete(table.query)
            try await context.resetDeltaToken(of: table, queryID: "all")
            #expect(try await table.pull().received == 0)
            #expect(try await world.laptop.pull().received == 1)
        }
    }

    @Test("a pull without a name goes on only where the same condition was pulled before")
    func conditions() async throws {
        let remote = ScriptedRemote { _, _ in PullPage(records: [], cursor: "c") }
        let numbers: [ColumnDefinition] = [
            .init("count", .int64), .init("ratio", .double), .init("price", .decimal),
        ]
        let definition = TableDefinition("TodoItem", columns: todoTable.columns + numbers)
        let context = SyncContext(store: try makeStore(definition), remote: remote)
        let table = try context.table("TodoItem")
        let text = Column("text")
        var conditions: [QueryPredicate] = [
            text == "x", text != "x", text < "x", text <= "x", text > "x", text >= "x", text.contains("x"),
            text.starts(with: "x"), text.ends(with: "x"), text == .null, text != .null, !(text == "x"),
            text == "x" && Column("complete") == true, text == "x" || Column("complete") == true,
            text.isAny(of: ["a"]), text.isAny(of: ["b"]), text.isAny(of: ["a", "b"]),
        ]
        conditions += try Self.conditionsThatDifferInOnePlace()
        for condition in conditions { try await table.pull(where: condition) }
        #expect(remote.requests.map(\.position) == conditions.map { _ in .changes(since: nil) })
        for condition in conditions { try await table.pull(where: condition) }
        #expect(remote.requests.dropFirst(conditions.count).allSatisfy { $0.position == .changes(since: "c") })
    }

    /// Conditions of which two and more differ in a value, a function, an operator or a position alone.
    private static func conditionsThatDifferInOnePlace() throws -> [QueryPredicate] {
        let (text, count) = (QueryExpression.column("text"), QueryExpression.column("count"))
        let (due, ratio, price) = (
            QueryExpression.column("due"), QueryExpression.column("ratio"), QueryExpression.column("price")
        )
        let decimal = try #require(DecimalText("1.5"))
        let otherDecimal = try #require(DecimalText("2.5"))
        var compared: [(QueryExpression, FieldValue)] = [
            (due, .date(Timestamp(milliseconds: 1_000))), (due, .date(Timestamp(milliseconds: 1_001))),
            (count, .int64(1)), (count, .int64(2)), (count, .double(1)), (count, .decimal(DecimalText(1))),
            (ratio, .double(0.25)), (ratio, .double(0.5)),
            (price, .decimal(decimal)), (price, .decimal(otherDecimal)),
            (.function(.year, due), .int64(5)), (.function(.month, due), .int64(5)),
            (.function(.day, due), .int64(5)),
        ]
        for symbol in [QueryOperator.add, .subtract] {
            compared.append((QueryExpression.operation(count, symbol, .value(.int64(3))), FieldValue.int64(5)))
        }
        for position: Int64 in [1, 2] {
            let start = QueryExpression.value(.int64(position))
            for length in [QueryExpression.value(.int64(1)), nil] {
                compared.append((QueryExpression.substring(text, from: start, count: length), FieldValue.string("x")))
            }
        }
        return compared.map { QueryPredicate.comparison($0, .equal, .value($1)) }
    }

    /// As in the .NET client: who may not read one table reads the others.
    @Test(
        "of several tables, one that the server fails on keeps none of the others from being pulled",
        arguments: [
            (.refused, 403, true), (.notFound, 404, true), (.serverFailure, 500, true), (.invalidResponse, 200, true),
            (.unreachable, nil, false), (.unauthorized, 401, false), (.throttled, 503, false),
        ] as [(RemoteError.Code, Int?, Bool)]
    )
    func oneOfSeveral(_ code: RemoteError.Code, _ status: Int?, _ goesOn: Bool) async throws {
        let names = ["A", "B", "C", "D"]
        let remote = ScriptedRemote { request, _ in
            if ["A", "C"].contains(request.table) {
                throw RemoteError(code, "\(request.table), on purpose", status: status)
            }
            return PullPage(records: [serverRow("1")])
        }
        let schema = try StoreSchema(names.map { TableDefinition($0, columns: [.init("text", .string)]) })
        let context = SyncContext(store: MemoryStore(schema), remote: remote)
        for isSync in [true, false] {
            let asked = remote.requests.count
            let error = await #expect(throws: SyncError.self) {
                if isSync {
                    _ = try await context.sync()
                } else {
                    try await context.pull(Query("A"), Query("B"), Query("C"), Query("D"))
                }
            }
            #expect(error?.code == .pullAborted)
            #expect((error?.cause as? RemoteError)?.message == "A, on purpose", "the first one")
            #expect(remote.requests.dropFirst(asked).map(\.table) == (goesOn ? names : ["A"]))
            #expect(error?.pull?.received == (goesOn && isSync ? 2 : 0))
        }
        #expect(try await context.table("D").read(Query("D")).records.count == (goesOn ? 1 : 0))
    }
}
