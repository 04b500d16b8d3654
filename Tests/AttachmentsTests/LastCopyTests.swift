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

@Suite("The last copy of a file", .timeLimit(.minutes(1)))
struct LastCopyTests {
    /// How rows leave a device.
    enum Leaving: CaseIterable, Sendable {
        case purge, purgeWithChange, purgeOfSome, reconciliation, reset, resetWithChange
    }

    @Test("is sent although the row has left the device after the server has taken it", arguments: Leaving.allCases)
    func unsent(leaving: Leaving) async throws {
        let device = try await PhotoDevice()
        device.context.session.suspend(.upload)
        let (coupon, id) = try await device.add([1])
        _ = try await device.context.push()
        switch leaving {
        case .purge: try await device.context.purge(Query("Coupon"))
        case .purgeWithChange:
            try await device.coupons.update(coupon.id) { $0.title = "again" }
            try await device.context.forcePurge("Coupon")
        case .purgeOfSome:
            try await device.coupons.update(coupon.id) { $0.title = "again" }
            try await device.context.forcePurge(Query("Coupon").filtered(by: Column("title") == "again"))
        case .reset, .resetWithChange:
            if leaving == .resetWithChange { try await device.coupons.update(coupon.id) { $0.title = "again" } }
            let none = Query("Coupon").filtered(by: Column("title") == "none")
            device.rows.forget()
            _ = try await device.context.reset(onto: [FreshPull(none)], discardsChanges: leaving == .resetWithChange)
            try await device.context.endReset()
            try await device.context.forgetDiscardedChanges()
        case .reconciliation:
            device.rows.forget()
            _ = try await device.context.pull(Query("Coupon"), options: PullOptions(reconciles: true))
        }
        #expect(try await device.coupons.count(Query("Coupon")) == 0)
        for _ in 0..<3 {
            try await device.core.work.removeUnused()
            device.clock.advance(by: .seconds(86_400))
        }
        let reopened = try await device.reopened()
        reopened.context.session.resume(.upload)
        await reopened.state(of: id) { $0 == .synced }
        #expect(device.server[id]?.isComplete == true)
        // From here on it is like any other.
        try await reopened.core.work.removeUnused()
        reopened.clock.advance(by: .seconds(86_400))
        try await reopened.core.work.removeUnused()
        #expect(try await reopened.attachments.state(of: id) == .unknown)
        await reopened.close()
    }

    @Test("of a row that the server never took is not sent because of a purge")
    func neverTaken() async throws {
        let device = try await PhotoDevice()
        let (_, id) = try await device.add([1])
        try await device.context.forcePurge("Coupon")
        try await device.attachments.settle()
        #expect(device.server[id] == nil)
        await device.close()
    }

    @Test("is sent again when its row, which others have deleted with the file, is restored", arguments: [true, false])
    func restored(hasTombstone: Bool) async throws {
        let device = try await PhotoDevice()
        let (coupon, id) = try await device.addAndSend([1])
        if hasTombstone { try device.rows.change(to: ["deleted": .bool(true)]) } else { device.rows.forget() }
        device.server[id] = nil
        try await device.coupons.update(coupon.id) { $0.title = "mine" }
        _ = try await device.context.push()
        let error = try #require(try await device.context.operationErrors().first)
        try await device.context.resolve(error, with: .keepMine)
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(device.server[id]?.isComplete == true)
        #expect(try await device.attachments.state(of: id) == .synced)
        await device.close()
    }

    @Test("is sent again to a server that was set up anew")
    func reset() async throws {
        let device = try await PhotoDevice()
        let (_, id) = try await device.addAndSend([1])
        device.server[id] = nil
        _ = try await device.context.reset(onto: [], discardsChanges: false)
        try await device.attachments.settle()
        #expect(device.server[id]?.isComplete == true)
        await device.close()
    }

