import Foundation
import RemoteContract
import SQLCipherStore
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import Attachments
@testable import OfflineSync

@Suite("A file that goes from the server while it is wanted", .timeLimit(.minutes(1)))
struct ConcurrentRemovalTests {
    @Test("is sent again when the answer to its removal was lost and another row names it")
    func lostAnswer() async throws {
        let device = try await PhotoDevice()
        let (coupon, id) = try await device.addAndSend([1])
        device.server.set { $0.kind == .delete ? .answerLost : .answered }
        try await device.coupons.delete(coupon.id)
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(device.server[id] == nil)
        device.server.set { _ in .answered }
        try await device.coupons.insert(Coupon(photo: id))
        _ = try await device.context.push()
        device.clock.advance(by: .seconds(600))
        try await device.attachments.settle()
        #expect(device.server[id]?.isComplete == true)
        #expect(try await device.attachments.state(of: id) == .synced)
        await device.close()
    }

    @Test("stays here while its removal is under way, whatever room it takes")
    func noRoomMeanwhile() async throws {
        let device = try await PhotoDevice(options: AttachmentOptions(spaceLimit: 0))
        // Nobody makes room but this test, and what could not be sent waits.
        await device.clock.sleeperComes { $0 == .seconds(3600) }
        device.server.set { $0.kind == .state ? .failed(FaultyTransport.broken) : .answered }
        let (coupon, id) = try await device.add([1])
        _ = try await device.context.push()
        try await device.attachments.settle()
        device.server.put([1], as: id)
        try await device.core.work.change(id) { ($0.isHere, $0.isOnServer) = (true, true) }
        device.server.set { $0.kind == .delete ? .held : .answered }
        let asked = device.server.requests.count
        try await device.coupons.delete(coupon.id)
        _ = try await device.context.push()
        device.clock.advance(by: .seconds(600))
        await device.server.requestsReach(asked + 1)
        try await device.core.work.makeRoom()
        #expect(try await device.core.work.file(id)?.isHere == true)
        try await device.coupons.insert(Coupon(photo: id))
        device.server.set { _ in .answered }
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(device.server[id]?.isComplete == true)
        await device.close()
    }

    @Test(
        "is sent again when others delete the row that owned it, or give it another file, and another row names it",
        arguments: [false, true]
    )
    func ownedByOthers(isExchanged: Bool) async throws {
        let device = try await PhotoDevice()
        let (coupon, id) = try await device.addAndSend([1])
        try await device.coupons.insert(Coupon(photo: id))
        _ = try await device.context.push()
        try await device.attachments.settle()
        // Another device deletes the row or exchanges its file, and removes the file that nothing names there.
        device.server[id] = nil
        let version = try #require(try await device.coupons.table.read(coupon.id.uuidString)?.version)
        let news: [String: FieldValue] =
            isExchanged
            ? ["photo": .null, "version": .string(version + "x")]
            : ["deleted": true, "version": .string(version + "x")]
        let row = Record(id: .string(coupon.id.uuidString), news)
        let application = PageApplication(
            table: device.coupons.definition,
            schema: device.store.schema,
            storesUndeclaredColumns: false
        )
        let request = AnswerLog().requestStarted()
        _ = try await device.store.write { try application.apply([row], from: request, &$0) }
        try await device.attachments.settle()
        #expect(device.server[id]?.isComplete == true)
        await device.close()
    }

    @Test("keeps nobody from locking and closing while the server is asked whether it makes room")
    func lockedMeanwhile() async throws {
        let device = try await PhotoDevice(options: AttachmentOptions(spaceLimit: 0))
        _ = try await device.addAndSend([1])
        let server = device.server
        server.set { $0.kind == .state && server.requests(.upload).count == 2 ? .held : .answered }
        try await device.add([2])
        _ = try await device.context.push()
        while server.requests(.upload).count < 2 || server.requests.last?.kind != .state { try await nextTurn() }
        await device.attachments.lock()
        server.set { _ in .answered }
        await device.attachments.unlock()
        await device.close()
    }

