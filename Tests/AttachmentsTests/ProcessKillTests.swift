import Foundation
import OfflineSync
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SeededNumbers
import SyncContract
import Testing

@testable import Attachments

#if os(Linux) || os(macOS)
@Suite("Processes that are killed while they add, send, fetch, remove, copy and renew files")
struct ProcessKillTests {
    private let folder: TestFolder
    private let workload: PhotoWorkload

    init() throws {
        folder = try TestFolder()
        workload = PhotoWorkload(folder.url)
    }

    @Test("lose no file that they were promised, leave nothing unnamed, and what travelled goes on from where it was")
    func killed() async throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        for round in 0..<SeededGenerator.rounds(5, all: 40) {
            let (run, path) = (random.next(), folder.url.path)
            let count = Int.random(in: 1...150, using: &random)
            let delay = Bool.random(using: &random) ? 0 : Int.random(in: 0...5_000, using: &random)
            let known = try workload.entries().count
            await #expect(processExitsWith: .signal(SIGKILL), "seed \(seed), round \(round)") {
                [path = path as String, run = run as UInt64, count = count as Int, delay = delay as Int] in
                try await PhotoWorkload(URL(filePath: path))
                    .run(run, endingAfter: count, .microseconds(delay))
            }
            try await expectEverything(workload, since: known, "seed \(seed), round \(round)")
        }
    }

    @Test("send a file on from the byte that the kill came at", arguments: [1, 2, 15, 40])
    func upload(piece: Int) async throws {
        let bytes = content(200_000)
        let device = try await PhotoDevice(in: folder, hasServer: false)
        let (_, id) = try await device.add(bytes)
        _ = try await device.context.push()
        await device.close()
        try await killTransfer(at: piece, of: id)
        let transport = try workload.transport()
        let reopened = try await workload.open(transport)
        await reopened.state(of: id) { $0 == .synced }
        // Each chunk goes up in 14 pieces.
        let (chunks, pieces) = (piece - 1).quotientAndRemainder(dividingBy: 14)
        #expect(transport.uploads(of: id) == [Int64(chunks * 65_536 + pieces * 5_000)])
        let isSame = try transport.content(of: id) == Data(bytes)
        #expect(isSame)
        await reopened.close()
    }

    @Test("fetch a file on from its last whole chunk that was here", arguments: [1, 4, 5, 12, 15])
    func download(piece: Int) async throws {
        let (id, bytes) = (AttachmentID.make(), content(300_000))
        try workload.transport().put(bytes, as: id)
        try await killTransfer(at: piece, of: id)
        let transport = try workload.transport()
        try await expectNamed(in: folder.url, "piece \(piece)")
        let reopened = try await workload.open(transport)
        await reopened.state(of: id) { $0 == .synced }
        // A chunk is written when more follows.
        let chunks = max(0, (piece - 1) * 20_000 - 1) / 65_536
        #expect(transport.downloads(of: id) == [Int64(chunks) * 65_536])
        let isSame = try await reopened.attachments.data(of: id) == Data(bytes)
        #expect(isSame)
        await reopened.close()
    }

    /// Runs a process in which a file travels, and kills it there before a piece.
    private func killTransfer(at piece: Int, of id: AttachmentID) async throws {
        let (path, text) = (folder.url.path, id.text)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, text = text as String, piece = piece as Int] in
            try await PhotoWorkload(URL(filePath: path)).fetch(#require(AttachmentID(text)), endingBefore: piece)
        }
    }

    @Test("or that run on a disk that is full now and then, lose none either")
    func fullDisk() async throws {
        guard let disk = try SmallDisk(megabytes: 8) else { return }
        defer { disk.unmount() }
        let workload = PhotoWorkload(disk.folder, outside: folder.url)
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        let filler = disk.folder.appending(path: "filler")
        try Data(count: 5 << 20).write(to: filler)
        let device = try await workload.open(workload.transport(), spaceLimit: PhotoWorkload.spaceLimit)
        var (ids, failures): ([AttachmentID], Int) = ([], 0)
        var left = SeededGenerator.rounds(60, all: 1_000)
        // What is sent and removed meanwhile makes room: how soon the disk is full differs from run to run.
        while left > 0 || failures == 0 && left > -1_000 {
            left -= 1
            do {
                try await workload.step(device, &ids, &random)
            } catch {
                let reason = error as? StoreError ?? (error as? SyncError)?.cause as? StoreError
                guard reason?.code == .full else { throw error }
                failures += 1
            }
        }
        #expect(failures > 0, "seed \(seed)")
        await device.close()
        try await disk.remove(filler)
        try await expectEverything(workload, since: 0, "seed \(seed)")
    }

    /// Looks at a store as its process has left it, and at the backups that were begun since a line of the journal.
    private func expectEverything(_ workload: PhotoWorkload, since start: Int, _ name: Comment) async throws {
        let entries = try workload.entries()
        try await expectNamed(in: workload.folder, name)
        let parts = try await partsThatArrived(workload)
        let transport = try workload.transport()
        let device = try await workload.open(transport)
        try await expectFiles(entries, device, name)
        print("\(name): \(entries.count) lines, \(parts.count) parts that go on")
        for (id, count) in parts {
            guard let first = transport.downloads(of: id).first else { continue }
            // The last piece may have been the end of the file, which is read back by writing it once more.
            #expect(first <= count && first >= count - 65_536, name)
        }
        // What is named is sent, from where the server's part ends: this server takes nothing else.
        _ = try await device.context.push()
        try await device.attachments.settle()
        let removed = Set(entries.compactMap { if case .removing(let id) = $0 { id } else { nil } })
        let named = Set(entries.compactMap { if case .named(let id) = $0 { id } else { nil } })
        for case .added(let id, let count, let seed) in entries where named.contains(id) && !removed.contains(id) {
            let isSame = try transport.content(of: id) == Data(content(count, seed: seed))
            #expect(isSame, name)
        }
        await device.close()
        try await expectNamed(in: workload.folder, name, strays: false)
        try await expectCopies(workload, entries, since: start, name)
    }

    /// Every file that was promised is whole.
    private func expectFiles(
        _ entries: [PhotoWorkload.Entry],
        _ device: PhotoDevice,
        _ name: Comment
    ) async throws {
        let removed = Set(entries.compactMap { if case .removing(let id) = $0 { id } else { nil } })
        for case .added(let id, let count, let seed) in entries where !removed.contains(id) {
            let isSame = try await device.attachments.data(of: id) == Data(content(count, seed: seed))
            #expect(isSame, name)
        }
    }

    /// A verification finds nothing but files without rows, and all of those.
    private func expectNamed(in url: URL, _ name: Comment, strays: Bool = true) async throws {
        let store = try await EncryptedStore.open(
            at: url.appending(path: "store.db"),
            key: .testKey(),
            schema: PhotoDevice.schema()
        )
        let (files, schema) = (AttachmentFolder(url.appending(path: AttachmentFolder.name)), store.schema)
        let (findings, rows) = try await store.read { reader in
            (
                try AttachmentVerification.findings(in: files, &reader, schema),
                try reader.attachments(Query(AttachmentFiles.table.name))
            )
        }
        await store.close()
        #expect(findings.allSatisfy { $0.kind == .strayAttachment }, "\(name): \(findings)")
        let unknown = try files.names()
            .filter { entry in !rows.contains { entry == $0.name || entry == "\($0.name).part" } }
        #expect(findings.count == unknown.count, name)
        if !strays { #expect(unknown == [], name) }
    }

    /// How much has arrived of the files that are wanted, in whole chunks; none of those that get another key.
    private func partsThatArrived(_ workload: PhotoWorkload) async throws -> [AttachmentID: Int64] {
        let store = try await EncryptedStore.open(
            at: workload.folder.appending(path: "store.db"),
            key: .testKey(),
            schema: PhotoDevice.schema()
        )
        let rows = try await store.read { try $0.attachments(Query(AttachmentFiles.table.name)) }
        await store.close()
        var parts: [AttachmentID: Int64] = [:]
        let url = workload.folder.appending(path: AttachmentFolder.name)
        for row in rows where row.isWanted && !row.isHere && !row.isExposed {
            let path = url.appending(path: row.name + ".part").path
            guard FileManager.default.fileExists(atPath: path) else { continue }
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
            let chunks = max(0, size - SealedFileFormat.header.count) / SealedFileFormat.chunkCount
            parts[row.id] = Int64(chunks) * Int64(ChunkCipher.contentCount)
        }
        return parts
    }

    /// A backup is not there, or it has every file that had been taken in by then.
    private func expectCopies(
        _ workload: PhotoWorkload,
        _ entries: [PhotoWorkload.Entry],
        since start: Int,
        _ name: Comment
    ) async throws {
        for (index, entry) in entries.enumerated().dropFirst(start) {
            guard case .copying(let copy) = entry else { continue }
            let url = workload.folder.appending(path: copy)
            let isThere = FileManager.default.fileExists(atPath: url.path)
            if entries.contains(.copied(copy)) { #expect(isThere, name) }
            guard isThere else { continue }
            let device = try await PhotoDevice(
                in: folder,
                at: url,
                options: AttachmentOptions(transport: workload.transport(), spaceLimit: .max)
            )
            try await expectFiles(Array(entries[..<index]), device, "\(name), copy \(copy)")
            await device.close()
            try FileManager.default.removeItem(at: url)
        }
    }
}
#endif
