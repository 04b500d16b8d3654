import DurableFiles
import FileSystemRecording
import Foundation
import OfflineSync
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import Attachments

@Suite("Files and the disk", .timeLimit(.minutes(5)))
struct DiskTests {
    @Test(
        "A disk that fills while a file arrives is an error that says so, and has its room again; with room it comes"
    )
    func fullDownload() async throws {
        guard let disk = try SmallDisk(megabytes: 8) else { return }
        defer { disk.unmount() }
        let device = try await PhotoDevice(at: disk.folder)
        let kept = try await device.attachments.add(Data(content(100_000)))
        let (id, bytes) = (AttachmentID.make(), content(4 << 20))
        device.server.put(bytes, as: id)
        let ballast = disk.folder.appending(path: "ballast")
        try Data(repeating: 0, count: 5 << 20).write(to: ballast)
        let error = await #expect(throws: StoreError.self) { try await device.attachments.fetch([id]) }
        #expect(error?.code == .full && error?.message.contains("make room") == true)
        #expect(try await device.attachments.data(of: kept) == Data(content(100_000)))
        #expect(try await device.attachments.state(of: id) == .remote)
        let folder = AttachmentFolder(disk.folder.appending(path: AttachmentFolder.name))
        #expect(try await folder.names() == [device.core.work.file(kept)?.name])
        try await device.coupons.insert(Coupon(title: String(repeating: "a", count: 100_000), photo: kept))
        // Nobody waits for it any more.
        device.clock.advance(by: .seconds(86_400))
        try await device.attachments.settle()
        #expect(device.server.requests(.download).count == 1)
        try await disk.remove(ballast)
        let isSame = try await device.attachments.data(of: id) == Data(bytes)
        #expect(isSame)
        #expect(device.server.requests(.download).map(\.offset) == [0, 0])
        await device.close()
    }

    @Test(
        "A file that was wanted before the disk was full is given up, with what has arrived of it",
        arguments: [false, true]
    )
    func fullLater(isAhead: Bool) async throws {
        guard let disk = try SmallDisk(megabytes: 8) else { return }
        defer { disk.unmount() }
        let options = AttachmentOptions(ahead: isAhead ? .all : .none)
        let device = try await PhotoDevice(at: disk.folder, options: options)
        let (id, bytes) = (AttachmentID.make(), content(4 << 20))
        device.server.put(bytes, as: id)
        device.server.set { _ in .cut(after: 1 << 20) }
        if isAhead {
            try await device.coupons.insert(Coupon(photo: id))
            try device.core.work.ahead?.arrived.addEverything()
            try await device.attachments.settle()
        }
        await #expect(throws: RemoteError.self) { try await device.attachments.fetch([id]) }
        let folder = AttachmentFolder(disk.folder.appending(path: AttachmentFolder.name))
        #expect(try folder.names().count == 1)
        try Data(repeating: 0, count: 5 << 20).write(to: disk.folder.appending(path: "ballast"))
        device.server.set { _ in .answered }
        let count = device.server.requests(.download).count
        await device.clock.sleeperComes { $0 <= .seconds(60) }
        device.clock.advance(by: .seconds(60))
        await device.server.requestsReach(count + 1)
        try await device.attachments.settle()
        #expect(try folder.names() == [])
        let file = try #require(try await device.core.work.file(id))
        #expect(!file.isWanted && (file.aheadFrom != nil) == isAhead)
        #expect(device.server.requests(.download).count == count + 1)
        try await device.coupons.insert(Coupon(title: String(repeating: "a", count: 100_000)))
        await device.close()
    }

