import DatasyncHTTP
import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("The states of rows in reads and live queries")
struct SyncStateTests {
    private typealias Todos = SyncTable<StatedTodo>

    /// An item that wants its state.
    private struct StatedTodo: Codable, Identifiable, Sendable, Equatable {
        var id = ""
        var text: String
        var standing = SyncState.synced
    }

    /// One that may do without.
    private struct OptionalTodo: Codable, Identifiable, Sendable, Equatable {
        var id = ""
        var text: String
        var syncState: SyncState?
    }

    /// Stores that answer by themselves, and stores for which the transaction does.
    static let stores = [true, false]

    private func context(_ answers: Bool) throws -> SyncContext {
        SyncContext(
            store: MemoryStore(try StoreSchema([todoTable]), answersSyncStates: answers),
            remote: UnavailableRemote.unreachable
        )
    }

    @Test("conditions, limits and counts know the state of each row", arguments: stores)
    func conditions(_ answers: Bool) async throws {
        let context = try context(answers)
        let table = try context.table("TodoItem")
        try await context.store.upsert(["x", "y", "z"].map { Record(id: $0) }, table: "TodoItem")
        try await table.insert(["text": "milk"], id: "a")
        try await table.update(Record(id: "y", ["text": "bread"]))
        let waiting = table.query.filtered(by: Column.syncState != .synced)
        #expect(try await table.read(waiting).records.map(\.id) == ["a", "y"])
        #expect(try await table.count(waiting.limited(to: 1)) == 2)
        let rest = table.query.filtered(by: Column.syncState == .synced).skipping(1).countingAll()
        let result = try await table.read(rest.includingSyncStates())
        #expect(result.records.map(\.id) == ["z"])
        #expect(result.records.map(\.syncState) == [.synced])
        #expect(result.totalCount == 2)
    }

    @Test("batches come in the order of states, without them unless they are asked for")
    func batches() async throws {
        let context = try context(true)
        let table = try context.table("TodoItem")
        try await context.store.upsert(["a", "b", "c"].map { Record(id: $0) }, table: "TodoItem")
        for id in ["d", "b", "e"] {
            if id == "b" { try await table.update(Record(id: "b")) } else { try await table.insert([:], id: id) }
        }
        let ordered = table.query.ordered(by: Column.syncState.name).selecting(["text"])
        for query in [ordered, ordered.includingSyncStates()] {
            var rows: [Record] = []
            for try await batch in context.store.batches(of: query, size: 2) { rows += batch }
            #expect(rows.map(\.id) == ["b", "d", "e", "a", "c"])
            let states: [SyncState] = [.pending, .pending, .pending, .synced, .synced]
            #expect(rows.map(\.syncState) == (query.includesSyncStates ? states : [nil, nil, nil, nil, nil]))
        }
    }

    @Test("an item receives its state under whatever name, and what the app puts there is ignored", arguments: stores)
    func items(_ answers: Bool) async throws {
        let context = try context(answers)
        let table: Todos = try context.table("TodoItem")
        var item = try await table.insert(StatedTodo(id: "a", text: "milk", standing: .failed))
        #expect(item.standing == .pending)
        item.standing = .conflicted
        try await table.update(item)
        #expect(try await table.read("a")?.standing == .pending)
        #expect(try await table.read("b") == nil)
        #expect(try await table.read(table.query).map(\.standing) == [.pending])
        let optional: SyncTable<OptionalTodo> = try context.table("TodoItem")
        #expect(try await optional.read(table.query.limited(to: 5)).map(\.syncState) == [.pending])
        #expect(try await optional.read("a")?.syncState == .pending)
        let row = try await context.store.read(table: "TodoItem", itemID: "a")
        #expect(row?["standing"] == nil)
        #expect(row?.syncState == nil)
    }

