import DatasyncEmulator
import Foundation
import OfflineSync
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("Waiting for a session")
struct SessionWaitTests {
    let emulator = SessionDevice.emulator()

    private func ended(_ body: () async throws -> Void) async -> SyncError.Code? {
        await #expect(throws: SyncError.self) { try await body() }?.code
    }

    @Test("an upload wait with nothing to send ends at once and sends nothing")
    func nothing() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        let before = device.line.requests.count
        try await device.session.wait(for: .upload)
        #expect(device.line.requests.count == before)
        await device.session.close()
    }

    @Test("an upload wait does not lose the last change made before it, though an earlier one is under way")
    func lastChange() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        let before = device.line.requests.count
        device.line.set(.held)
        try await device.add("milk", id: "a")
        device.session.sync(.upload)
        await device.line.requestsReach(before + 1)
        try await device.table.update(Record(id: "a", ["text": "oat milk"]))
        let waiting = Task { try await device.session.wait(for: .upload) }
        device.line.set(.answered)
        try await waiting.value
        #expect(emulator.texts() == ["oat milk"])
        await device.session.close()
    }

    @Test("a wait goes on while there is no connection, and ends when there is one again")
    func offline() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.unreachable)
        device.session.start(keeping: [device.table])
        await device.backsOff()
        try await device.add("milk")
        let waiting = Task { try await device.session.wait(for: .both) }
        for wait in [1, 2, 4] {
            await device.clock.sleeperComes { $0 <= .seconds(wait) && $0 > .seconds(wait) / 2 }
            device.clock.advance(by: .seconds(wait))
        }
        await device.backsOff()
        device.line.set(.answered)
        device.reachability.change(to: true)
        try await waiting.value
        #expect(emulator.texts() == ["milk"])
        await device.session.close()
    }

    @Test("a download wait brings what the server had at the call")
    func download() async throws {
        let device = try SessionDevice(emulator)
        let other = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        for number in 0..<5 {
            try await other.add("\(number)", id: "n\(number)")
            _ = try await other.context.push()
            try await device.session.wait(for: .download)
            #expect(try await device.table.read("n\(number)") != nil)
        }
        await device.session.close()
    }

    /// Two devices with sessions, and an item that the second has changed without the first knowing.
    private func devicesThatDisagree() async throws -> (SessionDevice, SessionDevice) {
        let (device, other) = (try SessionDevice(emulator), try SessionDevice(emulator))
        for device in [device, other] { device.session.start(keeping: [device.table]) }
        try await device.add("milk", id: "a")
        // A pull that still ran would bring what the other one changes.
        try await device.session.wait(for: .both)
        try await other.session.wait(for: .download)
        try await other.table.update(Record(id: "a", ["text": "bread"]))
        try await other.session.wait(for: .upload)
        return (device, other)
    }

    @Test("a change that is stored as a conflict or refused ends the wait")
    func notTaken() async throws {
        let (device, other) = try await devicesThatDisagree()
        try await device.table.update(Record(id: "a", ["text": "oat milk"]))
        try await device.session.wait(for: .upload)
        #expect(try await device.context.status().conflicts == 1)
        #expect(device.session.state == .active)
        for device in [device, other] { await device.session.close() }
    }

    @Test("what stands behind a conflict in its group does not hold up the wait for ever")
    func behindConflict() async throws {
        let (device, other) = try await devicesThatDisagree()
        let table = device.table
        try await device.context.write { transaction in
            try transaction.update(Record(id: "a", ["text": "oat milk"]), in: table)
            try transaction.insert(["text": "eggs"], id: "c", into: table)
        }
        try await device.session.wait(for: .upload)
        #expect(try await device.context.status().conflicts == 1)
        // Once the conflict is settled, everything goes by itself.
        let error = try #require(try await device.context.operationErrors().first)
        try await device.context.resolve(error, with: .keepMine)
        try await device.session.wait(for: .upload)
        #expect(emulator.texts() == ["oat milk", "eggs"])
        for device in [device, other] { await device.session.close() }
    }

    @Test("a resolved conflict is sent without being asked for")
    func resolved() async throws {
        let (device, other) = try await devicesThatDisagree()
        try await device.table.update(Record(id: "a", ["text": "oat milk"]))
        try await device.session.wait(for: .upload)
        let before = device.line.requests.count
        let error = try #require(try await device.context.operationErrors().first)
        try await device.context.resolve(error, with: .keepMine)
        // The push that has met it may not have ended yet: what it was due for is not what is due next.
        try await Self.nextPush(of: device)
        await device.line.requestsReach(before + 1)
        try await device.session.wait(for: .upload)
        #expect(emulator.texts() == ["oat milk"])
        for device in [device, other] { await device.session.close() }
    }

    @Test("a wait ends with an error when its direction is suspended, and only then")
    func suspended() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.held)
        device.session.start(keeping: [device.table])
        try await device.add("milk")
        let upload = Task { try await device.session.wait(for: .upload) }
        let download = Task { try await device.session.wait(for: .download) }
        await device.line.requestsReach(1)
        device.session.suspend(.upload)
        #expect(await ended { try await upload.value } == .sessionEnded)
        #expect(await ended { try await device.session.wait(for: .upload) } == .sessionEnded)
        #expect(await ended { try await device.session.wait(for: .both) } == .sessionEnded)
        device.line.set(.answered)
        try await download.value
        #expect(emulator.texts().isEmpty)
        await device.session.close()
    }

    @Test("a wait ends with an error when the session is closed, or cannot go on")
    func closed() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.held)
        device.session.start(keeping: [device.table])
        let waiting = Task { try await device.session.wait(for: .download) }
        await device.line.requestsReach(1)
        await device.session.close()
        #expect(await ended { try await waiting.value } == .sessionEnded)

        let failing = try SessionDevice(emulator)
        failing.line.set(.status(400))
        failing.session.start(keeping: [failing.table])
        #expect(await ended { try await failing.session.wait(for: .download) } == .sessionEnded)
        #expect(failing.session.state == .failed)
        #expect(failing.session.error != nil)
        await failing.session.close()
    }

    @Test("a wait ends when its task is cancelled, and the session goes on")
    func cancelled() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.held)
        device.session.start(keeping: [device.table])
        let waiting = Task { try await device.session.wait(for: .download) }
        await device.line.requestsReach(1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        device.line.set(.answered)
        try await device.session.wait(for: .download)
        await device.session.close()
    }

    @Test("a wait ends when its time is over, and not before")
    func timeout() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.held)
        device.session.start(keeping: [device.table])
        let waiting = Task { try await device.session.wait(for: .download, timeout: .seconds(30)) }
        await device.line.requestsReach(1)
        await device.clock.sleeperComes { $0 == .seconds(30) }
        device.clock.advance(by: .seconds(30))
        #expect(await ended { try await waiting.value } == .timedOut)
        #expect(device.session.state == .active)
        device.line.set(.answered)
        try await device.session.wait(for: .download, timeout: .seconds(30))
        await device.session.close()
    }

    @Test(
        "a failure on a change that was edited meanwhile does not end the wait, nor does a refusal",
        .timeLimit(.minutes(1)),
        arguments: [500, 400, 413]
    )
    func failureOnEdited(_ status: Int) async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        device.line.set(.held)
        let before = device.line.requests.count
        try await device.add("milk", id: "a")
        let waiting = Task { [emulator] in
            try await device.session.wait(for: .upload)
            return emulator.texts()
        }
        await device.line.requestsReach(before + 1)
        try await device.table.update(Record(id: "a", ["text": "oat milk"]))
        Self.decide([.status(status)], on: device)
        try await Self.nextPush(of: device)
        #expect(try await waiting.value == ["oat milk"])
        await device.session.close()
    }

    /// Waits until the session has ended what it does, and begins its next push.
    private static func nextPush(of device: SessionDevice) async throws {
        while device.session.running.withLock({ $0.machine.work != nil || $0.machine.pushDue == nil }) {
            try await nextTurn()
        }
        device.clock.advance(by: .milliseconds(500))
    }

    @Test(
        "nor does one that was edited behind its failure, while the push went on",
        .timeLimit(.minutes(1)),
        arguments: [500, 400, 413]
    )
    func editedBehindItsFailure(_ status: Int) async throws {
        let device = try SessionDevice(emulator)
        let before = try await Self.holdingAPush(of: device)
        let waiting = try await waiting(for: ["a", "b"], on: device)
        Self.decide([.answered, .status(status), .held], on: device)
        try await Self.advance(device) { device.line.requests.count == before + 2 }
        try await device.table.update(Record(id: "a", ["text": "oat milk"]))
        device.line.set(.answered)
        try await Self.waitEnds(on: device)
        #expect(try await waiting.value == ["milk", "oat milk", "water"])
        await device.session.close()
    }

    @Test("a change that waits for one made during the push does not end the wait", .timeLimit(.minutes(1)))
    func behindANewChange() async throws {
        let device = try SessionDevice(emulator)
        let table = device.table
        let before = try await Self.holdingAPush(of: device)
        let waiting = try await waiting(for: ["y", "b"], on: device)
        Self.decide([.answered, .held], on: device)
        try await Self.advance(device) { device.line.requests.count == before + 1 }
        try await device.context.write { transaction in
            try transaction.insert(["text": "bread"], id: "n", into: table)
            try transaction.update(Record(id: "b", ["text": "oat milk"]), in: table)
        }
        device.line.set(.answered)
        try await Self.waitEnds(on: device)
        #expect(try await waiting.value == ["bread", "milk", "oat milk", "water"])
        await device.session.close()
    }

    @Test(
        "a change behind a conflict that is given up while something else is sent goes by itself",
        .timeLimit(.minutes(1)),
        arguments: [ConflictResolution<Record>.takeServer, .discard]
    )
    func givenUpMeanwhile(_ resolution: ConflictResolution<Record>) async throws {
        let (device, other) = try await devicesThatDisagree()
        let table = device.table
        try await device.context.write { transaction in
            try transaction.update(Record(id: "a", ["text": "oat milk"]), in: table)
            try transaction.insert(["text": "eggs"], id: "c", into: table)
        }
        try await device.session.wait(for: .upload)
        _ = try await Self.holdingAPush(of: device)
        let error = try #require(try await device.context.operationErrors().first)
        try await device.context.resolve(error, with: resolution)
        device.line.set(.answered)
        try await Self.advance(device) { [emulator] in emulator.texts().count == 3 }
        #expect(emulator.texts().sorted() == ["bread", "eggs", "water"])
        for device in [device, other] { await device.session.close() }
    }

    /// Begins a push whose only request is held.
    ///
    /// - Returns: How many requests there were with it.
    private static func holdingAPush(of device: SessionDevice) async throws -> Int {
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .both)
        device.line.set(.held)
        let count = device.line.requests.count + 1
        try await device.add("water", id: "x")
        device.session.sync(.upload)
        await device.line.requestsReach(count)
        return count
    }

    /// Adds changes while a push is under way, and waits for uploads: the next push sends them, and is waited for.
    ///
    /// - Returns: What the server has when the wait is over.
    private func waiting(for ids: [String], on device: SessionDevice) async throws -> Task<[String], any Error> {
        for id in ids { try await device.add("milk", id: id) }
        let waiting = Task { [emulator] in
            try await device.session.wait(for: .upload)
            return emulator.texts().sorted()
        }
        while device.session.running.withLock({ $0.waiters.isEmpty }) { try await nextTurn() }
        return waiting
    }

    /// Decides what becomes of the next requests, and of what is held, in their order; those behind them are answered.
    private static func decide(_ fates: [Line.Fate], on device: SessionDevice) {
        let left = Mutex(fates[...])
        device.line.set { _ in left.withLock { $0.popFirst() ?? .answered } }
    }

    /// Lets time pass until nobody waits.
    private static func waitEnds(on device: SessionDevice) async throws {
        try await advance(device) { device.session.running.withLock { $0.waiters.isEmpty } }
    }

    /// Lets time pass until something is so.
    private static func advance(_ device: SessionDevice, until isSo: () -> Bool) async throws {
        while !isSo() {
            device.clock.advance(by: .milliseconds(10))
            try await nextTurn()
        }
    }

    @Test(
        "a server that fails on a change and says when to come again is asked then, not before",
        .timeLimit(.minutes(1))
    )
    func failureWithATime() async throws {
        let device = try SessionDevice(emulator)
        var options = SessionOptions()
        options.pullInterval = nil
        device.session.start(keeping: [device.table], options: options)
        try await device.session.wait(for: .download)
        device.line.set { $0.method == "POST" ? .status(500, headers: ["Retry-After": "900"]) : .answered }
        let before = device.line.requests.count
        try await device.add("milk", id: "a")
        device.session.sync(.upload)
        await device.clock.sleeperComes { $0 == .seconds(900) }
        device.clock.advance(by: .seconds(899))
        // Another network is no other server.
        device.session.networkChanged(true)
        await device.session.workEnds()
        #expect(device.line.requests.dropFirst(before).count { $0.hasPrefix("POST") } == 1)
        device.line.set(.answered)
        device.clock.advance(by: .seconds(1))
        try await device.session.wait(for: .upload)
        #expect(emulator.texts() == ["milk"])
        await device.session.close()
    }

    @Test("a server that fails on the change, and then on the question what became of it, does not end the wait")
    func failureTwice() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [])
        try await device.session.wait(for: .download)
        let failures = Mutex(["POST", "GET"])
        device.line.set { request in
            failures.withLock { failures in
                guard failures.first == request.method, request.method == "POST" || request.path.hasSuffix("/a") else {
                    return .answered
                }
                failures.removeFirst()
                return .status(500)
            }
        }
        try await device.add("milk", id: "a")
        let isThere = Mutex(false)
        let waiting = Task { [emulator] in
            try await device.session.wait(for: .upload)
            isThere.withLock { $0 = emulator.texts() == ["milk"] }
        }
        for _ in 0..<2 {
            await device.clock.sleeperComes { $0 == .seconds(1) || $0 == .seconds(2) }
            await device.backsOff()
            device.clock.advance(by: .seconds(2))
        }
        try await waiting.value
        #expect(isThere.withLock { $0 } && failures.withLock { $0.isEmpty })
        await device.session.close()
    }

    @Test("the server's failure on a change neither ends the wait nor keeps pulls away")
    func serverFailure() async throws {
        let other = try SessionDevice(emulator)
        try await other.add("bread", id: "b")
        _ = try await other.context.push()
        let device = try SessionDevice(emulator)
        device.line.set { $0.method == "POST" ? .status(500) : .answered }
        device.session.start(keeping: [device.table])
        try await device.add("milk")
        let waiting = Task { try await device.session.wait(for: .upload) }
        await device.backsOff()
        #expect(try await device.table.read("b") != nil)
        let error = try #require(device.session.error as? SyncError)
        #expect(error.code == .pushAbortedNetwork && error.isTransient)
        #expect(error.localizedDescription.contains("sent again") && error.localizedDescription.contains("500"))
        device.line.set(.answered)
        await device.clock.sleeperComes { $0 <= .seconds(1) }
        device.clock.advance(by: .seconds(1))
        try await waiting.value
        #expect(emulator.texts() == ["bread", "milk"])
        await device.session.close()
    }
}
