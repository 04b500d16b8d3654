import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import HTTPTransport
import OfflineSync
import RemoteContract
import SyncContract
import Synchronization
import Testing

@Suite("Rows that a pull sets aside")
struct SetAsideTests {
    @Test("hold no others up, are named, and come with their next change")
    func unfit() async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            try world.emulator.seed(
                [
                    ["id": "a", "text": "milk"], ["id": "b", "text": "bread", "due": "soon"],
                    ["id": "c", "text": "tea"],
                ],
                in: "TodoItem"
            )
            let first = try await world.laptop.pull()
            #expect(try await world.laptop.texts() == ["a": "milk", "c": "tea"])
            #expect(first.setAside.map(\.id) == ["b"])
            #expect(first.setAside.first?.reason.contains("due") == true)
            #expect(first.setAside.first?.reason.contains("soon") == false)

            let second = try await world.laptop.pull()
            #expect(second.setAside.isEmpty && second.notFetched == 0)
            #expect(second.requests == 1, "it is not asked for by every pull")
            let listed = try await world.laptop.context.setAsideRows()
            #expect(listed.map(\.itemID) == ["b"] && listed.map(\.table) == ["TodoItem"])
            #expect(listed.map(\.reason) == first.setAside.map(\.reason))
            #expect(try await world.laptop.context.status().setAside == 1)

