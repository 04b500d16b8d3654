import DatasyncEmulator
import OfflineSync
import RemoteContract
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("What the app sends itself before everything was brought anew", .timeLimit(.minutes(1)))
struct OutstandingResetTests {
    let emulator = SessionDevice.emulator()
    /// What is there after it was set up anew: its versions begin again.
    let other = SessionDevice.emulator()

    /// A device with a row that it has changed, of which another server knows other content.
    private func device(through server: ForgettingServer? = nil) async throws -> SessionDevice {
        let device = try SessionDevice(emulator, through: server)
        try await device.add("first", id: "a")
        _ = try await device.context.sync()
        _ = try await device.context.sync()
        try await device.table.update(Record(id: "a", ["text": "mine"]))
        try other.seed([["id": "a", "text": "theirs"]], in: "TodoItem")
        device.line.divert(to: other)
        return device
    }

    private func isRefused(_ context: SyncContext) async {
        let table = Query("TodoItem")
        let attempts: [(String, () async throws -> Void)] = [
            ("push", { _ = try await context.push() }),
            ("pull", { _ = try await context.pull(table) }),
            ("pull without push", { _ = try await context.pull(table, options: PullOptions(order: .pullOnly)) }),
            ("sync", { _ = try await context.sync() }),
            ("retry", { _ = try await context.retrySetAsideRows() }),
        ]
        for (name, attempt) in attempts {
            let error = await #expect(throws: SyncError.self, "\(name)") { try await attempt() }
            #expect(error?.code == .historyLost, "\(name)")
        }
    }

    @Test("is refused from the call on, and after a restart; a session then brings everything, and sends again")
    func said() async throws {
        let device = try await device()
        let count = device.line.requests.count
        device.session.serverWasReset()
        await isRefused(device.context)
        await device.session.close()
        await isRefused(device.context)
        #expect(try await device.context.resetStage() == .wanted)

        let again = try SessionDevice(other, device.store)
        await isRefused(again.context)
        again.session.suspend(.download)
        again.session.start()
        await again.state { $0 == .active }
        await isRefused(again.context)
        #expect(device.line.requests.count == count && again.line.requests.isEmpty)
        again.session.resume()
        try await again.session.wait(for: .both)
        #expect(other.texts() == ["theirs"])
        let conflict = try #require(try await again.context.operationErrors().first)
        try await again.context.resolve(conflict, with: .keepMine)
        #expect(try await again.context.push().pushed == 1)
        _ = try await again.context.sync()
        #expect(other.texts() == ["mine"])
        await again.session.close()
    }

    @Test("is refused also where a look of before ends behind the call, and not after it was done by one sync")
    func lookedBefore() async throws {
        let store = InterruptedReads(try StoreSchema([todoTable, noteTable]))
        let device = try SessionDevice(emulator, store)
        try await device.add("milk")
        // A look of before, which ends behind the call.
        store.interrupt {
            device.session.serverWasReset()
            return true
        }
        await isRefused(device.context)
        #expect(device.line.requests.isEmpty)
        #expect(try await device.session.sync(within: .seconds(25)).isComplete)
        #expect(emulator.texts() == ["milk"])
        try await device.add("bread")
        #expect(try await device.context.push().pushed == 1)
        await device.session.close()
    }

    @Test("is refused in the hook before it, whoever has said so", arguments: ["app", "server", "age"])
    func hook(_ who: String) async throws {
        let server = ForgettingServer()
        let device = try await device(through: server)
        let calls = Mutex(0)
        let mode = ResetMode.recoverUnsyncedChanges(
            before: { context in
                await isRefused(context)
                _ = try await context.table("TodoItem").insert(["text": "of the hook"])
                calls.withLock { $0 += 1 }
            },
            after: { context, _ in _ = try await context.push() }
        )
        device.session.suspend(.upload)
        device.session.start(
            keeping: [device.table],
            options: SessionOptions(resetMode: mode, maximumOfflineTime: who == "age" ? .seconds(60) : nil)
        )
        switch who {
        case "server": server.isOther = true
        case "age":
            device.line.divert(to: emulator)
            try await device.session.wait(for: .download)
            device.line.divert(to: other)
            device.clock.advance(by: .seconds(61))
        default: device.session.serverWasReset()
        }
        device.session.sync(.download)
        device.session.resume()
        try await device.session.wait(for: .both)
        #expect(calls.withLock { $0 } == 1)
        #expect(other.texts() == ["theirs", "of the hook"])
        await device.session.close()
    }

    @Test("is sent again when the session has failed that leaves it to the app")
    func manual() async throws {
        let device = try await device()
        device.session.serverWasReset()
        device.session.start(keeping: [device.table], options: SessionOptions(resetMode: .manual))
        await device.state { $0 == .failed }
        #expect((device.session.error as? SyncError)?.code == .historyLost)
        #expect(try await device.context.push().conflicts.count == 1)
        await device.session.close()
    }

    @Test("when what the session sends is refused meanwhile, that is no failure of its own")
    func meanwhile() async throws {
        let device = try await device()
        device.session.start(keeping: [device.table], options: SessionOptions(resetMode: .manual))
        try await device.session.wait(for: .download)
        for _ in 0..<20 {
            device.session.sync()
            device.session.serverWasReset()
            await device.state { $0 == .failed }
            // It is done with it: the next start goes on.
            #expect(try await device.context.resetStage() == .none)
            device.session.start(keeping: [device.table], options: SessionOptions(resetMode: .manual))
            try await device.session.wait(for: .both)
        }
        await device.session.close()
    }
}