    @Test("makes no room, whatever the server has said before")
    func room() async throws {
        let device = try await PhotoDevice(options: AttachmentOptions(spaceLimit: 0))
        // Nobody makes room but who has sent something, and this test.
        await device.clock.sleeperComes { $0 == .seconds(3_600) }
        let (_, id) = try await device.addAndSend([1])
        device.server[id] = nil
        device.server.set { _ in .failed(FaultyTransport.broken) }
        await #expect(throws: RemoteError.self) { try await device.core.work.makeRoom() }
        #expect(try device.fileNames().count == 1)
        device.server.set { _ in .answered }
        try await device.core.work.makeRoom()
        #expect(try device.fileNames().count == 1)
        try await device.attachments.settle()
        #expect(device.server[id]?.isComplete == true)
        try await device.core.work.makeRoom()
        #expect(try device.fileNames() == [])
        await device.close()
    }

    /// What keeps a row that names a file and is not among the rows.
    enum Keeping: CaseIterable, Sendable { case cancelledInsert, deletion, edit }

    /// Which columns that name files stay on the device.
    enum LocalColumns: CaseIterable, Sendable {
        case none, one, all

        func schema() throws -> StoreSchema {
            switch self {
            case .none: try PhotoDevice.schema()
            case .one:
                try StoreSchema([TableDefinition(Coupon.self, .owns(\.photo), .local(\.receipt))]).withAttachments()
            case .all: try StoreSchema([TableDefinition(Coupon.self, .local(\.photo, \.receipt))]).withAttachments()
            }
        }
    }

    @Test("stays as long as a change may bring its row back", arguments: Keeping.allCases, LocalColumns.allCases)
    func besideChanges(keeping: Keeping, local: LocalColumns) async throws {
        // A change of a local column is none that waits: nothing takes it back.
        guard keeping != .edit || local == .none else { return }
        let device = try await PhotoDevice(schema: local.schema(), hasServer: false)
        let id = try await device.attachments.add(Data([1]))
        let coupon = try await device.coupons.insert(Coupon(receipt: id))
        if keeping != .cancelledInsert { _ = try await device.context.push() }
        switch keeping {
        case .cancelledInsert, .deletion: try await device.coupons.delete(coupon.id)
        case .edit: try await device.coupons.update(coupon.id) { $0.receipt = nil }
        }
        for _ in 0..<4 {
            try await device.core.work.removeUnused()
            device.clock.advance(by: .seconds(86_400))
        }
        if keeping == .edit {
            try await device.coupons.revert(coupon.id)
        } else {
            try await device.coupons.undoDelete(coupon.id)
        }
        #expect(try await device.coupons.read(coupon.id)?.receipt == id)
        #expect(try await device.attachments.data(of: id) == Data([1]))
        await device.close()
    }

    @Test("of a row that was never sent stays for a week after the row was deleted, and goes with it")
    func neverSent() async throws {
        let device = try await PhotoDevice(hasServer: false)
        let id = try await device.attachments.add(Data([1]))
        let coupon = try await device.coupons.insert(Coupon(receipt: id))
        func pass(days: Int) async throws {
            for _ in 0..<days {
                device.clock.advance(by: .seconds(86_400))
                try await device.core.work.removeUnused()
            }
        }
        try await device.coupons.delete(coupon.id)
        try await pass(days: 6)
        try await device.coupons.undoDelete(coupon.id)
        #expect(try await device.coupons.read(coupon.id)?.receipt == id)
        #expect(try await device.attachments.data(of: id) == Data([1]))
        try await device.coupons.delete(coupon.id)
        try await pass(days: 6)
        // Time that only seems to have passed.
        device.clockSetting.set(ahead: 365 * 86_400)
        try await pass(days: 6)
        #expect(try await device.attachments.data(of: id) == Data([1]))
        try await pass(days: 4)
        #expect(try await device.attachments.state(of: id) == .unknown)
        let error = await #expect(throws: SyncError.self) { try await device.coupons.undoDelete(coupon.id) }
        #expect(error?.code == .invalidAction)
        await device.close()
    }

