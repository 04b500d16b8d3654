import Foundation
import OfflineSync
import RemoteContract
import SQLCipherStoreTestSupport
import SyncContract
import SyncSessions
import Testing
import VirtualTime

@testable import Attachments

@Suite("Files on a bad line")
struct FaultTests {
    @Test("are sent on from where the connection broke", arguments: [0, 1, 65_536, 100_000, 199_999])
    func cutUpload(count: Int) async throws {
        let device = try await PhotoDevice()
        device.server.set { $0.kind == .upload ? .cut(after: count) : .answered }
        let bytes = content(200_000)
        let (_, id) = try await device.addAndSend(bytes)
        #expect(device.server[id]?.bytes.count == count)
        device.server.set { _ in .answered }
        await device.clock.sleeperComes { $0 <= .seconds(1) }
        device.clock.advance(by: .seconds(1))
        await device.state(of: id) { $0 == .synced }
        #expect(device.server.requests(.upload).map(\.offset) == [0, Int64(count)])
        let isSame = device.server[id]?.bytes == bytes
        #expect(isSame)
        await device.close()
    }

    @Test("are ended when the server has every byte and not the end", arguments: [0, 1, 200_000])
    func lostEnd(_ count: Int) async throws {
        let device = try await PhotoDevice()
        let bytes = content(count)
        let (_, id) = try await device.add(bytes)
        device.server[id] = FaultyTransport.StoredFile(bytes: bytes, length: Int64(count), isEnded: false)
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(try await device.attachments.state(of: id) == .synced)
        #expect(device.server[id]?.isComplete == true)
        #expect(device.server.requests(.upload).map(\.offset) == [Int64(count)])
        await device.close()
    }

    @Test("are sent also behind a push that was ended", .timeLimit(.minutes(1)))
    func abortedPush() async throws {
        let device = try await PhotoDevice()
        device.server.set { $0.kind == .upload ? .failed(FaultyTransport.broken) : .answered }
        let (_, id) = try await device.addAndSend([1])
        try await device.coupons.insert(Coupon())
        device.rows.fail(with: FaultyTransport.broken)
        await #expect(throws: SyncError.self) { try await device.context.push() }
        device.server.set { _ in .answered }
        device.clock.advance(by: .seconds(600))
        await device.state(of: id) { $0 == .synced }
        try await device.attachments.settle()
        await device.close()
    }

    @Test("are not sent twice when only the answer got lost, also over a restart")
    func lostAnswer() async throws {
        let device = try await PhotoDevice()
        device.server.set { $0.kind == .upload ? .answerLost : .answered }
        let (_, id) = try await device.addAndSend(content(100_000))
        device.server.set { _ in .answered }
        let reopened = try await device.reopened()
        await reopened.state(of: id) { $0 == .synced }
        #expect(device.server.requests(.upload).count == 1)
        await reopened.close()
    }

    @Test("are fetched on from where the connection broke, over a restart", arguments: [10, 65_536, 150_000])
    func cutDownload(count: Int) async throws {
        let device = try await PhotoDevice()
        let (id, bytes) = (AttachmentID.make(), content(200_000))
        device.server.put(bytes, as: id)
        device.server.set { $0.kind == .download ? .cut(after: count) : .answered }
        await #expect(throws: RemoteError.self) { try await device.attachments.fetch([id]) }
        device.server.set { _ in .answered }
        let reopened = try await device.reopened()
        let isSame = try await reopened.attachments.data(of: id) == Data(bytes)
        #expect(isSame)
        // What was behind the last whole chunk is fetched again.
        let offset = max(0, (count - 1) / 65_536) * 65_536
        #expect(device.server.requests(.download).map(\.offset) == [0, Int64(offset)])
        await reopened.close()
    }

    @Test("are fetched anew when the server has another file by now", arguments: [150_000, 200_000, 250_000])
    func otherVersion(size: Int) async throws {
        let device = try await PhotoDevice()
        let id = AttachmentID.make()
        device.server.put(content(200_000), as: id, tag: "a")
        device.server.set { $0.kind == .download ? .cut(after: 150_000) : .answered }
        await #expect(throws: RemoteError.self) { try await device.attachments.fetch([id]) }
        device.server.put(content(size, seed: 2), as: id, tag: "b")
        device.server.set { _ in .answered }
        let reopened = try await device.reopened()
        try await reopened.attachments.settle()
        let isSame = try await reopened.attachments.data(of: id) == Data(content(size, seed: 2))
        #expect(isSame)
        #expect(device.server.requests(.download).map(\.offset) == [0, 131_072, 0])
        await reopened.close()
    }