            try world.emulator.seed([["id": "b", "text": "bread", "due": nil]], in: "TodoItem")
            let third = try await world.laptop.pull()
            #expect(third.setAside.isEmpty && third.notFetched == 0)
            #expect(try await world.laptop.texts() == world.onServer())
            #expect(try await world.laptop.context.setAsideRows().isEmpty)
            #expect(try await world.laptop.pull().requests == 1)
        }
    }

    @Test("are in the status that is followed", .timeLimit(.minutes(1)))
    func followed() async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            try world.emulator.seed([["id": "b", "due": "soon"]], in: "TodoItem")
            var statuses = world.laptop.context.observeStatus().makeAsyncIterator()
            #expect(try await statuses.next()?.setAside == 0)
            try await world.laptop.pull()
            var last = try await statuses.next()
            while last?.setAside == 0 { last = try await statuses.next() }
            #expect(last?.setAside == 1)
        }
    }

    @Test("are no burden to later pulls, however many they are")
    func many() async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            try world.emulator.seed((0..<130).map { ["id": .string("r\($0)"), "due": "soon"] }, in: "TodoItem")
            #expect(try await world.laptop.pull().setAside.count == 130)
            #expect(try await world.laptop.pull().requests == 1)
            #expect(try await world.laptop.context.status().setAside == 130)
        }
    }

    @Test("are asked for again on request, many at a time", arguments: [1, 60])
    func onRequest(_ count: Int) async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            let ids = (0..<count).map { "r\($0)" }
            try world.emulator.seed(ids.map { ["id": .string($0), "due": "soon"] }, in: "TodoItem")
            let context = world.laptop.context
            try await world.laptop.pull()
            let still = try await context.retrySetAsideRows()
            #expect(still.setAside.count == count && still.received == 0)
            #expect(try await context.status().setAside == count)
            #expect(still.requests <= 1 + count / 20)
            try world.emulator.seed(
                ids.map { ["id": .string($0), "due": nil, "updatedAt": "2020-01-01T00:00:00Z"] },
                in: "TodoItem"
            )
            #expect(try await world.laptop.pull().received == 0, "their stamps are old")
            #expect(try await context.retrySetAsideRows().received == count)
            #expect(try await context.setAsideRows().isEmpty)
            #expect(try await context.retrySetAsideRows().requests == 0)
        }
    }

    @Test(
        "are asked for again when the declaration of their table has changed, once",
        arguments: [ColumnDefinition("due", .string), ColumnDefinition("due", .date, wireName: "until")]
    )
    func changedDeclaration(_ due: ColumnDefinition) async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            try world.emulator.seed(
                [["id": "a/b", "due": "soon", "until": nil], ["id": "c", "due": "later", "until": nil]],
                in: "TodoItem"
            )
            try await world.laptop.pull()
            let base = world.laptop.store
            let declared = TableDefinition(
                "TodoItem",
                columns: [.init("text", .string), .init("complete", .bool), due]
            )
            let store = try makeStore(declared)
            // The system tables of an app whose next version declares the column otherwise.
            for table in SystemTables.all {
                try await store.upsert(try await base.read(Query(table.name)).records, table: table.name)
            }
            let context = SyncContext(store: store, remote: world.laptop.server)
            #expect(try await context.setAsideRows().count == 2)
            let report = try await context.pull(Query("TodoItem"), queryID: "all")
            #expect(report.received == 2, "an id that no address can name is asked for as well")
            #expect(try await context.setAsideRows().isEmpty)
            #expect(try await context.pull(Query("TodoItem"), queryID: "all").requests == 1)
        }
    }

    /// A context whose table declares what the rows set aside have, so that they are due.
    private func fitting(_ laptop: SyncWorld.Device) async throws -> SyncContext {
        let declared = TableDefinition("TodoItem", columns: [.init("text", .string), .init("due", .string)])
        let store = try makeStore(declared)
        for table in SystemTables.all {
            try await store.upsert(try await laptop.store.read(Query(table.name)).records, table: table.name)
        }
        return SyncContext(store: store, remote: laptop.server)
    }

    @Test("stay due when a pull with parameters does not bring them, and come with one that does")
    func parameters() async throws {
        let answer = SyncWorld.StandIn { request, emulator in
            guard request.query.contains("project=1") else { return try await emulator.handle(request) }
            return EmulatorResponse(
                200,
                headers: ["Content-Type": "application/json"],
                body: Data(#"{"items":[]}"#.utf8)
            )
        }
        try await SyncWorld.with(.datasync, age: 60_000, answeringLaptop: answer) { world in
            try world.emulator.seed([["id": "a", "due": "soon"]], in: "TodoItem")
            let project = { PullOptions(order: .pullOnly, parameters: ["project": $0]) }
            try await world.laptop.context.pull(Query("TodoItem"), options: project("2"))
            let context = try await fitting(world.laptop)
            #expect(try await context.pull(Query("TodoItem"), options: project("1")).received == 0)
            #expect(try await context.setAsideRows().map(\.itemID) == ["a"])
            #expect(try await context.pull(Query("TodoItem"), options: project("2")).received == 1)
            #expect(try await context.setAsideRows().isEmpty)
        }
    }

    @Test("stay due while the server answers nothing", arguments: [400, 403, 500])
    func failing(_ status: Int) async throws {
        let fails = Switch()
        let answer = SyncWorld.StandIn { request, emulator in
            fails.isOn ? EmulatorResponse(status) : try await emulator.handle(request)
        }
        try await SyncWorld.with(.datasync, age: 60_000, answeringLaptop: answer) { world in
            try world.emulator.seed((0..<40).map { ["id": .string("r\($0)"), "due": "soon"] }, in: "TodoItem")
            try await world.laptop.pull()
            let context = try await fitting(world.laptop)
            fails.isOn = true
            for _ in 0..<2 {
                let code = try await syncErrorCode { try await context.pull(Query("TodoItem"), queryID: "all") }
                #expect(code == .pullAborted)
            }
            fails.isOn = false
            #expect(try await context.pull(Query("TodoItem"), queryID: "all").received == 40)
            #expect(try await context.setAsideRows().isEmpty)
        }
    }

    @Test("come without the one that the server refuses, which is not asked for by every pull", arguments: [400, 500])
    func refusedAlone(_ status: Int) async throws {
        let answer = SyncWorld.StandIn { request, emulator in
            let asks = request.query.removingPercentEncoding?.contains("'r7'") ?? false
            return asks ? EmulatorResponse(status) : try await emulator.handle(request)
        }
        try await SyncWorld.with(.datasync, age: 60_000, answeringLaptop: answer) { world in
            try world.emulator.seed((0..<30).map { ["id": .string("r\($0)"), "due": "soon"] }, in: "TodoItem")
            try await world.laptop.pull()
            let context = try await fitting(world.laptop)
            let report = try await context.pull(Query("TodoItem"), queryID: "all")
            #expect(report.received == 29 && report.notFetched == 1)
            #expect(try await context.setAsideRows().map(\.itemID) == ["r7"])
            // Where the server fails, it may be handed over the next time.
            let again = try await context.pull(Query("TodoItem"), queryID: "all")
            #expect(again.notFetched == (status == 500 ? 1 : 0))
        }
    }

    @Test("count as not fetched when they are asked for no more, because the server answers for none of them")
    func givenUp() async throws {
        let answer = SyncWorld.StandIn { request, emulator in
            let query = request.query.removingPercentEncoding ?? ""
            let asksByID = query.contains("(id in (") || query.contains("(id eq '")
            return asksByID ? EmulatorResponse(500) : try await emulator.handle(request)
        }
        try await SyncWorld.with(.datasync, age: 60_000, answeringLaptop: answer) { world in
            try world.emulator.seed((0..<40).map { ["id": .string("r\($0)"), "due": "soon"] }, in: "TodoItem")
            try await world.laptop.pull()
            let context = try await fitting(world.laptop)
            #expect(try await context.pull(Query("TodoItem"), queryID: "all").notFetched == 40)
            #expect(try await context.setAsideRows().count == 40)
        }
    }

    @Test("count once as not fetched when the question for them breaks off and is asked again in parts")
    func brokenQuestion() async throws {
        let pages = Mutex(0)
        let answer = SyncWorld.StandIn { request, emulator in
            let asksForBoth = request.query.removingPercentEncoding?.contains("(id in (") ?? false
            let isBroken =
                asksForBoth
                && pages.withLock { count in
                    count += 1
                    return count == 2
                }
            return isBroken ? EmulatorResponse(422) : try await emulator.handle(request)
        }
        try await SyncWorld.with(.datasync, age: 60_000, answeringLaptop: answer) { world in
            try world.emulator.seed(
                [["id": "a", "due": "soon", "text": 7], ["id": "b", "due": "soon"]],
                in: "TodoItem"
            )
            try await world.laptop.pull()
            let context = try await fitting(world.laptop)
            let report = try await context.pull(Query("TodoItem"), queryID: "all", options: .init(pageSize: 1))
            #expect(pages.withLock { $0 } == 2, "its first page came")
            #expect(report.notFetched == 1 && report.setAside.map(\.id) == ["a"])
            #expect(try await context.setAsideRows().map(\.itemID) == ["a"])
        }
    }

    @Test("leave the list when they are on the server no longer, and with their table's rows")
    func leave() async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            try world.emulator.seed([["id": "a", "due": "soon"], ["id": "b", "due": "soon"]], in: "TodoItem")
            let context = world.laptop.context
            try await world.laptop.pull()
            try world.emulator.seed([["id": "a", "due": "soon", "deleted": true]], in: "TodoItem")
            let report = try await world.laptop.pull()
            #expect(report.setAside.isEmpty, "nobody looks at the content of a tombstone")
            #expect(try await context.setAsideRows().map(\.itemID) == ["b"])
            try await world.laptop.table.purge()
            #expect(try await context.setAsideRows().isEmpty)
        }
    }

    @Test("a tombstone removes its row, whatever is in its other columns", arguments: DatasyncDialect.allCases)
    func tombstone(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem("a")
            try world.emulator.seed([["id": "a", "due": "soon", "text": 7.5, "deleted": true]], in: "TodoItem")
            let report = try await world.laptop.pull()
            #expect(report.deleted == 1 && report.setAside.isEmpty)
            #expect(try await world.laptop.texts().isEmpty)
        }
    }

    @Test(
        "one that the server has failed on is asked for by the next pull, and by no other when it fails again",
        arguments: [true, false]
    )
    func failingForAWhile(isMended: Bool) async throws {
        let isFailing = Mutex(true)
        let answer = SyncWorld.StandIn { request, emulator in
            let isOfOthers =
                request.query.contains("%24select") || request.query.contains("$select")
                || request.query.contains("id%20eq%20%27b%27")
            let fails = request.method == "GET" && !isOfOthers && isFailing.withLock { $0 }
            return fails ? EmulatorResponse(500) : try await emulator.handle(request)
        }
        try await SyncWorld.with(.datasync, age: 60_000, answeringLaptop: answer) { world in
            for id in ["a", "b"] { try await world.phone.table.insert(["text": .string(id)], id: id) }
            _ = try await world.phone.context.push()
            let laptop = world.laptop
            #expect(try await laptop.pull().setAside.map(\.id) == ["a"])
            #expect(try await laptop.texts() == ["b": "b"])
            isFailing.withLock { $0 = !isMended }
            try await laptop.pull()
            #expect(try await laptop.texts() == (isMended ? ["a": "a", "b": "b"] : ["b": "b"]))
            #expect(try await laptop.context.setAsideRows().map(\.id) == (isMended ? [] : ["a"]))
            isFailing.withLock { $0 = false }
            #expect(try await laptop.pull().requests == 1)
            #expect(try await laptop.context.setAsideRows().map(\.id) == (isMended ? [] : ["a"]))
        }
    }

    @Test("do not stop later pulls when their answer breaks off")
    func breaksOff() async throws {
        let emulator = Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["TodoItem"]))
        try emulator.seed(["a", "b", "c"].map { ["id": .string($0), "text": "milk"] }, in: "TodoItem")
        let context = SyncContext(
            store: try makeStore(),
            remote: try DatasyncRemote(
                baseURL: EmulatorTransport.url,
                dialect: .datasync,
                transport: BreakingOffTransport(emulator: EmulatorTransport(emulator))
            )
        )
        let query = Query("TodoItem")
        #expect(try await context.pull(query, queryID: "all").setAside.map(\.id) == ["b"])
        try emulator.seed([["id": "d", "text": "tea"]], in: "TodoItem")
        let second = try await context.pull(query, queryID: "all")
        #expect(second.setAside.map(\.id) == ["b"] && second.notFetched == 1, "it is asked for once more")
        #expect(try await context.setAsideRows().map(\.itemID) == ["b"])
        #expect(
            try await context.store.read(Query("TodoItem")).records.compactMap(\.id.stringValue).sorted() == [
                "a", "c", "d",
            ]
        )
    }

    @Test(
        "that only a pull with parameters shows stay named when they are asked for without, and come with such a pull"
    )
    func shownWithParameters() async throws {
        let fits = Switch()
        let remote = ScriptedRemote { request, _ in
            guard request.parameters == ["archived": "1"] else { return PullPage(records: [], cursor: "c") }
            if fits.isOn { return PullPage(records: request.predicate == nil ? [] : [serverRow("x")], cursor: "c") }
            return PullPage(records: [], setAside: [SetAsideRow(id: "x", reason: "on purpose")], cursor: "c")
        }
        let context = SyncContext(store: try makeStore(), remote: remote)
        let archived = PullOptions(parameters: ["archived": "1"])
        try await context.pull(Query("TodoItem"), options: archived)
        #expect(try await context.setAsideRows().map(\.itemID) == ["x"])
        try await context.retrySetAsideRows()
        try await context.pull(Query("TodoItem"), options: .init(reconciles: true))
        #expect(try await context.setAsideRows().map(\.itemID) == ["x"])
        let before = remote.requests.count
        try await context.pull(Query("TodoItem"))
        #expect(remote.requests.count == before + 1, "they are no burden to others")
        fits.isOn = true
        try await context.pull(Query("TodoItem"), options: archived)
        #expect(try await context.setAsideRows().isEmpty)
        #expect(try await texts(context).keys.sorted() == ["x"])
    }

    @Test("stay named when a pull of everything that does not ask for them has not met them", arguments: [false, true])
    func outsideOfCondition(_ hasParameters: Bool) async throws {
        let remote = ScriptedRemote { request, _ in
            let isPart = request.predicate != nil || !request.parameters.isEmpty
            return PullPage(
                records: [serverRow("a")],
                setAside: isPart ? [] : [SetAsideRow(id: "x", reason: "on purpose")]
            )
        }
        let context = SyncContext(store: try makeStore(), remote: remote)
        try await context.pull(Query("TodoItem"))
        #expect(try await context.setAsideRows().map(\.itemID) == ["x"])
        let part = hasParameters ? Query("TodoItem") : Query("TodoItem").filtered(by: Column("text") != "x")
        try await context.pull(
            part,
            options: .init(reconciles: true, parameters: hasParameters ? ["archived": "0"] : [:])
        )
        #expect(try await context.setAsideRows().map(\.itemID) == ["x"])
    }

    @Test("met by a pull with parameters as well, they leave the list with the others once they are gone")
    func metWithParameters() async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            try world.emulator.seed([["id": "a", "due": "soon"]], in: "TodoItem")
            let context = world.laptop.context
            try await context.pull(Query("TodoItem"), options: .init(order: .pullOnly))
            try await context.pull(Query("TodoItem"), options: .init(order: .pullOnly, parameters: ["project": "2"]))
            #expect(try await context.setAsideRows().map(\.itemID) == ["a"])
            world.emulator.reset()
            try await context.pull(Query("TodoItem"), options: .init(order: .pullOnly, reconciles: true))
            #expect(try await context.setAsideRows().isEmpty)
        }
    }
}

/// Loses the connection in the middle of every answer that holds the content of the row `b`.
private struct BreakingOffTransport: ClientTransport {
    let emulator: EmulatorTransport

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let response = try await emulator.send(request)
        guard String(decoding: response.body, as: UTF8.self).contains(/"text":"milk"[^}]*"id":"b"|"id":"b"[^}]*"text"/)
        else { return response }
        throw TransportError(.connectionLost, "broken off, on purpose", fate: .mayHaveBeenProcessed)
    }
}