    @Test("stays when the clock is set ahead, and goes after a day all the same")
    func clockSetAhead() async throws {
        let device = try await PhotoDevice()
        let id = try await device.attachments.add(Data([1]))
        try await device.core.work.removeUnused()
        device.clockSetting.set(ahead: 50 * 365 * 86_400)
        device.clock.advance(by: .seconds(3_600))
        try await device.core.work.removeUnused()
        #expect(try await device.attachments.data(of: id) == Data([1]))
        device.clock.advance(by: .seconds(86_400))
        // Whoever looks every hour may be at it, and has ended then.
        await device.clock.sleeperComes { $0 == .seconds(3_600) }
        try await device.core.work.removeUnused()
        #expect(try await device.attachments.state(of: id) == .unknown)
        await device.close()
    }

    @Test("goes after a day also when the clock was put right that had been ahead")
    func clockPutRight() async throws {
        let device = try await PhotoDevice()
        let id = try await device.attachments.add(Data([1]))
        device.clockSetting.set(ahead: 50 * 365 * 86_400)
        for _ in 0..<2 { try await device.core.work.removeUnused() }
        device.clockSetting.set(ahead: 0)
        try await device.core.work.removeUnused()
        #expect(try await device.attachments.data(of: id) == Data([1]))
        device.clock.advance(by: .seconds(86_400))
        try await device.core.work.removeUnused()
        #expect(try await device.attachments.state(of: id) == .unknown)
        #expect(try device.fileNames() == [])
        await device.close()
    }

    @Test("is known by its name in whatever case a server's GUIDs are")
    func guids() async throws {
        let device = try await PhotoDevice()
        device.rows.keepPhotosAsGUIDs()
        let (coupon, id) = try await device.addAndSend([1])
        let stored = try await device.store.read { try $0.records(Query("Coupon")) }
        #expect(stored.map { $0["photo"] } == [.string(id.text.uppercased())])
        #expect(try await device.coupons.read(coupon.id)?.photo == id)
        #expect(device.server[id]?.isComplete == true)
        try await device.coupons.update(coupon.id) { $0.title = "again" }
        _ = try await device.context.push()
        for _ in 0..<3 {
            try await device.core.work.removeUnused()
            device.clock.advance(by: .seconds(86_400))
        }
        try await device.attachments.settle()
        #expect(try device.fileNames().count == 1)
        #expect(device.server.requests(.delete) == [])
        try await device.coupons.delete(coupon.id)
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(device.server[id] == nil)
        await device.close()
    }

    @Test("stays as long as a change that was given up for a reset may be made anew")
    func discarded() async throws {
        let device = try await PhotoDevice(hasServer: false)
        let (_, id) = try await device.add([1])
        _ = try await device.context.reset(onto: [FreshPull(Query("Coupon"))], discardsChanges: true)
        for _ in 0..<4 {
            try await device.core.work.removeUnused()
            device.clock.advance(by: .seconds(86_400))
        }
        let change = try #require(try await device.context.discardedChanges().first)
        #expect(change.item?["photo"].flatMap(AttachmentID.init(fieldValue:)) == id)
        #expect(try await device.attachments.data(of: id) == Data([1]))
        await device.close()
    }

    @Test("stays on the server while a deletion waits that a reset has recovered")
    func deletionOverReset() async throws {
        let device = try await PhotoDevice()
        let (coupon, id) = try await device.addAndSend([1])
        try await device.coupons.delete(coupon.id)
        _ = try await device.context.reset(onto: [], discardsChanges: false)
        try await device.context.endReset()
        try await device.attachments.settle()
        #expect(device.server[id] != nil && device.server.requests(.delete).isEmpty)
        try await device.coupons.undoDelete(coupon.id)
        try await device.attachments.settle()
        #expect(device.server[id] != nil)
        await device.close()
    }
}