    @Test(
        "keep what has arrived when the server refuses the rest",
        arguments: [(RemoteError.Code.refused, 403), (.refused, 413), (.serverFailure, 507), (.notFound, 404)]
    )
    func refusedRest(code: RemoteError.Code, status: Int) async throws {
        let device = try await PhotoDevice()
        let id = AttachmentID.make()
        device.server.put(content(200_000), as: id)
        device.server.set { $0.kind == .download ? .cut(after: 150_000) : .answered }
        await #expect(throws: RemoteError.self) { try await device.attachments.fetch([id]) }
        device.server.set { _ in .failed(RemoteError(code, "no", status: status)) }
        await #expect(throws: RemoteError.self) { try await device.attachments.fetch([id]) }
        device.server.set { _ in .answered }
        try await device.attachments.fetch([id])
        #expect(device.server.requests(.download).map(\.offset) == [0, 131_072, 131_072])
        await device.close()
    }

    /// What there is to do is read while transfers end.
    @Test("are not asked for by a list from before they were refused")
    func refusedMeanwhile() async throws {
        let device = try await PhotoDevice()
        let id = AttachmentID.make()
        let refusal = RemoteError(.refused, "no", status: 413)
        device.server.set { $0.kind == .state ? .answered : .failed(refusal) }
        await #expect(throws: RemoteError.self) { try await device.attachments.fetch([id]) }
        let (_, own) = try await device.addAndSend([1])
        device.server.put([1], as: id)
        device.server.set { _ in .answered }
        device.server.forgetRequests()
        let work = try device.core.work
        for transfer in [Transfer(.download, id), Transfer(.upload, own), Transfer(.ahead, id)] {
            #expect(await work.perform(transfer).0 == .done)
        }
        #expect(device.server.requests == [])
        for file in [id, own] { try await device.attachments.retry(file) }
        try await device.attachments.settle()
        #expect(Set(device.server.requests.map(\.id)) == [id, own])
        await device.close()
    }

    @Test("of which the server says that it has more or other than there is are left to the app")
    func otherState() async throws {
        for there in [content(11), content(9)] {
            let device = try await PhotoDevice()
            let (_, id) = try await device.add(content(10))
            device.server.put(there, as: id)
            _ = try await device.context.push()
            try await device.attachments.settle()
            guard case .failed = try await device.attachments.state(of: id) else {
                Issue.record("the server has \(there.count) bytes of 10")
                return
            }
            #expect(device.server.requests(.upload) == [])
            device.server[id] = nil
            try await device.attachments.retry(id)
            try await device.attachments.settle()
            #expect(try await device.attachments.state(of: id) == .synced)
            await device.close()
        }
    }

    @Test("that the server has less of than it said before are sent from there", arguments: [0, 100_000])
    func lostPart(left: Int) async throws {
        let device = try await PhotoDevice()
        let bytes = content(200_000)
        device.server.set { $0.kind == .upload ? .cut(after: 150_000) : .answered }
        let (_, id) = try await device.addAndSend(bytes)
        device.server[id]?.bytes.removeLast(150_000 - left)
        device.server.set { _ in .answered }
        await device.clock.sleeperComes { $0 <= .seconds(1) }
        device.clock.advance(by: .seconds(1))
        await device.state(of: id) { $0 == .synced }
        #expect(device.server.requests(.upload).map(\.offset) == [0, Int64(left)])
        let isSame = device.server[id]?.bytes == bytes
        #expect(isSame)
        await device.close()
    }

    @Test("that the server has other bytes of are never shown, when it is known what they were")
    func wrongBytes() async throws {
        let device = try await PhotoDevice(options: AttachmentOptions(spaceLimit: 0))
        // Nobody makes room but who has sent something.
        await device.clock.sleeperComes { $0 == .seconds(3_600) }
        let (_, id) = try await device.addAndSend(content(100_000))
        // Another one needs the room.
        _ = try await device.addAndSend(content(10))
        #expect(try await device.attachments.state(of: id) == .remote)
        device.server.put(content(100_000, seed: 2), as: id)
        let error = await #expect(throws: RemoteError.self) { try await device.attachments.data(of: id) }
        #expect(error?.code == .otherContent)
        let state = try await device.attachments.state(of: id)
        guard case .failed = state else {
            Issue.record("the server has other bytes, and the state is \(state)")
            return
        }
        #expect(try device.fileNames().count == 1)
        device.server.put(content(100_000), as: id)
        try await device.attachments.retry(id)
        let isSame = try await device.attachments.data(of: id) == Data(content(100_000))
        #expect(isSame)
        await device.close()
    }

