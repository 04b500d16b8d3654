import DatasyncEmulator
import OfflineSync
import SyncContract
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("What is suspended")
struct SuspensionTests {
    let emulator = SessionDevice.emulator()

    @Test(
        "is one direction alone, also over a restart, while the other goes on",
        arguments: [SyncDirection.upload, .download]
    )
    func oneDirection(_ direction: SyncDirection) async throws {
        let other = try SessionDevice(emulator)
        try await other.add("bread", id: "b")
        _ = try await other.context.push()
        var device = try SessionDevice(emulator)
        device.session.suspend(direction)
        for round in 0..<2 {
            if round == 1 {
                await device.session.close()
                device = try SessionDevice(emulator, device.store)
            }
            device.session.start(keeping: [device.table])
            try await device.add("milk \(round)", id: "m\(round)")
            // It is known after the start what an earlier process has suspended.
            try await device.session.wait(for: direction == .upload ? .download : .upload)
            #expect(device.session.suspended == direction && device.session.state == .active)
            device.session.sync()
            _ = await device.session.reconnect()
            await device.session.workEnds()
            let methods = Set(device.line.requests.map { $0.prefix(4) })
            #expect(methods == (direction == .upload ? ["GET "] : ["POST"]))
            #expect(try await (device.table.read("b") == nil) == (direction == .download))
        }
        device.session.resume(direction)
        try await device.session.wait(for: .both)
        #expect(emulator.texts() == ["bread", "milk 0", "milk 1"])
        #expect(try await device.table.read("b") != nil && device.session.suspended == [])
        await device.session.close()
    }

    @Test("in the middle of a push loses nothing, and nothing is there twice")
    func middleOfPush() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        for number in 0..<6 { try await device.add("\(number)") }
        let line = device.line
        let before = line.requests.count
        line.set { _ in line.requests.count > before + 3 ? .held : .answered }
        device.session.sync(.upload)
        await line.requestsReach(before + 4)
        device.session.suspend()
        await device.session.workEnds()
        let sent = line.requests.count
        line.set(.answered)
        device.session.serverChanged()
        try await device.add("6")
        device.clock.advance(by: .seconds(600))
        #expect(line.requests.count == sent && device.session.state == .suspended)
        device.session.resume()
        try await device.session.wait(for: .upload)
        #expect(emulator.rows(in: "TodoItem").count == 7 && emulator.texts().count == 7)
        await device.session.close()
    }

    @Test("and what is not: resuming it, or a session that has not begun or has ended, does nothing")
    func nothingToResume() async throws {
        let device = try SessionDevice(emulator)
        device.session.resume()
        #expect(device.session.state == .inactive && device.line.requests.isEmpty)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        let before = device.line.requests.count
        for direction in [SyncDirection.upload, .download, .both] { device.session.resume(direction) }
        await device.session.workEnds()
        #expect(device.session.state == .active && device.line.requests.count == before)
        await device.session.close()
        device.session.resume()
        #expect(device.session.state == .closed)
    }

    @Test("and resumed breaks out of a long wait after a failure")
    func breaksOut() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.unreachable)
        device.session.start(keeping: [device.table])
        for wait in [1, 2, 4, 8] {
            await device.clock.sleeperComes { $0 == .seconds(wait) }
            device.clock.advance(by: .seconds(wait))
        }
        await device.clock.sleeperComes { $0 == .seconds(16) }
        device.line.set(.answered)
        device.session.suspend()
        device.session.resume()
        try await device.session.wait(for: .download)
        await device.session.close()
    }
}

extension SessionStartTests {
    @Test("it syncs when it is asked, in the direction that is asked for")
    func asked() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        var before = device.line.requests.count
        try await device.add("milk")
        device.session.sync(.upload)
        await device.line.requestsReach(before + 1)
        await device.session.workEnds()
        #expect(device.line.requests.dropFirst(before).map { $0.prefix(4) } == ["POST"])
        before = device.line.requests.count
        device.session.sync()
        await device.line.requestsReach(before + 1)
        await device.session.workEnds()
        #expect(device.line.requests.dropFirst(before).allSatisfy { $0.hasPrefix("GET") })
        await device.session.close()
    }

    @Test("nothing is sent while nothing waits and the interval has not passed, whatever else happens")
    func noReason() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .both)
        let before = device.line.requests.count
        for isThere in [false, true, true, false, true] { device.reachability.change(to: isThere) }
        try await device.session.wait(for: .upload)
        for await _ in device.session.progress(for: .upload, mode: .forCurrentlyOutstandingWork) {}
        device.session.suspend()
        device.session.resume()
        device.session.serverChanged(tables: ["Other"])
        device.clock.advance(by: .seconds(200))
        device.session.start(keeping: [device.table])
        await device.clock.sleeperComes { $0 <= .seconds(100) }
        await device.session.close()
        let again = try SessionDevice(emulator, device.store)
        again.session.start(keeping: [again.table])
        await again.clock.sleeperComes()
        #expect(device.line.requests.count == before && again.line.requests.isEmpty)
        await again.session.close()
    }

    @Test("another start while a request is under way changes what is kept")
    func otherPullsMeanwhile() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.held)
        device.session.start(keeping: [device.table])
        await device.line.requestsReach(1)
        device.session.start(keeping: [Query("Note")])
        let waiting = Task { try await device.session.wait(for: .download) }
        device.line.set(.answered)
        try await waiting.value
        #expect(try await device.session.lastCompletePull(of: Query("Note")) != nil)
        await device.session.workEnds()
        let before = device.line.requests.count
        device.session.serverChanged()
        await device.line.requestsReach(before + 1)
        await device.session.workEnds()
        #expect(device.line.requests.dropFirst(before).allSatisfy { $0.lowercased().contains("note") })
        await device.session.close()
    }

    @Test("a server that says when to come again is obeyed over another start")
    func orderedOverStart() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.status(503, headers: ["Retry-After": "900"]))
        device.session.start(keeping: [device.table])
        await device.clock.sleeperComes { $0 == .seconds(900) }
        let before = device.line.requests.count
        device.session.start(keeping: [device.table])
        await device.clock.sleeperComes { $0 == .seconds(900) }
        device.clock.advance(by: .seconds(899))
        #expect(device.line.requests.count == before)
        device.line.set(.answered)
        device.clock.advance(by: .seconds(1))
        try await device.session.wait(for: .download)
        await device.session.close()
    }
}
