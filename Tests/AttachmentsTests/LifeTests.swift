import DurableFiles
import FileSystemRecording
import Foundation
import OfflineSync
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import SyncSessions
import Synchronization
import Testing
import VirtualTime

@testable import Attachments

@Suite("How long files stay")
struct LifeTests {
    private func advance(_ device: PhotoDevice, by duration: Duration) async throws {
        device.clock.advance(by: duration)
        try await device.core.work.removeUnused()
    }

    @Test("A file that no row names is removed here after a day")
    func unused() async throws {
        let device = try await PhotoDevice()
        let id = try await device.attachments.add(Data([1]))
        try await advance(device, by: .zero)
        try await advance(device, by: .seconds(86_399))
        #expect(try await device.attachments.state(of: id) == .pending)
        try await advance(device, by: .seconds(1))
        #expect(try await device.attachments.state(of: id) == .unknown)
        #expect(try device.fileNames() == [])
        await device.close()
    }

    @Test("A file that a row names stays, and one whose row came back in time")
    func used() async throws {
        let device = try await PhotoDevice()
        let (_, kept) = try await device.add([1])
        let id = try await device.attachments.add(Data([2]))
        try await advance(device, by: .zero)
        try await advance(device, by: .seconds(80_000))
        try await device.coupons.insert(Coupon(receipt: id))
        try await advance(device, by: .seconds(80_000))
        try await advance(device, by: .seconds(80_000))
        #expect(try await device.attachments.state(of: id) == .pending)
        #expect(try await device.attachments.state(of: kept) == .pending)
        await device.close()
    }

    @Test("A file goes from the server with the row that owns it, when the server has taken the deletion")
    func owned() async throws {
        let device = try await PhotoDevice()
        let (coupon, id) = try await device.addAndSend([1])
        try await device.coupons.delete(coupon.id)
        try await device.attachments.settle()
        #expect(device.server[id] != nil)
        // Days without a network: what waits may still be taken back.
        for _ in 0..<3 { try await advance(device, by: .seconds(86_400)) }
        #expect(try device.fileNames().count == 1)
        let reopened = try await device.reopened()
        _ = try await reopened.context.push()
        try await reopened.attachments.settle()
        #expect(device.server[id] == nil)
        await reopened.close()
    }

    @Test("A file stays on the server when the deletion is taken back, and when the row only referred to it")
    func stays() async throws {
        let device = try await PhotoDevice()
        let (coupon, id) = try await device.addAndSend([1])
        try await device.coupons.delete(coupon.id)
        try await device.coupons.undoDelete(coupon.id)
        let receipt = try await device.attachments.add(Data([2]))
        let other = try await device.coupons.insert(Coupon(receipt: receipt))
        _ = try await device.context.push()
        try await device.attachments.settle()
        try await device.coupons.delete(other.id)
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(device.server[id] != nil && device.server[receipt] != nil)
        #expect(device.server.requests(.delete) == [])
        await device.close()
    }

    @Test("A file goes from the server when the column that owns it names another one")
    func replaced() async throws {
        let device = try await PhotoDevice()
        let (coupon, id) = try await device.addAndSend([1])
        let next = try await device.attachments.add(Data([2]))
        try await device.coupons.update(coupon.id) { $0.photo = next }
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(device.server[id] == nil && device.server[next] != nil)
        await device.close()
    }

    @Test("A file that the app removes goes here at once, and on the server when it can be reached")
    func removed() async throws {
        let device = try await PhotoDevice()
        let (_, id) = try await device.addAndSend([1])
        device.server.set { _ in .failed(FaultyTransport.broken) }
        try await device.attachments.remove(id)
        #expect(try device.fileNames() == [])
        device.server.set { _ in .answered }
        let reopened = try await device.reopened()
        try await reopened.attachments.settle()
        #expect(device.server[id] == nil)
        await reopened.close()
    }

    @Test("A file that the app has removed is neither fetched nor sent any more, whoever asks for it meanwhile")
    func removedAndRead() async throws {
        let device = try await PhotoDevice()
        let (_, id) = try await device.addAndSend([1])
        device.server.set { _ in .failed(FaultyTransport.broken) }
        try await device.attachments.remove(id)
        // Otherwise what has begun by itself may still be under way when the server answers again.
        try await device.attachments.settle()
        let error = await #expect(throws: RemoteError.self) { try await device.attachments.data(of: id) }
        #expect(error?.code == .notFound)
        device.server.set { _ in .answered }
        device.server.forgetRequests()
        let reopened = try await device.reopened()
        try await reopened.attachments.settle()
        #expect(device.server[id] == nil)
        #expect(device.server.requests == [.init(kind: .delete, id: id)])
        #expect(try await reopened.attachments.state(of: id) == .unknown)
        await reopened.close()
    }

