import DatasyncEmulator
import DatasyncHTTP
import Foundation
import OfflineSync
import RemoteContract
import SyncContract
import Synchronization
import Testing

@Suite("A row that is asked for by its id")
struct AskedByIDTests {
    /// Has the item "a" asked for by its id, as when a page was overtaken by an answer.
    private func askByID(_ device: SyncWorld.Device) async throws {
        try await device.store.upsert(
            [Record(id: "mark", ["table": "TodoItem", "keyType": 1_000, "key": "a"])],
            table: SystemTables.configuration.name
        )
    }

    /// A laptop that has the item "a", and asks by its id for newer content, which no page brings; beside other rows that are new.
    private func askingForNewer(
        beside rows: [[String: JSONValue]] = [],
        _ body: (SyncWorld, SyncWorld.Device) async throws -> Void
    ) async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            try await world.shareItem("a")
            try await world.laptop.pull()
            let newer: [String: JSONValue] = ["id": "a", "text": "newer", "updatedAt": "2020-01-01T00:00:00Z"]
            try world.emulator.seed([newer] + rows, in: "TodoItem")
            try await askByID(world.laptop)
            try await body(world, world.laptop)
        }
    }

    /// Shows rows with a parameter only.
    private let archive = SyncWorld.StandIn { request, emulator in
        let isShown = request.method != "GET" || request.query.contains("archived=1")
        return isShown ? try await emulator.handle(request) : EmulatorResponse(404)
    }

    @Test("is asked for with the pull's parameters, too, before it counts as gone")
    func refetchedWithParameters() async throws {
        try await SyncWorld.with(.datasync, age: 60_000, answeringLaptop: archive) { world in
            try await world.phone.table.insert(["text": "milk"], id: "a")
            _ = try await world.phone.context.push()
            let laptop = world.laptop
            let options = PullOptions(order: .pullOnly, parameters: ["archived": "1"])
            #expect(try await laptop.table.pull(options: options).received == 1)
            try await askByID(laptop)
            #expect(try await laptop.table.pull(options: options).deleted == 0)
            #expect(try await laptop.texts() == ["a": "milk"])
        }
    }

    @Test("is set aside when it does not fit, be it shown with those only")
    func unfitWithParameters() async throws {
        try await SyncWorld.with(.datasync, age: 60_000, answeringLaptop: archive) { world in
            try world.emulator.seed([["id": "a", "text": "milk"]], in: "TodoItem")
            let laptop = world.laptop
            let options = PullOptions(order: .pullOnly, parameters: ["archived": "1"])
            #expect(try await laptop.table.pull(options: options).received == 1)
            try world.emulator.seed(
                [["id": "a", "text": "milk", "due": "soon", "updatedAt": "2020-01-01T00:00:00Z"]],
                in: "TodoItem"
            )
            try await askByID(laptop)
            let report = try await laptop.table.pull(options: options)
            #expect(report.deleted == 0 && report.setAside.map(\.itemID) == ["a"])
            #expect(try await laptop.texts() == ["a": "milk"])
        }
    }

    @Test("is not, once its table was purged", arguments: [false, true])
    func purgedMark(_ isForced: Bool) async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            try await world.shareItem("a")
            let laptop = world.laptop
            try await laptop.pull()
            try await askByID(laptop)
            if isForced { try await laptop.table.forcePurge() } else { try await laptop.table.purge() }
            let others = Query("TodoItem").filtered(by: Column("text") == "bread")
            let report = try await laptop.context.pull(others, options: PullOptions(order: .pullOnly))
            #expect(report.requests == 1 && report.received == 0)
            #expect(try await laptop.texts().isEmpty)
        }
    }

    @Test("that does not fit is set aside, and not asked for by every pull")
    func refetched() async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            try await world.shareItem("a")
            let laptop = world.laptop
            try await laptop.pull()
            try await askByID(laptop)
            try world.emulator.seed(
                [["id": "a", "text": "milk", "due": "soon", "updatedAt": "2020-01-01T00:00:00Z"]],
                in: "TodoItem"
            )
            let first = try await laptop.pull()
            #expect(first.notFetched == 1 && first.setAside.map(\.itemID) == ["a"])
            #expect(try await laptop.pull().requests == 1)
            #expect(try await laptop.context.setAsideRows().map(\.itemID) == ["a"])
        }
    }

    /// What is no JSON, as if something on the way had cut it off.
    private static let half = EmulatorResponse(
        200,
        headers: ["Content-Type": "application/json"],
        body: Data(#"{"id": "a", "te"#.utf8)
    )

    @Test("that is refused once is asked for again, and one whose answer cannot be read", arguments: [422, 200])
    func refetchRefusedOnce(_ status: Int) async throws {
        try await askingForNewer { world, laptop in
            let answer = status == 200 ? Self.half : EmulatorResponse(status)
            world.emulator.inject(.respond(answer, times: 1) { $0.method == "GET" && $0.path.hasSuffix("/a") })
            #expect(try await laptop.pull().notFetched == 1)
            try await laptop.pull()
            #expect(try await laptop.text("a") == "newer")
            #expect(try await laptop.context.setAsideRows().isEmpty)
        }
    }

    @Test("and is forbidden alone (401) is named, and takes nothing from the others; who is signed out is told so")
    func refetchForbidden() async throws {
        try await askingForNewer(beside: [["id": "b", "text": "bread"]]) { world, laptop in
            world.emulator.inject(
                .respond(EmulatorResponse(401), times: 99) { $0.method == "GET" && $0.path.hasSuffix("/a") }
            )
            let report = try await laptop.pull()
            #expect(report.notFetched == 1 && report.setAside.map(\.itemID) == ["a"])
            #expect(try await laptop.text("b") == "bread")
            world.emulator.inject(.respond(EmulatorResponse(401), times: 99))
            let error = await #expect(throws: SyncError.self) { try await laptop.pull() }
            #expect((error?.cause as? RemoteError)?.code == .unauthorized)
            world.emulator.clearFaults()
            try await laptop.pull()
            #expect(try await laptop.text("a") == "newer")
        }
    }

    @Test("whose answer cannot be read twice is named, and not asked for by every pull")
    func refetchUnreadable() async throws {
        try await askingForNewer { world, laptop in
            world.emulator.inject(
                .respond(Self.half, times: 99) {
                    $0.method == "GET" && ($0.path.hasSuffix("/a") || $0.query.contains("%27a%27"))
                }
            )
            for _ in 0..<2 { #expect(try await laptop.pull().notFetched == 1) }
            #expect(try await laptop.pull().requests == 1)
            #expect(try await laptop.context.setAsideRows().map(\.itemID) == ["a"])
            world.emulator.clearFaults()
            try await laptop.context.retrySetAsideRows()
            #expect(try await laptop.text("a") == "newer")
            #expect(try await laptop.context.setAsideRows().isEmpty)
        }
    }

    /// The connection breaks off with this row only, which is no reason to do without the others.
    @Test("that breaks off every time takes nothing from the others, and comes when it can")
    func refetchBreaksOff() async throws {
        try await askingForNewer(beside: [["id": "b", "text": "bread"]]) { world, laptop in
            world.emulator.inject(.drop(times: 99) { $0.method == "GET" && $0.path.hasSuffix("/a") })
            let report = try await laptop.pull()
            #expect(report.notFetched == 1 && report.setAside.map(\.itemID) == ["a"])
            #expect(try await laptop.context.setAsideRows().map(\.itemID) == ["a"])
            #expect(try await laptop.texts() == ["a": "milk", "b": "bread"])
            world.emulator.clearFaults()
            #expect(try await laptop.pull().notFetched == 0)
            #expect(try await laptop.texts() == ["a": "newer", "b": "bread"])
            #expect(try await laptop.context.setAsideRows().isEmpty)
        }
    }

    @Test("ends the pull when the server asks to come back later, which has nothing against it", arguments: [408, 503])
    func refetchThrottled(_ status: Int) async throws {
        try await askingForNewer { world, laptop in
            world.emulator.inject(
                .respond(EmulatorResponse(status), times: 1) { $0.method == "GET" && $0.path.hasSuffix("/a") }
            )
            #expect(try await syncErrorCode { try await laptop.pull() } == .pullAborted)
            #expect(try await laptop.context.setAsideRows().isEmpty)
            try await laptop.pull()
            #expect(try await laptop.text("a") == "newer")
        }
    }

    @Test("has what the server says of it in no reason and in no log line: it may quote the row")
    func refusalOfTheServer() async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            try await world.shareItem("a")
            let laptop = world.laptop
            try await laptop.pull()
            try await askByID(laptop)
            let words = Data(#"{"error":"the row 'secret' is not for you"}"#.utf8)
            let refusal = EmulatorResponse(422, headers: ["Content-Type": "application/json"], body: words)
            world.emulator.inject(.respond(refusal, times: 1) { $0.method == "GET" && $0.path.hasSuffix("/a") })
            var events = laptop.context.events.makeAsyncIterator()
            let report = try await laptop.pull()
            #expect(report.setAside.map(\.reason) == ["the server does not hand it over (HTTP 422); its log says more"])
            #expect(try await laptop.context.setAsideRows().map(\.reason) == report.setAside.map(\.reason))
            // Whatever was said before is in front of this.
            try await laptop.table.insert(["text": "tea"], id: "b")
            _ = try await laptop.context.push()
            var lines: [String] = []
            while lines.last?.hasPrefix("operation") != true, let event = await events.next() {
                lines.append(event.logLine)
            }
            let line = "row of 'TodoItem' set aside: the server does not hand it over (HTTP 422); its log says more"
            #expect(lines.contains(line) && !lines.joined().contains("secret"))
        }
    }

    @Test("is gone when every pull has asked in vain, and is asked for once by each")
    func refetchedByAll() async throws {
        let asked = Mutex(0)
        let answer = SyncWorld.StandIn { request, emulator in
            if request.path.hasSuffix("/a"), request.method == "GET" { asked.withLock { $0 += 1 } }
            return try await emulator.handle(request)
        }
        try await SyncWorld.with(.datasync, keepsTombstones: false, age: 60_000, answeringLaptop: answer) { world in
            let laptop = world.laptop
            for id in ["a", "b"] { try await world.phone.table.insert(["text": "milk"], id: id) }
            _ = try await world.phone.context.push()
            // The one ends as the other does.
            let list = { number in
                let parameters = ["list": "1"].merging(number == "2" ? ["a": "x)"] : [:]) { $1 }
                return PullOptions(order: .pullOnly, parameters: parameters)
            }
            for number in ["1", "2"] { try await laptop.table.pull(options: list(number)) }
            try await world.phone.table.delete("a")
            _ = try await world.phone.context.push()
            try await askByID(laptop)
            for _ in 0..<3 { #expect(try await laptop.table.pull(options: list("1")).deleted == 0) }
            #expect(asked.withLock { $0 } == 1)
            #expect(try await laptop.table.pull(options: list("2")).deleted == 1)
            #expect(try await laptop.texts() == ["b": "milk"])
            for number in ["1", "2"] { try await laptop.table.pull(options: list(number)) }
            #expect(asked.withLock { $0 } == 2)
        }
    }

    /// Each list has its own pull, and shows its rows to no other.
    @Test("stays as long as other pulls may be shown it", arguments: [true, false])
    func refetchedByOthers(_ isPlain: Bool) async throws {
        let answer = SyncWorld.StandIn { request, emulator in
            let isShown = request.method != "GET" || request.query.contains("list=2")
            guard !isShown else { return try await emulator.handle(request) }
            guard request.path.hasSuffix("TodoItem") else { return EmulatorResponse(404) }
            return EmulatorResponse(
                200,
                headers: ["Content-Type": "application/json"],
                body: Data(#"{"items":[]}"#.utf8)
            )
        }
        try await SyncWorld.with(.datasync, age: 60_000, answeringLaptop: answer) { world in
            try await world.phone.table.insert(["text": "milk"], id: "a")
            _ = try await world.phone.context.push()
            let laptop = world.laptop
            let list = { PullOptions(order: .pullOnly, parameters: ["list": $0]) }
            #expect(try await laptop.table.pull(options: list("2")).received == 1)
            try await askByID(laptop)
            #expect(try await laptop.table.pull(options: isPlain ? .init(order: .pullOnly) : list("1")).deleted == 0)
            #expect(try await laptop.texts() == ["a": "milk"])
            try await world.phone.table.update(Record(id: "a", ["text": "cream"]))
            _ = try await world.phone.context.push()
            #expect(try await laptop.table.pull(options: list("2")).deleted == 0)
            #expect(try await laptop.texts() == ["a": "cream"])
        }
    }

    @Test(
        "to whose question something in front of the service has no answer takes nothing from the others",
        arguments: [502, 504, 520]
    )
    func refetchInFront(_ status: Int) async throws {
        try await askingForNewer(beside: [["id": "b", "text": "bread"]]) { world, laptop in
            world.emulator.inject(
                .respond(EmulatorResponse(status), times: 99) { $0.method == "GET" && $0.path.hasSuffix("/a") }
            )
            let report = try await laptop.pull()
            #expect(report.notFetched == 1 && report.setAside.map(\.itemID) == ["a"])
            #expect(try await laptop.texts() == ["a": "milk", "b": "bread"])
            world.emulator.clearFaults()
            #expect(try await laptop.pull().notFetched == 0)
            #expect(try await laptop.texts() == ["a": "newer", "b": "bread"])
        }
    }

    @Test("ends the pull when the server says when to come again, whatever it has against it", arguments: [500, 504])
    func refetchAtATime(_ status: Int) async throws {
        try await askingForNewer { world, laptop in
            let answer = EmulatorResponse(status, headers: ["Retry-After": "900"])
            world.emulator.inject(.respond(answer, times: 9) { $0.method == "GET" })
            let error = await #expect(throws: SyncError.self) { _ = try await laptop.pull() }
            #expect(error?.code == .pullAborted && (error?.cause as? RemoteError)?.retryAfter == .seconds(900))
            let setAside = try await laptop.context.setAsideRows()
            #expect(setAside.isEmpty)
            // Where the table answers all the same, it holds nothing up.
            world.emulator.clearFaults()
            world.emulator.inject(.respond(answer, times: 9) { $0.method == "GET" && $0.path.hasSuffix("/a") })
            let report = try await laptop.pull()
            #expect(report.notFetched == 1 && report.isComplete)
        }
    }

    @Test("stays as long as pulls without progress may be shown it")
    func refetchedByReconciling() async throws {
        let answer = SyncWorld.StandIn { request, emulator in
            let isShown = request.method != "GET" || request.query.contains("archived=1")
            guard !isShown else { return try await emulator.handle(request) }
            guard request.path.hasSuffix("TodoItem") else { return EmulatorResponse(404) }
            return .json(200, .object(["items": .array([])]))
        }
        try await SyncWorld.with(.datasync, age: 60_000, answeringLaptop: answer) { world in
            try world.emulator.seed([["id": "a", "text": "milk"]], in: "TodoItem")
            let laptop = world.laptop
            let options = PullOptions(order: .pullOnly, reconciles: true, parameters: ["archived": "1"])
            #expect(try await laptop.table.pull(options: options).received == 1)
            try await askByID(laptop)
            #expect(try await laptop.table.pull(options: .init(order: .pullOnly)).deleted == 0)
            #expect(try await laptop.texts() == ["a": "milk"])
            // Who is shown it finds it gone.
            world.emulator.reset()
            #expect(try await laptop.table.pull(options: options).deleted == 1)
        }
    }

    @Test("is looked for behind an empty page of those that a pull with parameters is shown")
    func refetchedBehindEmptyPage() async throws {
        let remote = ScriptedRemote { request, _ in
            guard request.predicate != nil, request.position == .everything else {
                return PullPage(records: [serverRow("a")], cursor: "1")
            }
            return PullPage(records: [], next: .next("1"))
        }
        let context = SyncContext(store: try makeStore(), remote: remote)
        let options = PullOptions(order: .pullOnly, parameters: ["archived": "1"])
        try await context.pull(Query("TodoItem"), options: options)
        try await context.store.upsert(
            [Record(id: "mark", ["table": "TodoItem", "keyType": 1_000, "key": "a"])],
            table: SystemTables.configuration.name
        )
        #expect(try await context.pull(Query("TodoItem"), options: options).deleted == 0)
        #expect(try await texts(context) == ["a": "milk"])
    }
}
