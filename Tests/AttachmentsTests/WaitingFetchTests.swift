import Foundation
import OfflineSync
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import SyncSessions
import Testing
import VirtualTime

@testable import Attachments

extension TransferRunner {
    /// Fetches a file right behind the resumption, of which nothing can be told here in between.
    fileprivate func fetch(_ id: AttachmentID, resuming session: SyncSession) async throws {
        session.resume(.download)
        try await fetch(id)
    }
}

@Suite("Who waits for a file whose turn has not come")
struct WaitingFetchTests {
    /// A device that fetches one file, of which the server holds the request, and waits with another one behind it.
    private func waiting() async throws -> (PhotoDevice, behind: AttachmentID, waits: [Task<Data, any Error>]) {
        let device = try await PhotoDevice(options: AttachmentOptions(parallelTransfers: 1))
        let (first, behind) = (AttachmentID.make(), AttachmentID.make())
        for id in [first, behind] { device.server.put([1], as: id) }
        device.server.set { _ in .held }
        let attachments = device.attachments
        let running = Task { try await attachments.data(of: first) }
        await device.server.requestsReach(1)
        let changes = device.store.changes()
        let queued = Task { try await attachments.data(of: behind) }
        for await _ in changes where try await device.store.read({ try $0.attachment(behind) })?.isWanted == true {
            break
        }
        return (device, behind, [running, queued])
    }

    @Test("is told when it was removed", .timeLimit(.minutes(1)))
    func removed() async throws {
        let (device, behind, waits) = try await waiting()
        try await device.attachments.remove(behind)
        let error = await #expect(throws: RemoteError.self) { try await waits[1].value }
        #expect(error?.code == .notFound)
        device.server.set { _ in .answered }
        #expect(try await waits[0].value == Data([1]))
        await device.close()
    }

    @Test("is told when downloads are suspended, and what was asked for comes when they go on", .timeLimit(.minutes(1)))
    func suspended() async throws {
        let (device, behind, waits) = try await waiting()
        device.context.session.suspend(.download)
        for wait in waits {
            let error = await #expect(throws: SyncError.self) { try await wait.value }
            #expect(error?.code == .sessionEnded)
        }
        device.server.set { _ in .answered }
        device.context.session.resume(.download)
        await device.state(of: behind) { $0 == .synced }
        await device.close()
    }

    @Test("is not told that downloads are suspended right after they were resumed", .timeLimit(.minutes(1)))
    func resumed() async throws {
        let device = try await PhotoDevice()
        let id = AttachmentID.make()
        device.server.put([1], as: id)
        let runner = try device.core.runner
        device.context.session.suspend(.download)
        while await !runner.machine.suspended.contains(.download) { try await nextTurn() }
        try await runner.fetch(id, resuming: device.context.session)
        #expect(try await device.attachments.state(of: id) == .synced)
        await device.close()
    }

    @Test("is told when the store is locked", .timeLimit(.minutes(1)))
    func locked() async throws {
        let (device, behind, waits) = try await waiting()
        try await device.core.runner.setLocked(true)
        for wait in waits {
            let error = await #expect(throws: StoreError.self) { try await wait.value }
            #expect(error?.code == .locked)
        }
        device.server.set { _ in .answered }
        try await device.core.runner.setLocked(false)
        await device.state(of: behind) { $0 == .synced }
        await device.close()
    }
}
