import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import OfflineSync
import RemoteContract
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

/// What hooks and options were told.
private final class Diary: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func write(_ line: String) { lines.withLock { $0.append(line) } }

    func before(_ context: SyncContext) async throws {
        let status = try await context.status()
        write("before: \(status.pending) wait, \(try await context.table("TodoItem").query(context).count) rows")
    }

    func after(_ context: SyncContext, _ report: ResetReport) async throws {
        write("after: \(report), \(try await context.table("TodoItem").query(context).count) rows")
    }
}

extension SyncTable<Record> {
    fileprivate func query(_ context: SyncContext) async throws -> [Record] {
        try await context.store.read(Query(name)).records
    }
}

@Suite("A session whose server has lost its history", .timeLimit(.minutes(1)))
struct SessionResetTests {
    let emulator = SessionDevice.emulator()
    let other = SessionDevice.emulator()
    private let diary = Diary()

    /// A device that has three rows, and three changes that wait; its server is another one from then on.
    private func device(
        _ mode: ResetMode? = nil,
        maximumOfflineTime: Duration? = nil
    ) async throws -> (SessionDevice, ForgettingServer, SessionOptions) {
        let server = ForgettingServer()
        let device = try SessionDevice(emulator, through: server)
        let diary = diary
        let options = SessionOptions(
            resetMode: mode
                ?? .recoverUnsyncedChanges(
                    before: { try await diary.before($0) },
                    after: { try await diary.after($0, $1) }
                ),
            maximumOfflineTime: maximumOfflineTime
        )
        device.session.start(keeping: [Self.pull(device)], options: options)
        for id in ["a", "b", "c"] { try await device.add(id, id: id) }
        try await device.session.wait(for: .both)
        // What was pushed comes once more, and from then on there is a cursor.
        try await device.session.wait(for: .download)
        device.session.suspend()
        try await device.table.update(Record(id: "a", ["text": "mine"]))
        try await device.table.delete("b")
        try await device.add("new", id: "n")
        return (device, server, options)
    }

    @Test("a closure behind the mode is the hook before it, as one parameter alone does not say")
    func trailingClosure() {
        let modes: [ResetMode] = [.discardUnsyncedChanges { _ in }, .recoverUnsyncedChanges { _ in }]
        for mode in modes {
            switch mode {
            case .discardUnsyncedChanges(_?, nil), .recoverUnsyncedChanges(_?, nil): break
            default: Issue.record("\(mode)")
            }
        }
    }

    @Test("the hook behind it is called once, also when the session is suspended in it")
    func suspendedInTheHook() async throws {
        let calls = Mutex(0)
        let current = Mutex<SyncSession?>(nil)
        let mode = ResetMode.recoverUnsyncedChanges(
            before: { _ in },
            after: { _ in
                calls.withLock { $0 += 1 }
                current.withLock { $0 }?.suspend(.download)
            }
        )
        let (device, server, _) = try await device(mode)
        current.withLock { $0 = device.session }
        try await setUpAnew(device, server)
        device.session.resume()
        await #expect(throws: (any Error).self) { try await device.session.wait(for: .both) }
        await device.session.workEnds()
        device.session.resume()
        try await device.session.wait(for: .both)
        #expect(calls.withLock { $0 } == 1)
        await device.session.close()
    }

