import Foundation
import ItemCoding
import OfflineSync
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import SyncSessions
import Testing
import VirtualTime

@testable import Attachments

@Suite("Files that are fetched ahead, on a bad line", .timeLimit(.minutes(5)))
struct AheadFaultTests {
    /// A device whose rows name files of the server, and which fetches them ahead from its next opening on.
    private func device(_ ids: [AttachmentID], _ size: Int = 200_000) async throws -> PhotoDevice {
        let device = try await PhotoDevice()
        for id in ids {
            device.server.put(content(size), as: id)
            try await device.coupons.insert(Coupon(photo: id))
        }
        _ = try await device.context.push()
        try await device.attachments.settle()
        return device
    }

    private let eager = AttachmentOptions(parallelTransfers: 2, ahead: .all)

    @Test("go on where the connection broke, also after a restart")
    func cut() async throws {
        let id = AttachmentID.make()
        let before = try await device([id])
        before.server.set { $0.kind == .download ? .cut(after: 150_000) : .answered }
        let device = try await before.reopened(options: eager)
        try await device.attachments.settle()
        #expect(try await device.attachments.state(of: id) == .remote)
        device.server.set { _ in .answered }
        let reopened = try await device.reopened(options: eager)
        try await reopened.attachments.settle()
        #expect(try await reopened.attachments.state(of: id) == .synced)
        #expect(reopened.server.requests(.download).map(\.offset) == [0, 131_072])
        await reopened.close()
    }

    @Test("come when the clock was put right that had been ahead as they were noted", .timeLimit(.minutes(1)))
    func clockSetBack() async throws {
        let id = AttachmentID.make()
        let before = try await device([id], 10)
        before.server.set { $0.kind == .download ? .failed(FaultyTransport.broken) : .answered }
        let device = try await before.reopened(options: eager)
        try await device.attachments.settle()
        #expect(try await device.attachments.state(of: id) == .remote)
        device.server.set { _ in .answered }
        device.clockSetting.set(ahead: -3 * 86_400)
        device.clock.advance(by: .seconds(600))
        await device.state(of: id) { $0 == .synced }
        #expect(device.server.requests(.download).count == 2)
        await device.close()
    }

    @Test(
        "are asked for less and less often where they are absent, also when the clock was put right since",
        .timeLimit(.minutes(1))
    )
    func absentAfterAWrongClock() async throws {
        let id = AttachmentID.make()
        let before = try await device([id], 10)
        before.server[id] = nil
        before.server.set { $0.kind == .download ? .failed(FaultyTransport.broken) : .answered }
        let device = try await before.reopened(options: eager)
        try await device.attachments.settle()
        device.server.set { _ in .answered }
        device.clockSetting.set(ahead: -3 * 86_400)
        let asked = device.server.requests(.download).count
        for _ in 0..<40 {
            device.clock.advance(by: .seconds(15))
            try await device.attachments.settle()
        }
        #expect((1...12).contains(device.server.requests(.download).count - asked))
        await device.close()
    }

    @Test("come also when their rows had arrived as the store was locked", .timeLimit(.minutes(1)))
    func lockedAsTheyArrived() async throws {
        let other = try await PhotoDevice()
        let device = try await PhotoDevice(server: other.server, rows: other.rows, options: eager)
        try await device.attachments.settle()
        let id = AttachmentID.make()
        other.server.put([1], as: id)
        try await device.coupons.insert(Coupon(photo: id))
        await device.store.lock()
        let work = try device.core.work
        await device.attachments.lock()
        work.ahead?.arrived.addEverything()
        await #expect(throws: StoreError.self) { try await work.noteArrivals() }
        try await device.store.unlock(key: .testKey())
        await device.attachments.unlock()
        await device.state(of: id) { $0 == .synced }
        await device.close()
        await other.close()
    }