    @Test(
        "a live query of a type that nobody has read before tells when the state of a row changes",
        .timeLimit(.minutes(1))
    )
    func liveItems() async throws {
        struct NewTodo: Codable, Identifiable, Sendable {
            var id = ""
            var text: String
            var state = SyncState.synced
        }
        try await SyncWorld.with(.datasync) { world in
            let table: SyncTable<NewTodo> = try world.laptop.context.table("TodoItem")
            var items = table.observe(table.query).makeAsyncIterator()
            var one = table.observe("a").makeAsyncIterator()
            #expect(try await items.next()?.isEmpty == true)
            try await table.insert(NewTodo(id: "a", text: "milk"))
            #expect(try await items.next()?.map(\.state) == [.pending])
            #expect(try await one.next()??.state == .pending)
            _ = try await world.laptop.context.push()
            #expect(try await items.next()?.map(\.state) == [.synced])
            #expect(try await one.next()??.state == .synced)
        }
    }

    @Test("a row is uploading from when its request leaves until its answer is recorded", arguments: [false, true])
    func uploading(_ isEdited: Bool) async throws {
        try await SyncWorld.with(.datasync) { world in
            let (context, table) = (world.laptop.context, world.laptop.table)
            let query = table.query.includingSyncStates()
            try await table.insert(["text": "milk"], id: "a")
            try await table.insert(["text": "bread"], id: "b")
            world.laptop.server.intercept(
                .whileUnderWay {
                    #expect(try await table.read(query).records.map(\.syncState) == [.uploading, .pending])
                    if isEdited { try await table.update(Record(id: "a", ["complete": true])) }
                    let uploading = table.query.filtered(by: Column.syncState == .uploading)
                    #expect(try await table.read(uploading).records.map(\.id) == ["a"])
                    #expect(try await table.syncStates() == ["a": .uploading, "b": .pending])
                }
            )
            _ = try await context.push()
            #expect(try await table.read(query).records.map(\.syncState) == [isEdited ? .pending : .synced, .synced])
        }
    }

    @Test("a push that ends early leaves nothing under way, and live queries hear of it", .timeLimit(.minutes(1)))
    func interrupted() async throws {
        try await SyncWorld.with(.datasync) { world in
            let (context, table) = (world.laptop.context, world.laptop.table)
            try await table.insert(["text": "milk"], id: "a")
            let seen = Seen(table.observe(table.query.includingSyncStates()))
            #expect(try await seen.next() == [.pending])
            world.laptop.server.intercept(
                .whileUnderWay {
                    #expect(try await seen.next() == [.uploading])
                    throw CancellationError()
                }
            )
            await #expect(throws: CancellationError.self) { _ = try await context.push() }
            #expect(try await seen.next() == [.pending])
            let operations = try await context.store.read(Query(SystemTables.operations.name)).records
            #expect(operations.map { $0["push"] } == [.null])
        }
    }

    @Test("what a killed process had under way is pending")
    func killed() async throws {
        try await SyncWorld.with(.datasync) { world in
            let table = world.laptop.table
            try await table.insert(["text": "milk"], id: "a")
            // As the mark of a push that is no more.
            let operations = SystemTables.operations.name
            let number = try #require(try await world.laptop.context.operations().first?.id)
            try await world.laptop.store.upsert([Record(id: .int64(number), ["push": 42])], table: operations)
            #expect(try await table.syncStates() == ["a": .pending])
            #expect(try await table.count(table.query.filtered(by: Column.syncState == .pending)) == 1)
            #expect(try await world.laptop.context.push().pushed == 1)
            #expect(try await table.syncStates() == [:])
        }
    }

    @Test("a pull by state is refused, and nothing is asked")
    func pull() async throws {
        try await SyncWorld.with(.datasync) { world in
            let table = world.laptop.table
            for query in [table.query.filtered(by: Column.syncState == .pending), table.query.includingSyncStates()] {
                #expect(
                    try await syncErrorCode {
                        try await world.laptop.context.pull(query, options: .init(reconciles: true))
                    } == .invalidParameter
                )
                let code = try await syncErrorCode { try await world.laptop.context.pull(query, queryID: "q") }
                #expect(code == .invalidParameter)
            }
            #expect(world.laptop.server.requestCount == 0)
        }
    }
}

/// What a live query gives, to several tasks.
private actor Seen {
    private var iterator: StoreObservation<QueryResult>.Iterator?

    init(_ observation: StoreObservation<QueryResult>) { iterator = observation.makeAsyncIterator() }

    func next() async throws -> [SyncState?]? {
        guard var taken = iterator else { return nil }
        iterator = nil
        let result = try await taken.next()
        iterator = taken
        return result?.records.map(\.syncState)
    }
}