    @Test("makes room although the server does not tell of another one")
    func roomBesideARefusedOne() async throws {
        let device = try await PhotoDevice(options: AttachmentOptions(spaceLimit: 0))
        device.server.set { $0.kind == .state ? .failed(RemoteError(.refused, "no", status: 403)) : .answered }
        var ids: [AttachmentID] = []
        for byte: UInt8 in [1, 2] {
            let id = try await device.attachments.add(Data([byte]))
            device.server.put([byte], as: id)
            try await device.coupons.insert(Coupon(photo: id))
            try await device.core.work.change(id) { ($0.isHere, $0.isOnServer) = (true, true) }
            ids.append(id)
        }
        let first = ids[0]
        device.server.set {
            $0.kind == .state && $0.id == first ? .failed(RemoteError(.refused, "no", status: 403)) : .answered
        }
        let error = await #expect(throws: RemoteError.self) { try await device.core.work.makeRoom() }
        #expect(error?.status == 403)
        #expect(try await device.core.work.file(first)?.isHere == true)
        #expect(try await device.core.work.file(ids[1])?.isHere == false)
        await device.close()
    }
}

@Suite("Fetches that somebody waits for while nothing gets through", .timeLimit(.minutes(1)))
struct StalledFetchTests {
    @Test("are all told when several have failed, and the files stay wanted")
    func all() async throws {
        let device = try await PhotoDevice()
        device.server.set { _ in .held }
        let ids = (0..<20).map { _ in AttachmentID.make() }
        for id in ids {
            device.server.put([1], as: id)
            try await device.coupons.insert(Coupon(photo: id))
        }
        let attachments = device.attachments
        let fetching = Task { try await attachments.fetch(ids) }
        // Whoever asks later would have another one tried, whose failure could come behind the time that passes below.
        let all = Query(AttachmentFiles.table.name)
        while try await device.store.read({ try $0.attachments(all) }).count(where: \.isWanted) < ids.count {
            try await nextTurn()
        }
        await device.server.requestsReach(2)
        device.server.set { _ in .failed(FaultyTransport.broken) }
        await #expect(throws: RemoteError.self) { try await fetching.value }
        #expect(device.server.requests(.download).count < ids.count)
        try await device.attachments.settle()
        device.server.set { _ in .answered }
        device.clock.advance(by: .seconds(600))
        for id in ids { await device.state(of: id) { $0 == .synced } }
        await device.close()
    }

    @Test("end when who gives the token has thrown what stands for a cancelled task, and are not tried again at once")
    func cancelledByTheProvider() async throws {
        let transport = CancellingTransport()
        let device = try await PhotoDevice(options: AttachmentOptions(transport: transport))
        let id = AttachmentID.make()
        try await device.coupons.insert(Coupon(photo: id))
        await #expect(throws: CancellationError.self) { try await device.attachments.fetch([id]) }
        try await device.attachments.settle()
        #expect(transport.count == 1)
        await device.close()
    }
}

/// A server whose tokens come from a dialog that somebody dismisses.
private final class CancellingTransport: AttachmentTransport {
    private let requests = Atomic<Int>(0)
    var count: Int { requests.load(ordering: .relaxed) }

    private func dismissed() -> CancellationError {
        requests.add(1, ordering: .relaxed)
        return CancellationError()
    }

    func state(of id: AttachmentID) async throws -> AttachmentUploadState { throw dismissed() }

    func upload(
        _ id: AttachmentID,
        from offset: Int64,
        length: Int64,
        content: @escaping @Sendable () async throws -> [UInt8]?
    ) async throws { throw dismissed() }

    func download(
        _ id: AttachmentID,
        from offset: Int64,
        receive: @escaping @Sendable (AttachmentVersion, [UInt8]) async throws -> Void
    ) async throws { throw dismissed() }

    func delete(_ id: AttachmentID) async throws { throw dismissed() }
}
