import Foundation
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("A log that was left behind")
struct LeftoverWALTests {
    /// How the log of a store can look that was killed.
    enum Shape: CaseIterable {
        /// All of it is committed.
        case whole
        /// A short turn, and behind its end the frames of a longer one.
        case restarted
        /// Pages of a transaction that was not committed lie at the end.
        case uncommittedTail
        /// The last frame is there in part.
        case tornFrame
        /// The head was being written again, after everything had been written back.
        case tornHead
        /// Only the head is there.
        case headAlone
    }

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private var log: URL { folder.url.appending(path: "store.db-wal") }

    private func expectRefusal(keyByte: UInt8 = 7, code: StoreError.Code = .damaged) async throws {
        let before = try folder.contentsWithoutLock()
        for keyIsVerified in [false, true] {
            let error = await #expect(throws: StoreError.self) {
                _ = try await EncryptedStore.open(in: folder, keyByte: keyByte, keyIsVerified: keyIsVerified)
            }
            #expect(error?.code == code)
            #expect(error?.message.contains("move the log away") == (code == .damaged))
            #expect(try folder.contentsWithoutLock() == before)
        }
    }

    @Test("of another database is refused, and not played into the one beside it", arguments: [true, false])
    func ofAnotherDatabase(namesKey: Bool) async throws {
        if !namesKey { try folder.createStoreThatNamesNoKey() }
        try await folder.makeStoreWithText()
        let other = try TestFolder()
        _ = try await StoreLeftOpen(in: other)
        try Data(#require(other.contents()["store.db-wal"])).write(to: log)
        try await expectRefusal()
        try FileManager.default.removeItem(at: log)
        #expect(try await folder.storedText() == "sound")
    }

    @Test("of a database with other pages is refused")
    func ofOtherPages() async throws {
        try await folder.makeStoreWithText()
        try folder.writeLogWithSmallPages("-wal")
        try await expectRefusal()
        try FileManager.default.removeItem(at: log)
        #expect(try await folder.storedText() == "sound")
    }

    @Test("is not called another database's when the key is another, and the header names none")
    func otherKey() async throws {
        let left = try await StoreLeftOpen(in: folder, namesKey: false)
        try await expectRefusal(keyByte: 8, code: .wrongKey)
        #expect(try await folder.storedText() == left.text)
    }

    @Test("of its own is played back, in either format", arguments: [nil, FileHeader.Format.sqlcipher3])
    func ofItsOwn(format: FileHeader.Format?) async throws {
        let left = try await StoreLeftOpen(in: folder, format: format)
        #expect(try await folder.storedText() == left.text)
    }

    @Test(
        "of its own is not refused, however it was left",
        arguments: Shape.allCases,
        [nil, FileHeader.Format.sqlcipher3]
    )
    func howeverLeft(shape: Shape, format: FileHeader.Format?) async throws {
        let original = try TestFolder()
        if let format { try original.createStore(format) }
        try await original.makeStoreWithText()
        try folder.takeFiles(of: original) { program in
            func write(_ text: String, bytes: Int = 0) throws {
                try program.run(
                    "UPDATE items SET text = '\(text)', bytes = zeroblob(\(bytes)) WHERE id = '1'"
                )
            }
            _ = try program.setting("PRAGMA cache_size = 4")
            switch shape {
            case .whole: try write("committed")
            case .restarted:
                for round in 1...3 { try write("round \(round)", bytes: round * 20_000) }
                _ = try program.setting("PRAGMA wal_checkpoint(RESTART)")
                try write("committed")
            case .uncommittedTail:
                try write("committed")
                try program.run("BEGIN")
                try write("uncommitted", bytes: 200_000)
            case .tornFrame, .tornHead, .headAlone:
                try write("committed")
                _ = try program.setting("PRAGMA wal_checkpoint(RESTART)")
                try write(shape == .tornFrame ? "torn" : "committed")
            }
        }
        let size = try #require(folder.contents()["store.db-wal"]).count
        let scan = try WALScan(log.path)
        let behind = (size - WALScan.headSize) / WALScan.frameSize - scan.committedFrames
        switch shape {
        case .whole: try #require(scan.committedFrames > 0)
        case .restarted, .uncommittedTail:
            try #require(scan.committedFrames > 0 && behind > 3)
            // Whatever lies there, SQLite does not play it back.
            for frame in (scan.committedFrames + 1)...(scan.committedFrames + behind) {
                try folder.edit("store.db-wal") { $0[WALScan.pageOffset(ofFrame: frame) + 1_000] ^= 1 }
            }
        case .tornFrame:
            let end = WALScan.pageOffset(ofFrame: scan.committedFrames) + FileHeader.pageSize
            try folder.edit("store.db-wal") { $0 = $0.prefix(end - 100) }
        case .tornHead: try folder.edit("store.db-wal") { $0[16] ^= 1 }
        case .headAlone: try folder.edit("store.db-wal") { $0 = $0.prefix(WALScan.headSize) }
        }
        #expect(try await folder.storedText() == "committed")
    }
}
