import Foundation
import OfflineSync
import RemoteContract
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import Attachments

@Suite("Files of rows that were to go")
struct RemovalTests {
    /// How a change ends that the server has not taken.
    enum End: String, CaseIterable, Sendable {
        case forcePurge, forcePurgeOfRows, reset, revert, takeServer, keepLocal, discard, undo
    }

    /// What lets a file go.
    enum Change: CaseIterable, Sendable { case deletion, exchange }

    private func end(_ coupon: Coupon, _ end: End, in device: PhotoDevice) async throws {
        let context = device.context
        switch end {
        case .forcePurge: try await context.forcePurge("Coupon")
        case .forcePurgeOfRows: try await context.forcePurge(Query("Coupon").filtered(by: Column("title") == ""))
        case .reset: _ = try await context.reset(onto: [], discardsChanges: true)
        case .revert: try await device.coupons.revert(coupon.id)
        case .undo: try await device.coupons.undoDelete(coupon.id)
        case .discard: for operation in try await context.operations() { try await context.discard(operation) }
        case .takeServer, .keepLocal:
            try device.rows.change(to: ["title": .string("theirs")])
            _ = try await context.push()
            for error in try await context.operationErrors() {
                try await context.resolve(error, with: end == .takeServer ? .takeServer : .keepLocal())
            }
        }
    }

    @Test("stay on the server when the change is given up", arguments: End.allCases, Change.allCases)
    func givenUp(end: End, change: Change) async throws {
        // Deletions outlive the purge of rows, and only they are taken back by that name.
        guard change == .deletion ? end != .forcePurgeOfRows : end != .undo else { return }
        let device = try await PhotoDevice()
        let (coupon, id) = try await device.addAndSend([1])
        switch change {
        case .deletion: try await device.coupons.delete(coupon.id)
        case .exchange: try await device.coupons.update(coupon.id) { $0.photo = nil }
        }
        try await self.end(coupon, end, in: device)
        #expect(try await device.context.operations().isEmpty)
        // Whether the row is here does not matter.
        try await device.context.purge(Query("Coupon").filtered(by: Column("title") != "none"))
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(device.server[id] != nil)
        #expect(device.server.requests(.delete) == [])
        await device.close()
    }

    @Test("stay when the server has taken one of two that own the file, and refuses the other")
    func twoOwners() async throws {
        let device = try await PhotoDevice()
        let (first, id) = try await device.addAndSend([1])
        let second = try await device.coupons.insert(Coupon(photo: id))
        _ = try await device.context.push()
        try device.rows.change([second.id.uuidString], to: ["title": .string("theirs")])
        try await device.coupons.delete(first.id)
        try await device.coupons.delete(second.id)
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(device.server[id] != nil)
        let error = try #require(try await device.context.operationErrors().first)
        try await device.context.resolve(error, with: .takeServer)
        try await device.attachments.settle()
        #expect(device.server[id] != nil)
        try await device.coupons.delete(second.id)
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(device.server[id] == nil)
        await device.close()
    }

    @Test("stay while another row owns the file, and go with the last one")
    func ownedByAnother() async throws {
        let device = try await PhotoDevice()
        let (first, id) = try await device.addAndSend([1])
        let second = try await device.coupons.insert(Coupon(photo: id))
        _ = try await device.context.push()
        try await device.coupons.delete(first.id)
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(device.server[id] != nil)
        #expect(device.server.requests(.delete) == [])
        try await device.coupons.delete(second.id)
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(device.server[id] == nil)
        await device.close()
    }

    @Test("stay when the server itself gives the row another one, as something else of it is changed here")
    func replacedByServer() async throws {
        let device = try await PhotoDevice()
        let (coupon, id) = try await device.addAndSend([1])
        let theirs = AttachmentID.make()
        device.rows.setPhotos(to: .string(theirs.text))
        try await device.context.table("Coupon").update(Record(id: .string(coupon.id.uuidString), ["title": "new"]))
        _ = try await device.context.push()
        #expect(try await device.coupons.read(coupon.id)?.photo == theirs)
        try await device.attachments.settle()
        #expect(device.server[id] != nil)
        #expect(device.server.requests(.delete) == [])
        await device.close()
    }

    @Test("go when the change goes on after an interruption, and with a second change of the row")
    func inTwoSteps() async throws {
        let device = try await PhotoDevice()
        let (coupon, id) = try await device.addAndSend([1])
        let next = try await device.attachments.add(Data([2]))
        try await device.coupons.update(coupon.id) { $0.photo = next }
        device.rows.fail(with: FaultyTransport.broken)
        await #expect(throws: SyncError.self) { try await device.context.push() }
        let reopened = try await device.reopened()
        device.rows.fail(with: nil)
        try await reopened.coupons.update(coupon.id) { $0.title = "again" }
        _ = try await reopened.context.push()
        try await reopened.attachments.settle()
        #expect(device.server[id] == nil && device.server[next] != nil)
        await reopened.close()
    }

    /// Two devices have put photos in the place of the first one: a conflict of ours, with theirs on the server.
    private func conflict(
        _ resolution: (Record) -> ConflictResolution<Record>
    ) async throws -> (left: Set<String>, removed: Set<String>) {
        let device = try await PhotoDevice()
        let (coupon, base) = try await device.addAndSend([1])
        let (mine, theirs) = (try await device.attachments.add(Data([2])), AttachmentID.make())
        device.server.put([3], as: theirs)
        try device.rows.change(to: ["photo": .string(theirs.text)])
        try await device.coupons.update(coupon.id) { $0.photo = mine }
        _ = try await device.context.push()
        let error = try #require(try await device.context.operationErrors().first)
        let names = [base: "base", mine: "mine", theirs: "theirs"]
        try await device.context.resolve(error, with: resolution(try #require(error.serverItem)))
        _ = try await device.context.push()
        try await device.attachments.settle()
        let removed = Set(device.server.requests(.delete).compactMap { names[$0.id] })
        let left = Set(names.filter { device.server[$0.key] != nil }.values)
        await device.close()
        return (left, removed)
    }

    @Test("go when a conflict is settled by a deletion")
    func deletedInstead() async throws {
        #expect(try await conflict { _ in .deleteInstead } == ([], ["base", "mine", "theirs"]))
    }

    @Test("of others go when one's own take their place")
    func mine() async throws {
        #expect(try await conflict { _ in .keepMine } == (["mine"], ["base", "theirs"]))
    }

    @Test("of this device go when a merged row has those of others")
    func merged() async throws {
        #expect(try await conflict { .keepMerged($0) } == (["theirs"], ["base", "mine"]))
    }

    @Test("of the server stay when nothing is sent")
    func local() async throws {
        let (left, removed) = try await conflict { _ in .keepLocal() }
        #expect(left.isSuperset(of: ["theirs", "base"]) && removed == [])
    }
}