    @Test("What is fetched ahead does not keep the last of the disk, and comes when there is room")
    func fullAhead() async throws {
        guard let disk = try SmallDisk(megabytes: 8) else { return }
        defer { disk.unmount() }
        let server = FaultyTransport()
        let id = AttachmentID.make()
        server.put(content(4 << 20), as: id)
        let before = try await PhotoDevice(at: disk.folder, server: server)
        try await before.coupons.insert(Coupon(photo: id))
        _ = try await before.context.push()
        await before.close()
        let ballast = disk.folder.appending(path: "ballast")
        try Data(repeating: 0, count: 5 << 20).write(to: ballast)
        let clock = VirtualClock()
        let options = AttachmentOptions(ahead: .all)
        let device = try await PhotoDevice(at: disk.folder, server: server, clock: clock, options: options)
        try await device.attachments.settle()
        #expect(try AttachmentFolder(disk.folder.appending(path: AttachmentFolder.name)).names() == [])
        try await disk.remove(ballast)
        // After 15 seconds, or as after any failure where there was no room for that note either.
        await clock.sleeperComes { $0 <= .seconds(60) }
        clock.advance(by: .seconds(60))
        await device.state(of: id) { $0 == .synced }
        await device.close()
    }

    /// What lies in a folder and those in it, by the paths. A file that is removed at this very moment is none.
    private static func files(in folder: TestFolder) -> [String: Data] {
        let names = FileManager.default.enumerator(atPath: folder.url.path)?.compactMap { $0 as? String } ?? []
        return names.reduce(into: [:]) { files, name in
            let path = folder.url.appending(path: name).path
            if FileSystem.isRegularFile(path) { files[name] = FileManager.default.contents(atPath: path) }
        }
    }

    /// A folder as it was when something had been done for the last time.
    private final class Snapshot: Sendable {
        private let copy = Mutex<TestFolder?>(nil)

        func take(of folder: TestFolder) throws {
            let copy = try TestFolder()
            for (name, content) in DiskTests.files(in: folder) {
                let url = copy.url.appending(path: name)
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                try content.write(to: url)
            }
            self.copy.withLock { $0 = copy }
        }

        var folder: TestFolder? { copy.withLock { $0 } }
    }

    @Test("A file is on the medium, and so is its name, before its row says that it is here", arguments: [true, false])
    func rowLast(arrives: Bool) async throws {
        let (folder, snapshot) = (try TestFolder(), Snapshot())
        let place = AttachmentFolder(folder.url.appending(path: AttachmentFolder.name)).path
        let failures = Mutex<[any Error]>([])
        // The last change of files that there is.
        let fileSystem = FileSystem { call in
            guard call == .synchronized(place) else { return }
            do { try snapshot.take(of: folder) } catch { failures.withLock { $0.append(error) } }
        }
        let device = try await PhotoDevice(in: folder, fileSystem: fileSystem)
        let fetched = AttachmentID.make()
        device.server.put([1, 2, 3], as: fetched)
        if arrives { try await device.attachments.fetch([fetched]) }
        let id = arrives ? fetched : try await device.attachments.add(Data([1, 2, 3]))
        await device.close()
        #expect(failures.withLock { $0.isEmpty })
        let taken = snapshot.folder
        let left: TestFolder = try #require(taken)
        let copy = try await PhotoDevice(in: left, hasServer: false)
        let file = try await copy.store.read { try $0.attachment(id) }
        #expect(file?.isHere ?? false == false)
        await copy.close()
    }

