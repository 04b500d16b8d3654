import Foundation
import OfflineSync
import RemoteContract
import SQLCipherStoreTestSupport
import SyncContract
import Testing
import VirtualTime

@testable import Attachments

@Suite("Files beside rows")
struct TransferTests {
    @Test("are what a part of other bytes has in it, wherever that begins")
    func slice() async throws {
        let device = try await PhotoDevice()
        let part = Data(content(140_000))[5..<135_005]
        let id = try await device.attachments.add(part)
        let isSame = try await device.attachments.data(of: id) == Data(part)
        #expect(isSame)
        await device.close()
    }

    @Test("are given whole up to as many bytes as they may have, and refused beyond")
    func limit() async throws {
        let device = try await PhotoDevice()
        let content = Data((0..<10).map { UInt8($0) })
        let id = try await device.attachments.add(content)
        #expect(try await device.attachments.data(of: id, upTo: 10) == content)
        let error = await #expect(throws: StoreError.self) {
            _ = try await device.attachments.data(of: id, upTo: 9)
        }
        #expect(error?.code == .outOfRange)
        await device.close()
    }

    @Test(
        "come back as they were, and lie encrypted on the disk",
        arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000]
    )
    func roundTrip(count: Int) async throws {
        let device = try await PhotoDevice()
        let bytes = content(count)
        let id = try await device.attachments.add(Data(bytes))
        #expect(try await device.attachments.data(of: id) == Data(bytes))
        var pieces = Data()
        for try await piece in device.attachments.contents(of: id) {
            #expect(!piece.isEmpty)
            pieces += piece
        }
        #expect(pieces == Data(bytes))
        let names = try device.fileNames()
        #expect(names.count == 1)
        let stored = try Data(contentsOf: device.filesURL.appending(path: names[0]))
        if count >= 16 { #expect(stored.range(of: Data(bytes.prefix(16))) == nil) }
        let reopened = try await device.reopened()
        #expect(try await reopened.attachments.data(of: id) == Data(bytes))
        await reopened.close()
    }

    @Test("of a file are taken in, and the file stays")
    func addFile() async throws {
        let device = try await PhotoDevice()
        let url = device.folder.url.appending(path: "card.jpg")
        try Data(content(150_000)).write(to: url)
        let id = try await device.attachments.add(contentsOf: url)
        #expect(try await device.attachments.data(of: id) == Data(content(150_000)))
        #expect(try Data(contentsOf: url) == Data(content(150_000)))
        await device.close()
    }

    @Test("are sent when the server has taken their row, and not before")
    func sentAfterRow() async throws {
        let device = try await PhotoDevice()
        let bytes = content(200_000)
        let (_, id) = try await device.add(bytes)
        try await device.attachments.settle()
        #expect(device.server.requests.isEmpty)
        #expect(try await device.attachments.state(of: id) == .pending)
        _ = try await device.context.push()
        try await device.attachments.settle()
        let isThere = device.server[id]?.bytes == bytes
        #expect(isThere)
        #expect(try await device.attachments.state(of: id) == .synced)
        await device.close()
    }

    @Test("wait as long as their row is refused")
    func refusedRow() async throws {
        let device = try await PhotoDevice()
        device.rows.fail(with: RemoteError(.refused, "no", status: 400))
        let (coupon, id) = try await device.add(content(10))
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(device.server.requests.isEmpty)
        device.rows.fail(with: nil)
        try await device.coupons.update(coupon.id) { $0.title = "again" }
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(device.server[id]?.isComplete == true)
        await device.close()
    }

    @Test("are fetched when they are asked for, and are here from then on", arguments: [0, 1, 65_536, 300_000])
    func download(count: Int) async throws {
        let device = try await PhotoDevice()
        let (id, bytes) = (try #require(AttachmentID("of-another-device")), content(count))
        device.server.put(bytes, as: id)
        #expect(try await device.attachments.state(of: id) == .unknown)
        #expect(try await device.attachments.data(of: id) == Data(bytes))
        #expect(try await device.attachments.state(of: id) == .synced)
        device.server.forgetRequests()
        #expect(try await device.attachments.data(of: id) == Data(bytes))
        #expect(device.server.requests.isEmpty)
        await device.close()
    }

    @Test("arrive however many the server does not have")
    func manyMissing() async throws {
        let device = try await PhotoDevice()
        for number in 0..<201 {
            let id = try #require(AttachmentID("missing-\(number)"))
            await #expect(throws: RemoteError.self) { try await device.attachments.fetch([id]) }
        }
        let id = try #require(AttachmentID("there"))
        device.server.put([1], as: id)
        #expect(try await device.attachments.data(of: id) == Data([1]))
        await device.close()
    }

    @Test("that the server does not have yet are an error, and arrive by themselves later")
    func notYetThere() async throws {
        let device = try await PhotoDevice()
        let id = try #require(AttachmentID("later"))
        let error = await #expect(throws: RemoteError.self) { try await device.attachments.data(of: id) }
        #expect(error?.code == .notFound)
        device.server.put([1, 2, 3], as: id)
        await device.clock.sleeperComes { $0 <= .seconds(1) }
        device.clock.advance(by: .seconds(1))
        await device.state(of: id) { $0 == .synced }
        #expect(try await device.attachments.data(of: id) == Data([1, 2, 3]))
        await device.close()
    }
}