    @Test("Those that were not used for longest make room, and never those that only this device has")
    func room() async throws {
        let device = try await PhotoDevice(options: AttachmentOptions(spaceLimit: 250))
        var ids: [AttachmentID] = []
        for seed in 1...2 {
            ids.append(try await device.addAndSend(content(100, seed: UInt64(seed))).1)
            device.clock.advance(by: .seconds(100))
        }
        _ = try await device.attachments.data(of: ids[0])
        device.clock.advance(by: .seconds(100))
        let unsent = try await device.attachments.add(Data(content(1_000)))
        ids.append(try await device.addAndSend(content(100, seed: 3)).1)
        #expect(try await device.attachments.state(of: ids[1]) == .remote)
        #expect(try await device.attachments.state(of: ids[0]) == .synced)
        #expect(try await device.attachments.state(of: ids[2]) == .synced)
        #expect(try await device.attachments.data(of: unsent).count == 1_000)
        #expect(try await device.attachments.data(of: ids[1]) == Data(content(100, seed: 2)))
        await device.close()
    }

    @Test("one that did not get through is tried at once when somebody reconnects", .timeLimit(.minutes(1)))
    func reconnected() async throws {
        let device = try await PhotoDevice()
        device.server.set { _ in .failed(RemoteError(.unauthorized, "on purpose", status: 401)) }
        let (_, id) = try await device.add([1])
        device.context.session.start(keeping: [device.coupons])
        try await device.context.session.wait(for: .both)
        try await device.attachments.settle()
        #expect(try await device.attachments.state(of: id) != .synced)
        device.server.set { _ in .answered }
        _ = await device.context.session.reconnect()
        await device.state(of: id) { $0 == .synced }
        #expect(device.server[id]?.isComplete == true)
        await device.close()
    }

    @Test("one that no row names leaves the device after a day, by itself", .timeLimit(.minutes(1)))
    func unusedByItself() async throws {
        let device = try await PhotoDevice()
        let id = try await device.attachments.add(Data([1]))
        for _ in 0..<26 {
            await device.clock.sleeperComes { $0 <= .seconds(3_600) }
            device.clock.advance(by: .seconds(3_600))
        }
        await device.state(of: id) { $0 == .unknown }
        while try !Task.isCancelled && !device.fileNames().isEmpty { await Task.yield() }
        #expect(try device.fileNames().isEmpty)
        await device.close()
    }

    @Test("one that the server has swallowed a part of goes on from there")
    func swallowedUpload() async throws {
        let device = try await PhotoDevice()
        device.server.set { $0.kind == .upload ? .swallowed(after: 5) : .answered }
        let (_, id) = try await device.add(Array(0..<10))
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(try await device.attachments.state(of: id) != .synced)
        #expect(device.server[id]?.isComplete == false)
        device.server.set { _ in .answered }
        device.clock.advance(by: .seconds(1))
        await device.state(of: id) { $0 == .synced }
        #expect(device.server[id]?.bytes == Array(0..<10))
        await device.close()
    }

    @Test("one of which a part has come is not taken for the whole, whatever brings it")
    func shortDownload() async throws {
        let device = try await PhotoDevice()
        let bytes = content(200_000)
        let (_, id) = try await device.addAndSend(bytes)
        let other = try await PhotoDevice(server: device.server, rows: device.rows)
        other.server.set { $0.kind == .download ? .swallowed(after: 150_000) : .answered }
        await #expect(throws: (any Error).self) { try await other.attachments.fetch([id]) }
        #expect(try await other.attachments.state(of: id) != .synced)
        other.server.set { _ in .answered }
        try await other.attachments.fetch([id])
        #expect(try await other.attachments.data(of: id) == Data(bytes))
        await other.close()
        await device.close()
    }

    @Test("one that is being read ends when the store is locked or closed", arguments: [true, false])
    func readingEnds(_ locks: Bool) async throws {
        let device = try await PhotoDevice()
        let id = try await device.attachments.add(Data(content(200_000)))
        var pieces = device.attachments.contents(of: id).makeAsyncIterator()
        #expect(try await pieces.next() != nil)
        if locks { await device.attachments.lock() } else { await device.attachments.close() }
        let error = await #expect(throws: StoreError.self) { _ = try await pieces.next() }
        #expect(error?.code == (locks ? .locked : .closed))
        if locks { await device.attachments.unlock() }
        await device.close()
    }
}