    @Test("What arrives is synchronized before it gets its name, and the name after that")
    func arrival() async throws {
        let folder = try TestFolder()
        let recorder = FileSystemRecorder(in: folder.url)
        let device = try await PhotoDevice(in: folder, fileSystem: recorder.fileSystem)
        let id = AttachmentID.make()
        device.server.put([1], as: id)
        try await device.attachments.fetch([id])
        #expect(
            recorder.takeLines() == [
                "create attachments", "synchronize .", "create attachments/*.part", "write attachments/*.part",
                "write attachments/*.part", "synchronize attachments/*.part",
                "rename attachments/*.part attachments/*", "synchronize attachments",
            ]
        )
        await device.close()
    }

    @Test("What is copied for a backup is on the medium when that is said to be done")
    func copied() async throws {
        let folder = try TestFolder()
        let device = try await PhotoDevice(in: folder)
        _ = try await device.add([1])
        let recorder = FileSystemRecorder(in: folder.url)
        try await AttachmentFolder(device.filesURL, in: recorder.fileSystem)
            .copy(to: folder.url.appending(path: "copy"))
        #expect(
            recorder.takeLines() == [
                "create copy", "synchronize .", "create copy/*", "write copy/*", "synchronize copy/*",
                "synchronize copy",
            ]
        )
        await device.close()
    }

    @Test(
        "What is copied for a backup is whole, however large it is",
        .timeLimit(.minutes(1)),
        arguments: [0, 1, 2_500_000]
    )
    func copiedWhole(_ count: Int) async throws {
        let device = try await PhotoDevice()
        let (_, id) = try await device.add(content(count))
        let copy = device.folder.url.appending(path: "copy")
        try await AttachmentFolder(device.filesURL).copy(to: copy)
        let file = try #require(try await device.core.work.file(id))
        #expect(try AttachmentFolder(copy).open(file).digest {} == file.digest)
        await device.close()
    }

    @Test("Names that a kill has kept from the medium get there before anything relies on them")
    func names() async throws {
        let folder = try TestFolder()
        let device = try await PhotoDevice(in: folder)
        _ = try await device.add([1])
        await device.close()
        let recorder = FileSystemRecorder(in: folder.url)
        let reopened = try await PhotoDevice(in: folder, fileSystem: recorder.fileSystem)
        try await reopened.attachments.settle()
        #expect(recorder.takeLines() == ["synchronize .", "synchronize attachments"])
        await reopened.close()
    }

    // In a process of its own: where temporary files go is set for the whole process.
    @Test("Nothing of a file is on the disk in clear at any step, temporary files included")
    func neverInClear() async {
        await #expect(processExitsWith: .success) {
            let outer = try TestFolder()
            unsafe setenv("TMPDIR", outer.url.path, 1)
            unsafe setenv("SQLITE_TMPDIR", outer.url.path, 1)
            let pattern = content(64, seed: 99)
            let bytes = (0..<5_000).flatMap { _ in pattern }
            let needle = Data(pattern.prefix(16))
            let looks = Mutex<(count: Int, found: [String])>((0, []))
            let look: @Sendable () -> Void = {
                let found = Self.files(in: outer).filter { $0.value.range(of: needle) != nil }.map(\.key)
                looks.withLock { ($0.count, $0.found) = ($0.count + 1, $0.found + found) }
            }
            let folder = try TestFolder()
            #expect(folder.url.path.hasPrefix(outer.url.path))
            let device = try await PhotoDevice(in: folder, fileSystem: FileSystem { _ in look() })
            let (_, id) = try await device.addAndSend(bytes)
            _ = try await device.attachments.data(of: id)
            look()
            await device.close()
            let evicting = try await PhotoDevice(
                in: folder,
                server: device.server,
                rows: device.rows,
                options: AttachmentOptions(spaceLimit: 0)
            )
            await evicting.state(of: id) { $0 == .remote }
            await evicting.close()
            let fetching = try await PhotoDevice(
                in: folder,
                server: device.server,
                rows: device.rows,
                fileSystem: FileSystem { _ in look() }
            )
            fetching.server.set { $0.kind == .download ? .cut(after: 150_000) : .answered }
            await #expect(throws: RemoteError.self) { try await fetching.attachments.fetch([id]) }
            look()
            fetching.server.set { _ in .answered }
            let isSame = try await fetching.attachments.data(of: id) == Data(bytes)
            #expect(isSame)
            await fetching.close()
            look()
            #expect(looks.withLock { $0.count } > 20)
            #expect(looks.withLock { $0.found } == [])
            // It would be found.
            try Data(bytes).write(to: outer.url.appending(path: "clear"))
            look()
            #expect(looks.withLock { $0.found } == ["clear"])
        }
    }
}
