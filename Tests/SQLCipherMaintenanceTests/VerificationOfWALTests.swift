import DurableFiles
import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import Testing

@testable import SQLCipherMaintenance
@testable import SQLCipherStore

@Suite("Verifying a store whose log was left behind")
struct VerificationOfWALTests {
    private let folder: TestFolder
    private let commits = 4

    init() throws { folder = try TestFolder() }

    /// The files of a store that was killed after several commits, none of which is in the database yet.
    private func leaveLog() async throws {
        let original = try TestFolder()
        try await EncryptedStore.open(in: original).close()
        let store = try await EncryptedStore.open(in: original, checkpointDelay: nil)
        for index in 0..<commits {
            try await store.upsert(
                [Record(id: .string("row-\(index)"), ["bytes": .bytes(Array(repeating: 5, count: 6_000))])],
                table: "items"
            )
        }
        for (name, bytes) in try original.contents() where name.hasSuffix(".db") || name.hasSuffix("-wal") {
            try Data(bytes).write(to: folder.url.appending(path: name))
        }
        await store.close()
    }

    private func verify() async throws -> StoreVerification {
        try await StoreFile(folder.database, keyIsVerified: true).verify(key: .testKey())
    }

    @Test("finds nothing in a whole one, sees its rows, and changes neither file")
    func wholeLog() async throws {
        try await leaveLog()
        let before = try folder.contentsWithoutLock()
        let result = try await verify()
        #expect(result.isSound, "\(result.findings)")
        #expect(result.rows == commits)
        #expect(
            try await StoreFile(folder.database).inspect(key: .testKey()).tables.first { $0.name == "items" }?.rows
                == commits
        )
        #expect(try folder.contentsWithoutLock() == before)
        let store = try await EncryptedStore.open(in: folder)
        #expect(try await store.read { try $0.count(Query("items")) } == commits)
        await store.close()
    }

    #if os(Linux) || os(macOS)
    @Test("takes a folder that can be written, for the index of the log, and says so")
    func unwritableFolder() async throws {
        try await leaveLog()
        _ = try await verify()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o666],
                ofItemAtPath: folder.url.appending(path: name).path
            )
        }
        let path = folder.url.path
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: path)
        defer { _ = unsafe chmod(path, 0o755) }
        await #expect(processExitsWith: .exitCode(42)) { [path = path as String] in
            // As the superuser, who may write anywhere, the process first becomes somebody else.
            if geteuid() == 0, setuid(65_534) != 0 { exit(2) }
            let file = StoreFile(URL(filePath: path).appending(path: "store.db"), keyIsVerified: true)
            let verified = try await code { _ = try await file.verify(key: .testKey()) }
            let inspected = try await code { _ = try await file.inspect(key: .testKey()) }
            exit(verified == .readOnly && inspected == .readOnly ? 42 : 1)
        }
    }
    #endif

    @Test("whatever opening the store would lose is reported, wherever a byte was changed")
    func changedByte() async throws {
        try await leaveLog()
        let intact = Data(try #require(folder.contents()["store.db-wal"]))
        let frames = (intact.count - WALScan.headSize) / WALScan.frameSize
        let inFrame = [3, 7, 8, 12, 16, 23, 24, WALScan.frameSize - 1]
        let offsets =
            [0, 4, 8, 12, 16, 20, 24, 28]
            + (0..<frames).flatMap { frame in inFrame.map { WALScan.headSize + frame * WALScan.frameSize + $0 } }
        var reported = 0
        for offset in offsets {
            try folder.edit("store.db-wal") { data in
                data = intact
                data[offset] ^= 0x21
            }
            let before = try folder.contentsWithoutLock()
            let findings = try await verify().findings
            #expect(try folder.contentsWithoutLock() == before, "byte \(offset)")
            let copy = try TestFolder()
            for (name, bytes) in before { try Data(bytes).write(to: copy.url.appending(path: name)) }
            let store = try await EncryptedStore.open(in: copy, keyIsVerified: true)
            let rows = try await store.read { try $0.count(Query("items")) }
            await store.close()
            #expect(findings.contains { $0.kind == .damagedWAL } == (rows < commits), "byte \(offset): \(findings)")
            reported += findings.isEmpty ? 0 : 1
        }
        #expect(reported > offsets.count / 2)
    }

    @Test("says how many commits are safe, and in which frame the WAL breaks off")
    func place() async throws {
        try await leaveLog()
        let scan = try WALScan(StoreFiles(folder.database.path).wal)
        #expect(scan.commits == commits && scan.breakage == nil)
        let frame = scan.committedFrames / 2
        try folder.edit("store.db-wal") { $0[WALScan.pageOffset(ofFrame: frame) + 9] ^= 1 }
        let finding = try #require(try await verify().findings.first)
        #expect(finding.kind == .damagedWAL && finding.place == .walFrame(frame))
        let left = try WALScan(StoreFiles(folder.database.path).wal).commits
        #expect(left < commits && finding.message.contains("\(left) commit"))
    }

    @Test("a head that is lost loses all commits, and a WAL that is cut off those behind the cut")
    func headAndEnd() async throws {
        try await leaveLog()
        let intact = Data(try #require(folder.contents()["store.db-wal"]))
        try folder.edit("store.db-wal") { $0.replaceSubrange(0..<32, with: Data(count: 32)) }
        #expect(try await verify().findings.map(\.kind).contains(.damagedWAL))
        try folder.edit("store.db-wal") { $0 = intact.dropLast(100) }
        #expect(try await verify().findings.map(\.kind).contains(.damagedWAL))
    }

    @Test("what an uncommitted transaction left is nobody's loss")
    func uncommitted() async throws {
        try await leaveLog()
        let path = StoreFiles(folder.database.path).wal
        let scan = try WALScan(path)
        // The last commit's last frame is gone: what is left of it was never said to be kept.
        let end = WALScan.pageOffset(ofFrame: scan.committedFrames) - WALScan.frameHeadSize
        try folder.edit("store.db-wal") { $0 = $0.prefix(end) }
        #expect(try await verify().isSound)
        try folder.edit("store.db-wal") { $0 = $0.prefix($0.count - 100) }
        #expect(try await verify().isSound)
    }

    @Test("frames of an earlier turn behind the end are not damage")
    func earlierTurn() async throws {
        try await leaveLog()
        let old = Data(try #require(folder.contents()["store.db-wal"]))
        let other = try TestFolder()
        let store = try await EncryptedStore.open(in: other, checkpointDelay: nil)
        try await store.upsert([Record(id: "1")], table: "items")
        let files = try other.contents()
        await store.close()
        let log = Data(try #require(files["store.db-wal"]))
        try Data(try #require(files["store.db"])).write(to: folder.database)
        try (log + old.dropFirst(log.count)).write(to: folder.url.appending(path: "store.db-wal"))
        let result = try await verify()
        #expect(result.isSound && result.rows == 1, "\(result.findings)")
    }

    @Test("a page of the database that was torn while the WAL was written back is not a damage: the WAL has it")
    func tornPage() async throws {
        try await leaveLog()
        let scan = try WALScan(StoreFiles(folder.database.path).wal)
        let inBoth = try #require(
            scan.newestFrames.keys.filter { $0 <= (FileSystem.size(of: folder.database.path) ?? 0) / 4_096 }.max()
        )
        try folder.edit { $0[(inBoth - 1) * 4_096 + 500] ^= 1 }
        #expect(try await verify().isSound)
    }
}
