import DatasyncEmulator
import Foundation
import OfflineSync
import RemoteContract
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

/// What one sync, or another session over the same store, has brought anew need not be brought once more: that would give up
/// what was changed since.
@Suite("Everything that was brought anew meanwhile", .timeLimit(.minutes(1)))
struct ResetMeanwhileTests {
    private let emulator = SessionDevice.emulator()

    @Test(
        "by one sync, or was complete by ordinary ones all along, is not brought again by the next change",
        arguments: [[3_601], [1_800, 1_900]]
    )
    func singleSync(_ times: [Int]) async throws {
        let device = try SessionDevice(emulator)
        let resets = Mutex(0)
        let options = SessionOptions(
            pullInterval: nil,
            resetMode: .discardUnsyncedChanges(after: { _, _ in resets.withLock { $0 += 1 } }),
            maximumOfflineTime: .seconds(3_600)
        )
        device.session.start(keeping: [device.table], options: options)
        try await device.session.wait(for: .both)
        for time in times {
            device.clock.advance(by: .seconds(time))
            #expect(try await device.session.sync(within: .seconds(25)).isComplete)
        }
        let before = resets.withLock { $0 }
        #expect(before == (times.count == 1 ? 1 : 0))
        try await device.add("milk")
        device.session.sync(.upload)
        try await device.session.wait(for: .upload)
        #expect(emulator.texts() == ["milk"] && resets.withLock { $0 } == before)
        #expect(try await device.context.discardedChanges().isEmpty)
        await device.session.close()
    }

    @Test("by another session over the store is not brought once more by one that waited for that")
    func otherSession() async throws {
        let device = try SessionDevice(emulator)
        let other = try SessionDevice(emulator, device.store)
        let mode = ResetMode.discardUnsyncedChanges(after: { _, _ in try await device.add("milk") })
        device.session.start(keeping: [device.table], options: SessionOptions(resetMode: mode))
        try await device.session.wait(for: .both)
        device.clock.advance(by: .seconds(1))
        device.line.set(.held)
        let before = device.line.requests.count
        device.session.serverWasReset()
        await device.line.requestsReach(before + 1)
        other.line.set(.held)
        other.session.start(
            keeping: [other.table],
            options: SessionOptions(resetMode: .discardUnsyncedChanges())
        )
        while other.session.running.withLock({ $0.machine.work?.resets != true }) { try await nextTurn() }
        for _ in 0..<200 { try await nextTurn() }
        device.line.set(.answered)
        while try await device.context.operations().isEmpty, !emulator.texts().contains("milk") { try await nextTurn() }
        other.line.set(.answered)
        try await other.session.wait(for: .both)
        try await device.session.wait(for: .both)
        #expect(emulator.texts() == ["milk"])
        #expect(try await device.context.discardedChanges().isEmpty)
        for session in [device.session, other.session] { await session.close() }
    }

    @Test("is known by the stage for which it was decided, in any mode")
    func stages() async throws {
        let context = try SessionDevice(emulator).context
        let pulls = [FreshPull(Query("TodoItem"))]
        func reset(since seen: ResetStage, isBrought: Bool = true) async throws -> ResetReport {
            let decision = ResetDecision(seen) { isBrought }
            return try await context.reset(onto: pulls, discardsChanges: false, since: decision)
        }
        func end(since seen: ResetStage) async throws {
            try await context.endReset(since: ResetDecision(seen) { true })
        }
        for seen in [ResetStage.wanted, .begun, .begunForAge] {
            await #expect(throws: ResetDoneMeanwhile.self) { try await reset(since: seen) }
            await #expect(throws: ResetDoneMeanwhile.self) { try await end(since: seen) }
        }
        let report = try await reset(since: .none)
        for seen in [ResetStage.none, .wanted, .begun, .begunForAge] {
            await #expect(throws: ResetDoneMeanwhile.self) { try await reset(since: seen) }
            await #expect(throws: ResetDoneMeanwhile.self) { try await end(since: seen) }
        }
        #expect(try await context.resetStage() == .done(report))
        try await context.requestReset()
        _ = try await reset(since: .wanted)
        // Somebody has brought other pulls, or given it up.
        _ = try await reset(since: .wanted, isBrought: false)
        try await end(since: .done(report))
        _ = try await reset(since: .wanted, isBrought: false)
        try await end(since: .done(report))
        #expect(try await context.resetStage() == .none)
    }

    @Test("is complete when it is in place: what ends it there leaves both, or neither")
    func completeInPlace() async throws {
        struct Stop: Error {}
        let device = try SessionDevice(emulator)
        let pull = SessionPull(device.table)
        try await device.context.requestReset()
        func reset(isStopped: Bool) async throws {
            _ = try await device.context.reset(
                onto: [FreshPull(pull.source)],
                discardsChanges: false,
                complete: { transaction in
                    try device.context.storeCompletePull(of: pull.source, pull.name, at: .now, &transaction)
                    if isStopped { throw Stop() }
                }
            )
        }
        await #expect(throws: Stop.self) { try await reset(isStopped: true) }
        #expect(try await device.context.resetStage() == .begun)
        #expect(try await device.context.lastCompletePull(of: pull.source, pull.name) == nil)
        try await reset(isStopped: false)
        #expect(try await device.context.lastCompletePull(of: pull.source, pull.name) != nil)
    }

