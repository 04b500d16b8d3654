import DurableFiles
import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import Testing

@testable import Attachments

@Suite("An encrypted file")
struct SealedFileTests {
    let folder: TestFolder
    let key: SecretBytes
    var path: String { folder.url.appending(path: "file").path }

    init() throws {
        folder = try TestFolder()
        key = try AttachmentFolder.newKey()
    }

    private func write(_ bytes: [UInt8], in pieces: Int = 10_000) throws {
        var writer = try SealedFileWriter(creating: path, key, in: FileSystem())
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            try writer.write(Array(bytes[start..<min(bytes.count, start + pieces)]))
        }
        try writer.finish()
    }

    private func read() throws -> [UInt8] {
        let reader = try SealedFileReader(path, key)
        return try (0..<reader.layout.chunks).flatMap { try reader.content(of: $0) }
    }

    private func edit(_ body: (inout [UInt8]) -> Void) throws {
        let url = folder.url.appending(path: "file")
        var bytes = Array(try Data(contentsOf: url))
        body(&bytes)
        try Data(bytes).write(to: url)
    }

    @Test("has the size that its layout says", arguments: [0, 1, 65_535, 65_536, 65_537, 262_144])
    func layout(count: Int) throws {
        try write(content(count))
        let layout = SealedFileFormat.Layout(length: Int64(count))
        #expect(FileSystem.size(of: path) == layout.fileSize)
        #expect(SealedFileFormat.Layout(fileSize: layout.fileSize) == layout)
        let isSame = try read() == content(count)
        #expect(isSame)
    }

    /// What somebody without the key does to a file of four chunks.
    enum Attack: CaseIterable {
        case formatChanged, nonceFlipped, contentFlipped, tagFlipped, lastByteFlipped, lastChunkCut, cutInside,
            cutToHeader
        case chunksSwapped, chunkRepeated, chunkAppended, byteAppended, emptied, chunkLeftOut

        func carryOut(_ bytes: inout [UInt8]) {
            let chunk = SealedFileFormat.chunkCount
            let first = SealedFileFormat.offset(of: 0)
            let (second, third) = (first + chunk, first + 2 * chunk)
            switch self {
            case .formatChanged: bytes[8] = 2
            case .nonceFlipped: bytes[first] ^= 1
            case .contentFlipped: bytes[second + 100] ^= 0x80
            case .tagFlipped: bytes[second - 1] ^= 1
            case .lastByteFlipped: bytes[bytes.count - 1] ^= 1
            case .lastChunkCut: bytes.removeLast(bytes.count - first - 3 * chunk)
            case .cutInside: bytes.removeLast(1)
            case .cutToHeader: bytes.removeLast(bytes.count - first)
            case .chunksSwapped:
                let (a, b) = (Array(bytes[first..<second]), Array(bytes[second..<third]))
                bytes.replaceSubrange(first..<third, with: b + a)
            case .chunkRepeated: bytes.insert(contentsOf: bytes[first..<second], at: second)
            case .chunkAppended: bytes += bytes[first..<second]
            case .byteAppended: bytes.append(0)
            case .emptied: bytes = []
            case .chunkLeftOut: bytes.removeSubrange(second..<third)
            }
        }
    }

    @Test("that was changed by somebody without the key is damaged", arguments: Attack.allCases)
    func attacked(attack: Attack) throws {
        try write(content(200_000))
        try edit(attack.carryOut)
        let error = #expect(throws: StoreError.self) { try read() }
        #expect(error?.code == .damaged)
    }

    @Test("does not open with the key of another one")
    func otherKey() throws {
        try write(content(10))
        let other = try AttachmentFolder.newKey()
        let error = #expect(throws: StoreError.self) { try SealedFileReader(path, other).content(of: 0) }
        #expect(error?.code == .damaged)
    }

    @Test("is never written twice in the same way")
    func random() throws {
        try write(content(10))
        let first = try folder.contents()["file"]
        try FileManager.default.removeItem(atPath: path)
        try write(content(10))
        #expect(try folder.contents()["file"] != first)
    }

    @Test(
        "is gone on with behind its last whole chunk",
        arguments: [0, 1, 15, 16, 17, 65_580, 65_581, 100_000, 131_144, 131_145]
    )
    func resumed(left: Int) throws {
        let bytes = content(200_000)
        try write(bytes)
        try edit { $0.removeLast($0.count - left) }
        var writer = try SealedFileWriter(resuming: path, key, in: FileSystem())
        let whole = max(0, left - 16) / SealedFileFormat.chunkCount
        #expect(writer.length == Int64(whole * ChunkCipher.contentCount))
        try writer.write(Array(bytes[Int(writer.length)...]))
        try writer.finish()
        let isSame = try read() == bytes
        #expect(isSame)
    }

    @Test("is not gone on with behind a chunk that was changed, or that is the last one of a file that is complete")
    func resumedBehindDamage() throws {
        let bytes = content(131_072)
        try write(bytes)
        #expect(try SealedFileWriter(resuming: path, key, in: FileSystem()).length == 65_536)
        try FileManager.default.removeItem(atPath: path)
        try write(bytes)
        try edit { $0[100] ^= 1 }
        #expect(try SealedFileWriter(resuming: path, key, in: FileSystem()).length == 0)
    }
}