    @Test("make way for one that somebody waits for, and go on behind it")
    func yields() async throws {
        let ids = (0..<4).map { _ in AttachmentID.make() }
        let before = try await device(Array(ids.prefix(3)))
        before.server.put([1], as: ids[3])
        before.server.set { $0.id == ids[3] ? .answered : .held }
        let device = try await before.reopened(options: eager)
        await device.server.requestsReach(2)
        #expect(try await device.attachments.data(of: ids[3]) == Data([1]))
        device.server.set { _ in .answered }
        try await device.attachments.settle()
        for id in ids { #expect(try await device.attachments.state(of: id) == .synced) }
        #expect(device.server.mostAtATime == 2)
        await device.close()
    }

    @Test("make way for what is to be sent")
    func uploadsFirst() async throws {
        let ids = (0..<2).map { _ in AttachmentID.make() }
        let before = try await device(ids)
        before.server.set { $0.kind == .download ? .held : .answered }
        let device = try await before.reopened(options: eager)
        await device.server.requestsReach(2)
        let (_, own) = try await device.add(content(10))
        _ = try await device.context.push()
        await device.state(of: own) { $0 == .synced }
        device.server.set { _ in .answered }
        try await device.attachments.settle()
        for id in ids { #expect(try await device.attachments.state(of: id) == .synced) }
        await device.close()
    }

    @Test("are the same for one who comes to wait for them, and say how far they are")
    func asked() async throws {
        let id = AttachmentID.make()
        let before = try await device([id])
        before.server.set { $0.kind == .download ? .held : .answered }
        let device = try await before.reopened(options: eager)
        await device.server.requestsReach(1)
        await device.state(of: id) { $0 == .downloading(0) }
        let reading = Task { try await device.attachments.data(of: id) }
        await device.server.requestsReach(2)
        device.server.set { _ in .answered }
        let isSame = try await reading.value == Data(content(200_000))
        #expect(isSame)
        await device.close()
    }

    @Test("that the server does not have are tried again after as long as they have been missing, a day at most")
    func missing() async throws {
        let (id, other) = (AttachmentID.make(), AttachmentID.make())
        let before = try await device([id, other], 10)
        before.server[id] = nil
        let device = try await before.reopened(options: eager)
        try await device.attachments.settle()
        #expect(try await device.attachments.state(of: id) == .remote)
        #expect(try await device.attachments.state(of: other) == .synced)
        /// Wakes the device when it means to try again, and lets it.
        func tryAgain(after wait: Duration) async throws {
            let file = try #require(try await device.store.read { try $0.attachment(id) })
            let next = try #require(file.aheadFrom).milliseconds - device.core.work.now.milliseconds
            #expect(.milliseconds(next) == wait)
            await device.clock.sleeperComes { $0 == wait }
            let count = device.server.requests.count
            device.clock.advance(by: wait)
            await device.server.requestsReach(count + 1)
            try await device.attachments.settle()
        }
        for wait in [15, 15, 30, 60, 120] { try await tryAgain(after: .seconds(wait)) }
        #expect(device.server.requests(.download).filter { $0.id == id }.count == 6)
        await device.clock.sleeperComes { $0 == .seconds(240) }
        let count = device.server.requests.count
        device.clock.advance(by: .seconds(10 * 86_400))
        await device.server.requestsReach(count + 1)
        try await device.attachments.settle()
        device.server.put([1, 2], as: id)
        try await tryAgain(after: .seconds(86_400))
        #expect(try await device.attachments.state(of: id) == .synced)
        await device.close()
    }

    @Test("stop with a session whose downloads are suspended, and go on with it")
    func suspended() async throws {
        let id = AttachmentID.make()
        let before = try await device([id])
        before.server.set { $0.kind == .download ? .held : .answered }
        let device = try await before.reopened(options: eager)
        await device.server.requestsReach(1)
        device.context.session.suspend(.download)
        await device.state(of: id) { $0 == .remote }
        device.server.set { _ in .answered }
        try await device.attachments.settle()
        #expect(try await device.attachments.state(of: id) == .remote)
        device.context.session.resume(.download)
        await device.state(of: id) { $0 == .synced }
        await device.close()
    }

    @Test("that no row names any more are not fetched, nor those that the app has removed")
    func unwanted() async throws {
        let (gone, removed) = (AttachmentID.make(), AttachmentID.make())
        let before = try await device([gone, removed])
        before.server.set { $0.kind == .download ? .failed(FaultyTransport.broken) : .answered }
        let device = try await before.reopened(options: eager)
        try await device.attachments.settle()
        device.context.session.suspend([.upload, .download])
        let coupon = try #require(try await device.coupons.where { $0.photo == gone }.first())
        try await device.coupons.delete(coupon.id)
        try await device.attachments.remove(removed)
        device.server.set { _ in .answered }
        device.server.forgetRequests()
        let reopened = try await device.reopened(options: eager)
        reopened.server.set { $0.kind == .delete ? .failed(FaultyTransport.broken) : .answered }
        reopened.context.session.resume()
        try await reopened.attachments.settle()
        #expect(reopened.server.requests(.download) == [])
        #expect(try await reopened.attachments.state(of: removed) == .unknown)
        #expect(try reopened.fileNames() == [])
        await reopened.close()
    }
}