    @Test("is not brought because a clock was set back")
    func clockSetBack() async throws {
        let device = try SessionDevice(emulator)
        let (origin, clock) = (device.clock.now, device.clock)
        let shift = Mutex(0.0)
        let session = SyncSession(
            device.context,
            SessionEnvironment(
                clock: clock,
                date: {
                    let offset = origin.duration(to: clock.now) / .seconds(1)
                    return Date(timeIntervalSince1970: 1_800_000_000 + offset + shift.withLock { $0 })
                },
                random: { 0 },
                reachability: device.reachability
            )
        )
        let resets = Mutex(0)
        let options = SessionOptions(
            pullInterval: nil,
            resetMode: .recoverUnsyncedChanges(after: { _, _ in resets.withLock { $0 += 1 } }),
            maximumOfflineTime: .seconds(3_600)
        )
        session.start(keeping: [device.table], options: options)
        try await session.wait(for: .both)
        shift.withLock { $0 = -3_000 }
        clock.advance(by: .seconds(3_601))
        session.sync(.download)
        try await session.wait(for: .download)
        #expect(resets.withLock { $0 } == 1)
        await session.close()
    }

    @Test("before, of which only the hook was left, is no pull: who waits for one goes on waiting")
    func hookAlone() async throws {
        let device = try SessionDevice(emulator)
        let calls = Mutex(0)
        let mode = ResetMode.recoverUnsyncedChanges(after: { _, _ in
            let isFirst = calls.withLock { calls in
                calls += 1
                return calls == 1
            }
            guard isFirst else { return }
            device.line.set(.unreachable)
            throw RemoteError(.unreachable, "on purpose")
        })
        device.session.start(keeping: [device.table], options: SessionOptions(resetMode: mode))
        try await device.session.wait(for: .both)
        device.session.serverWasReset()
        await device.backsOff()
        try emulator.seed([["id": "a", "text": "news"]], in: "TodoItem")
        let waiting = Task { try await device.session.wait(for: .download) }
        while device.session.running.withLock({ $0.machine.waits.isEmpty }) { try await nextTurn() }
        while calls.withLock({ $0 }) < 2 {
            device.clock.advance(by: .seconds(300))
            try await nextTurn()
        }
        await device.backsOff()
        #expect(device.session.connectionState != .connected)
        #expect(device.session.running.withLock { !$0.machine.waits.isEmpty })
        device.line.set(.answered)
        device.clock.advance(by: .seconds(300))
        try await waiting.value
        #expect(try await device.store.read(table: "TodoItem", itemID: "a") != nil)
        await device.session.close()
    }

    @Test("leaves no conflict to be settled until the next change")
    func conflict() async throws {
        try emulator.seed([["id": "a", "text": "milk"]], in: "TodoItem")
        let device = try SessionDevice(emulator)
        device.context.conflictPolicy = .clientWins
        device.session.start(keeping: [device.table], options: SessionOptions(pullInterval: nil))
        try await device.session.wait(for: .both)
        device.line.set { $0.method == "PUT" ? .status(400) : .answered }
        try await device.table.update(Record(id: "a", ["text": "mine"]))
        try await device.session.wait(for: .upload)
        #expect(try await device.context.status().failed == 1)
        await device.session.workEnds()
        let later = SessionDevice.emulator()
        try later.seed([["id": "a", "text": "theirs"]], in: "TodoItem")
        device.line.divert(to: later)
        device.line.set(.answered)
        device.session.serverWasReset()
        while later.texts() != ["mine"] {
            try await nextTurn()
            // The push waits a moment for more.
            if device.clock.nextWaking.map({ $0 <= .seconds(5) }) ?? false { device.clock.advance(by: .seconds(5)) }
        }
        await device.session.close()
    }

    @Test("asks no question that counts for what the app does meanwhile")
    func counted() async throws {
        let device = try SessionDevice(emulator)
        let options = SessionOptions(
            pullInterval: nil,
            resetMode: .recoverUnsyncedChanges(),
            maximumOfflineTime: .seconds(3_600)
        )
        device.session.start(keeping: [device.table], options: options)
        try await device.session.wait(for: .both)
        device.clock.advance(by: .seconds(3_601))
        let before = device.line.requests.count
        let counter = RequestCounter()
        try await counter.counting {
            device.session.sync(.download)
            try await device.session.wait(for: .download)
        }
        #expect(counter.count == 0 && device.line.requests.count > before)
        await device.session.close()
    }
}