    @Test("a push that looks whether one is under way while it ends keeps no later one from being made")
    func pushBesideTheEnd() async throws {
        let store = InterruptedReads(try StoreSchema([todoTable, noteTable]))
        // In another process: nothing is known of it in this one.
        do {
            let broken = try SessionDevice(emulator, store)
            broken.line.set(.unreachable)
            await #expect(throws: SyncError.self) {
                try await broken.context.reset(onto: [FreshPull(Query("TodoItem"))], discardsChanges: false)
            }
        }
        let device = try SessionDevice(emulator, store)
        try await device.add("milk")
        store.interrupt { [context = device.context] in
            try await Task.detached { try await context.endReset() }.value
            return true
        }
        let error = await #expect(throws: SyncError.self) { _ = try await device.context.push() }
        #expect(error?.code == .historyLost)
        #expect(try await device.context.push().pushed == 1)
    }

    @Test("one sync tells what was sent before it and behind it")
    func singleSync() async throws {
        let server = ForgettingServer()
        let device = try SessionDevice(emulator, through: server)
        try emulator.seed([["id": "a", "text": "a"]], in: "TodoItem")
        let mode = ResetMode.recoverUnsyncedChanges(
            after: { context, _ in _ = try await context.table("TodoItem").insert(["text": "later"]) }
        )
        let options = SessionOptions(pullInterval: nil, pushDelay: .seconds(86_400), resetMode: mode)
        device.session.start(keeping: [device.table], options: options)
        try await device.session.wait(for: .both)
        await device.session.workEnds()
        try await device.add("before")
        try await setUpAnew(device, server)
        let report = try await device.session.sync(within: .seconds(25))
        #expect(report.isComplete && report.push.pushed == 2, "\(report)")
        #expect(other.texts().isSuperset(of: ["before", "later"]))
        await device.session.close()
    }

    /// Where the server says it in a pull, nothing is to be sent before that.
    private static func pull(_ device: SessionDevice) -> SessionPull {
        SessionPull(device.table, options: PullOptions(order: .pullFirst))
    }

    private func setUpAnew(_ device: SessionDevice, _ server: ForgettingServer) async throws {
        let rows: [[String: JSONValue]] = ["a", "b", "x"]
            .map { ["id": .string($0), "text": .string($0), "complete": .bool(false)] }
        try other.seed(rows, in: "TodoItem")
        server.isOther = true
        device.line.divert(to: other)
    }

    private func texts(_ device: SessionDevice) async throws -> [String] {
        try await device.table.query(device.context).compactMap { $0["text"]?.stringValue }.sorted()
    }

    @Test("recovers what waits when the server says so, and tells it before and after")
    func told() async throws {
        let (device, server, _) = try await device()
        try await setUpAnew(device, server)
        device.session.resume()
        try await device.session.wait(for: .both)
        #expect(diary.all.first == "before: 3 wait, 3 rows")
        #expect(
            diary.all.last
                == "after: 3 changes waited: 3 recovered, 0 settled, 0 in conflict, 0 discarded, 3 rows"
        )
        #expect(diary.all.count == 2)
        #expect(other.texts() == ["mine", "new", "x"])
        #expect(try await texts(device) == ["mine", "new", "x"])
        #expect(device.session.error == nil && device.session.state == .active)
        await device.session.close()
    }

    @Test("does it when the app says so, also after a restart, and sends nothing before")
    func said() async throws {
        let (device, server, options) = try await device()
        try await setUpAnew(device, server)
        server.isSilent = true
        device.session.resume(.upload)
        device.session.serverWasReset()
        let count = device.line.requests.count
        await device.session.close()
        let again = try SessionDevice(other, device.store)
        again.session.start(keeping: [Self.pull(again)], options: options)
        await again.state { $0 == .active }
        again.session.sync()
        again.clock.advance(by: .seconds(3_600))
        #expect(again.line.requests.isEmpty && device.line.requests.count == count)
        again.session.resume()
        try await again.session.wait(for: .both)
        #expect(diary.all.count == 2)
        #expect(other.texts() == ["mine", "new", "x"])
        await again.session.close()
    }

    @Test("does it after too long a time without a complete pull, and not before")
    func maximumOfflineTime() async throws {
        let (device, server, _) = try await device(maximumOfflineTime: .seconds(3_600))
        device.clock.advance(by: .seconds(3_599))
        device.session.resume()
        try await device.session.wait(for: .both)
        #expect(diary.all.isEmpty)
        device.session.suspend()
        try await device.table.update(Record(id: "c", ["text": "mine too"]))
        try await setUpAnew(device, server)
        server.isSilent = true
        device.clock.advance(by: .seconds(3_601))
        device.session.resume()
        try await device.session.wait(for: .both)
        #expect(diary.all.count == 2)
        #expect(try await device.context.operationErrors().map(\.itemID) == ["c"], "the row is not there any more")
        #expect(try await texts(device) == ["a", "b", "mine too", "x"])
        await device.session.close()
    }

    @Test("fails and leaves everything as it is when it is done by hand; another mode goes on")
    func manual() async throws {
        let (device, server, _) = try await device(.manual)
        try await setUpAnew(device, server)
        device.session.suspend(.upload)
        device.session.resume(.download)
        device.session.sync(.download)
        await device.state { $0 == .failed }
        #expect((device.session.error as? SyncError)?.code == .historyLost)
        #expect(try await texts(device) == ["c", "mine", "new"])
        device.session.start(keeping: [Self.pull(device)])
        device.session.resume()
        try await device.session.wait(for: .both)
        #expect(other.texts() == ["mine", "new", "x"])

        device.session.start(keeping: [Self.pull(device)], options: SessionOptions(resetMode: .manual))
        device.session.serverWasReset()
        await device.state { $0 == .failed }
        #expect((device.session.error as? SyncError)?.code == .historyLost)
        try await device.context.purge(device.table)
        device.session.start(keeping: [Self.pull(device)], options: SessionOptions(resetMode: .manual))
        try await device.session.wait(for: .both)
        #expect(try await texts(device) == ["mine", "new", "x"])
        await device.session.close()
    }

    @Test("gives up what waits where that is wanted, and keeps it in the store")
    func discarded() async throws {
        let diary = diary
        let (device, server, _) = try await device(
            .discardUnsyncedChanges(before: { try await diary.before($0) }, after: { try await diary.after($0, $1) })
        )
        try await setUpAnew(device, server)
        server.isSilent = true
        device.session.serverWasReset()
        device.session.resume()
        let progress = device.session.progress(for: .both, mode: .forCurrentlyOutstandingWork)
        var last = 0.0
        for await value in progress {
            #expect(value.progressEstimate >= last && value.progressEstimate <= 1)
            last = value.progressEstimate
        }
        #expect(last == 1)
        #expect(
            diary.all.last
                == "after: 3 changes waited: 0 recovered, 0 settled, 0 in conflict, 3 discarded, 3 rows"
        )
        #expect(try await device.context.discardedChanges().map(\.itemID) == ["a", "b", "n"])
        #expect(try await texts(device) == ["a", "b", "x"] && other.texts() == ["a", "b", "x"])
        await device.session.close()
    }

    @Test("goes on where it was suspended, or where the process has ended, and asks the app before only once")
    func interrupted() async throws {
        let (device, server, options) = try await device()
        try await setUpAnew(device, server)
        let line = device.line
        line.set(.held)
        let before = line.requests.count
        device.session.serverWasReset()
        device.session.resume()
        await line.requestsReach(before + 1)
        device.session.suspend(.download)
        line.set(.answered)
        #expect(try await texts(device) == ["c", "mine", "new"])
        #expect(emulator.texts() == ["a", "b", "c"] && other.texts() == ["a", "b", "x"])
        await #expect(throws: SyncError.self) { _ = try await device.context.push() }
        await device.session.close()
        let again = try SessionDevice(other, device.store)
        again.session.start(keeping: [Self.pull(again)], options: options)
        again.session.resume()
        try await again.session.wait(for: .both)
        #expect(diary.all.count == 2)
        #expect(other.texts() == ["mine", "new", "x"])
        await again.session.close()
    }

    private struct Refusal: Error {}

    @Test(
        "calls what follows again until it has returned, with the same report, whatever it throws",
        arguments: [
            Refusal(), RemoteError(.notFound, "on purpose", status: 404), SyncError(.timedOut, "on purpose"),
            StoreError(.closed, "of another store"),
        ] as [any Error]
    )
    func hookThatFails(_ refusal: any Error) async throws {
        let diary = diary
        let (device, server, _) = try await device(
            .recoverUnsyncedChanges(after: { context, report in
                try await diary.after(context, report)
                if diary.all.count < 3 { throw refusal }
            })
        )
        try await setUpAnew(device, server)
        device.session.resume()
        device.session.sync()
        await device.backsOff()
        #expect(device.session.error.map { "\(type(of: $0))" } == "\(type(of: refusal))", "as it was thrown")
        #expect(other.texts() == ["a", "b", "x"], "the app has the first word")
        for _ in 0..<2 { _ = await device.session.reconnect() }
        try await device.session.wait(for: .both)
        #expect(diary.all.count == 3 && Set(diary.all).count == 1)
        #expect(other.texts() == ["mine", "new", "x"])
        await device.session.close()
    }

    @Test("is part of one sync that no start has asked for")
    func background() async throws {
        let (device, server, _) = try await device()
        try await setUpAnew(device, server)
        await device.session.close()
        let again = try SessionDevice(other, device.store, through: server)
        again.session.resume()
        let report = try await again.session.sync(within: .seconds(20))
        #expect(report.isComplete && report.push.pushed == 3)
        #expect(other.texts() == ["mine", "new", "x"])
        await again.session.close()
    }

    @Test("comes before anything is sent in one sync where pulls come first")
    func backgroundPullFirst() async throws {
        let (device, server, _) = try await device()
        try await setUpAnew(device, server)
        await device.session.close()
        let again = try SessionDevice(other, device.store, through: server, options: SyncOptions(order: .pullFirst))
        again.session.resume()
        #expect(try await again.session.sync(within: .seconds(20)).isComplete)
        #expect(try await again.context.operationErrors().isEmpty)
        let methods = again.line.requests.compactMap { $0.split(separator: " ").first }
        let pulled = try #require(methods.firstIndex { $0 != "GET" })
        // The page that said so was not sent.
        #expect(pulled > 0)
        #expect(other.texts() == ["mine", "new", "x"])
        await again.session.close()
    }

    @Test("is done once when one sync has done it before the start, and what is changed after that is sent")
    func doneBeforeStart() async throws {
        let (device, server, _) = try await device()
        try await setUpAnew(device, server)
        await device.session.close()
        let again = try SessionDevice(other, device.store, through: server)
        again.session.resume()
        server.isSilent = true
        again.session.serverWasReset()
        #expect(try await again.session.sync(within: .seconds(20)).isComplete)
        try await again.add("later")
        again.session.start(
            keeping: [Self.pull(again)],
            options: SessionOptions(resetMode: .discardUnsyncedChanges())
        )
        try await again.session.wait(for: .both)
        #expect(other.texts() == ["later", "mine", "new", "x"])
        #expect(try await again.context.discardedChanges().isEmpty)
        await again.session.close()
    }

    @Test("a server that says so of what starts from the beginning is not asked without end")
    func endless() async throws {
        let (device, server, _) = try await device()
        server.isBroken = true
        device.session.resume()
        device.session.sync()
        await device.backsOff()
        #expect(try await texts(device) == ["c", "mine", "new"])
        server.isBroken = false
        _ = await device.session.reconnect()
        try await device.session.wait(for: .both)
        #expect(emulator.texts() == ["mine", "new", "c"])
        await device.session.close()
    }
}

