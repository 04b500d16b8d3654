import OfflineSync
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("A change at the end of a push")
struct ChangeAtPushEndTests {
    @Test("is sent though the push has looked for the last time and has not told yet", .timeLimit(.minutes(1)))
    func atEnd() async throws {
        let emulator = SessionDevice.emulator()
        let store = InterruptedReads(try StoreSchema([todoTable, noteTable]))
        let device = try SessionDevice(emulator, store)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        let (session, context, table) = (device.session, device.context, device.table)
        store.interrupt {
            let isAtEnd =
                emulator.texts() == ["milk"]
                && session.running.withLock { !$0.isPushing && $0.machine.pushDue != nil }
            guard isAtEnd else { return false }
            try await table.insert(["text": "bread", "complete": false])
            await session.queueChanged(context)
            return true
        }
        try await device.add("milk")
        try await session.wait(for: .upload)
        await device.clock.sleeperComes { $0 <= .milliseconds(500) }
        device.clock.advance(by: .milliseconds(500))
        try await session.wait(for: .upload)
        #expect(emulator.texts() == ["milk", "bread"])
        await session.close()
    }
}