    @Test("wait their time when the server says another number of bytes each time")
    func otherOffset() async throws {
        let device = try await PhotoDevice()
        let conflict = RemoteError(.conflict, "another number", status: 409)
        device.server.set { $0.kind == .upload ? .failed(conflict) : .answered }
        let (_, id) = try await device.addAndSend(content(10))
        #expect(device.server.requests(.upload).count == 3)
        device.server.set { _ in .answered }
        await device.clock.sleeperComes { $0 <= .seconds(1) }
        device.clock.advance(by: .seconds(1))
        await device.state(of: id) { $0 == .synced }
        await device.close()
    }

    @Test("that the server refuses are not sent again by themselves, and say why")
    func refused() async throws {
        let device = try await PhotoDevice()
        device.server.set { _ in .failed(RemoteError(.refused, "too large", status: 413)) }
        let (_, id) = try await device.addAndSend(content(10))
        #expect(try await device.attachments.state(of: id) == .failed("too large"))
        #expect(device.server.requests.count == 1)
        device.server.set { _ in .answered }
        try await device.attachments.retry(id)
        try await device.attachments.settle()
        #expect(try await device.attachments.state(of: id) == .synced)
        await device.close()
    }

    @Test("travel as many at a time as was said")
    func parallel() async throws {
        let device = try await PhotoDevice(options: AttachmentOptions(parallelTransfers: 3))
        device.server.set { _ in .held }
        for number in 0..<8 { try await device.add(content(10, seed: UInt64(number))) }
        _ = try await device.context.push()
        await device.server.requestsReach(3)
        device.server.set { _ in .answered }
        try await device.attachments.settle()
        #expect(device.server.mostAtATime == 3)
        #expect(device.server.requests(.upload).count == 8)
        await device.close()
    }

    @Test("travel although the exchange of another one always breaks off")
    func alwaysBroken() async throws {
        let device = try await PhotoDevice()
        let (_, broken) = try await device.add(content(10))
        device.server.set { $0.id == broken && $0.kind == .upload ? .failed(FaultyTransport.broken) : .answered }
        _ = try await device.context.push()
        try await device.attachments.settle()
        let (_, next) = try await device.addAndSend(content(10, seed: 2))
        #expect(device.server[next] == nil)
        await device.clock.sleeperComes { $0 <= .seconds(1) }
        device.clock.advance(by: .seconds(1))
        await device.state(of: next) { $0 == .synced }
        #expect(device.server[broken]?.isComplete != true)
        await device.close()
    }

    @Test("stop with a session that is suspended, and go on with it")
    func suspended() async throws {
        let device = try await PhotoDevice()
        device.server.set { $0.kind == .upload ? .held : .answered }
        let (_, id) = try await device.add(content(10))
        _ = try await device.context.push()
        await device.server.requestsReach(2)
        device.context.session.suspend(.upload)
        await device.state(of: id) { $0 == .pending }
        device.server.set { _ in .answered }
        #expect(device.server[id] == nil)
        device.context.session.resume(.upload)
        await device.state(of: id) { $0 == .synced }
        await device.close()
    }

    @Test("stay where they are when an earlier process has suspended its session, whether or not it is started")
    func suspendedEarlier() async throws {
        let before = try await PhotoDevice()
        before.context.session.suspend()
        let (_, id) = try await before.add(content(10))
        let other = AttachmentID.make()
        before.server.put(content(100), as: other)
        let device = try await before.reopened()
        #expect(device.context.session.suspended == .both)
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(device.server[id] == nil)
        let error = await #expect(throws: SyncError.self) { try await device.attachments.data(of: other) }
        #expect(error?.code == .sessionEnded)
        device.context.session.resume()
        await device.state(of: id) { $0 == .synced }
        #expect(try await device.attachments.data(of: other) == Data(content(100)))
        await device.close()
    }

    @Test("end with their store, and so do those who wait for them")
    func closed() async throws {
        let device = try await PhotoDevice()
        let id = AttachmentID.make()
        device.server.put(content(100), as: id)
        device.server.set { _ in .held }
        let reading = Task { try await device.attachments.data(of: id) }
        await device.server.requestsReach(1)
        await device.close()
        let error = await #expect(throws: StoreError.self) { try await reading.value }
        #expect(error?.code == .closed)
        for await _ in device.attachments.observe(id) {}
    }

    @Test("are not waited for by somebody who was cancelled")
    func cancelled() async throws {
        let device = try await PhotoDevice()
        let id = AttachmentID.make()
        device.server.put(content(100), as: id)
        device.server.set { _ in .held }
        let reading = Task { try await device.attachments.data(of: id) }
        await device.server.requestsReach(1)
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        device.server.set { _ in .answered }
        let isSame = try await device.attachments.data(of: id) == Data(content(100))
        #expect(isSame)
        await device.close()
    }
}