@Suite("Files and kills")
struct KillTests {
    @Test("A file that is added is whole under its name, on the medium, before its row is")
    func steps() async throws {
        let folder = try TestFolder()
        let recorder = FileSystemRecorder(in: folder.url)
        let device = try await PhotoDevice(in: folder, fileSystem: recorder.fileSystem)
        _ = try await device.attachments.add(Data([1]))
        #expect(
            recorder.takeLines() == [
                "create attachments", "synchronize .", "create attachments/*.new", "write attachments/*.new",
                "write attachments/*.new", "synchronize attachments/*.new",
                "rename attachments/*.new attachments/*", "synchronize attachments",
            ]
        )
        await device.close()
    }

    @Test("Whatever step an addition ends at, nothing is left that the next start does not remove", arguments: 1...8)
    func failedAddition(step: Int) async throws {
        let folder = try TestFolder()
        // What a kill leaves behind at this step is what is there then.
        let left = Mutex<[String: Data]>([:])
        let place = folder.url.appending(path: AttachmentFolder.name)
        let fileSystem = FileSystem.acting(after: step) {
            for name in FileManager.default.enumerator(atPath: place.path)?.compactMap({ $0 as? String }) ?? [] {
                left.withLock { $0[name] = FileManager.default.contents(atPath: place.appending(path: name).path) }
            }
        }
        let device = try await PhotoDevice(in: folder, fileSystem: fileSystem)
        let id = try await device.attachments.add(Data([1]))
        await device.close()
        for (name, content) in left.withLock({ $0 }) { try content.write(to: place.appending(path: name)) }
        let reopened = try await PhotoDevice(in: folder)
        #expect(try await reopened.attachments.data(of: id) == Data([1]))
        #expect(try reopened.fileNames().count == 1)
        await reopened.close()
    }

    @Test("Files without rows go at the next start, and rows without files say so")
    func sweep() async throws {
        let device = try await PhotoDevice()
        let (_, sent) = try await device.addAndSend([2])
        let (_, lost) = try await device.add([1])
        let files = try await device.store.read { try ($0.attachment(lost), $0.attachment(sent)) }
        await device.close()
        for file in [files.0, files.1] {
            try FileManager.default.removeItem(at: device.filesURL.appending(path: try #require(file).name))
        }
        let stray = device.filesURL.appending(path: String(repeating: "a", count: 32))
        try Data([3]).write(to: stray)
        try Data([3]).write(to: device.filesURL.appending(path: "note.txt"))
        let reopened = try await PhotoDevice(in: device.folder, server: device.server, rows: device.rows)
        try await reopened.attachments.settle()
        #expect(try reopened.fileNames() == ["note.txt"])
        #expect(try await reopened.attachments.data(of: sent) == Data([2]))
        let state = try await reopened.attachments.state(of: lost)
        guard case .failed = state else {
            Issue.record("the file is missing, and its state is \(state)")
            return
        }
        await reopened.close()
    }

    @Test("A file that is lost while the store is open comes again from the server, and is missed where that has none")
    func lostWhileOpen() async throws {
        let device = try await PhotoDevice()
        let (_, sent) = try await device.addAndSend(content(10))
        for name in try device.fileNames() {
            try FileManager.default.removeItem(at: device.filesURL.appending(path: name))
        }
        #expect(try await device.attachments.data(of: sent) == Data(content(10)))
        let own = try await device.attachments.add(Data([1]))
        let file = try #require(try await device.store.read { try $0.attachment(own) })
        try FileManager.default.removeItem(at: device.filesURL.appending(path: file.name))
        let error = await #expect(throws: StoreError.self) { try await device.attachments.data(of: own) }
        #expect(error?.code == .notFound)
        await device.close()
    }

    @Test("A full disk is an error that says so, and what was written goes")
    func fullDisk() async throws {
        guard let disk = try SmallDisk(megabytes: 4) else { return }
        defer { disk.unmount() }
        let device = try await PhotoDevice(at: disk.folder)
        let error = await #expect(throws: StoreError.self) {
            try await device.attachments.add(Data(repeating: 1, count: 5 << 20))
        }
        #expect(error?.code == .full)
        #expect(try AttachmentFolder(disk.folder.appending(path: AttachmentFolder.name)).names() == [])
        let id = try await device.attachments.add(Data(content(100_000)))
        #expect(try await device.attachments.data(of: id).count == 100_000)
        await device.close()
    }
}