/// What a device's server says of its history.
final class ForgettingServer: Sendable {
    private struct State {
        var isOther = false
        var isSilent = false
        var isBroken = false
    }
    private let state = Mutex(State())

    /// Whether the server is another one: what it knows of the one before is nothing.
    var isOther: Bool {
        get { state.withLock { $0.isOther } }
        set { state.withLock { $0.isOther = newValue } }
    }
    /// Whether it says nothing of that.
    var isSilent: Bool {
        get { state.withLock { $0.isSilent } }
        set { state.withLock { $0.isSilent = newValue } }
    }
    /// Whether it has forgotten everything, whatever it is asked.
    var isBroken: Bool {
        get { state.withLock { $0.isBroken } }
        set { state.withLock { $0.isBroken = newValue } }
    }

    func check(_ position: PullPosition) throws {
        if isBroken { throw RemoteError(.historyLost, "on purpose", status: 410) }
        guard isOther, !isSilent, case .changes(_?) = position else { return }
        isOther = false
        throw RemoteError(.historyLost, "on purpose", status: 410)
    }
}

/// A server of the Datasync protocol that may lose its history.
struct ForgettingRemote: SyncRemote {
    let base: DatasyncRemote
    let server: ForgettingServer

    var replacesWholeRows: Bool { base.replacesWholeRows }
    var idRule: RowIDRule { base.idRule }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try await base.insert(record, into: table)
    }

    func update(_ record: Record, in table: TableDefinition, version: String?, restoring: Bool) async throws -> Record {
        try await base.update(record, in: table, version: version, restoring: restoring)
    }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        try await base.delete(id, from: table, version: version)
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        try await base.record(id, in: table)
    }

    func confirm(_ table: TableDefinition) async throws { try await base.confirm(table) }

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        try server.check(position)
        return try await base.page(query, of: table, at: position, pageSize: pageSize)
    }
}
