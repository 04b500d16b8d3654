import Foundation
import OfflineSync
import RemoteContract
import SQLCipherStoreTestSupport
import Testing

@testable import Attachments

@Suite("A large file")
struct AttachmentMemoryTests {
    static let size = 200 << 20

    #if os(Linux)
    // In a process of its own: what other tests need would be measured as well.
    @Test("is taken in, sent, fetched and read in constant memory")
    func constantMemory() async {
        await #expect(processExitsWith: .success) {
            let folder = try TestFolder()
            let url = folder.url.appending(path: "large")
            #expect(FileManager.default.createFile(atPath: url.path, contents: nil))
            try FileHandle(forWritingTo: url).truncate(atOffset: UInt64(Self.size))
            let server = Zeros()
            let options = AttachmentOptions(transport: server, spaceLimit: 0)
            let device = try await PhotoDevice(in: folder, options: options)
            _ = try await device.attachments.add(Data([1]))
            let before = try Self.peak()
            let id = try await device.attachments.add(contentsOf: url)
            try await device.coupons.insert(Coupon(photo: id))
            _ = try await device.context.push()
            try await device.attachments.settle()
            #expect(try await device.attachments.state(of: id) == .synced)
            _ = try await device.addAndSend([1])
            #expect(try await device.attachments.state(of: id) == .remote)
            var count = 0
            for try await piece in device.attachments.contents(of: id) { count += piece.count }
            #expect(count == Self.size)
            let grown = try Self.peak() - before
            print("\(Self.size >> 20) MB, \(grown) kB")
            #expect(grown < 32_000)
            await device.close()
        }
    }

    /// The most memory that this process has had, in kB.
    static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.split(separator: " ").dropLast().last ?? ""))
    }
    #endif
}

/// A server that has every file as so many zeros, once something was sent.
private actor Zeros: AttachmentTransport {
    private var lengths: [AttachmentID: Int64] = [:]

    func state(of id: AttachmentID) async throws -> AttachmentUploadState {
        lengths[id].map { .complete($0) } ?? .missing
    }

    func upload(
        _ id: AttachmentID,
        from offset: Int64,
        length: Int64,
        content: @escaping @Sendable () async throws -> [UInt8]?
    ) async throws {
        var count: Int64 = 0
        while let bytes = try await content() { count += Int64(bytes.count) }
        lengths[id] = count
    }

    func download(
        _ id: AttachmentID,
        from offset: Int64,
        receive: @escaping @Sendable (AttachmentVersion, [UInt8]) async throws -> Void
    ) async throws {
        let length = lengths[id] ?? 0
        let piece = [UInt8](repeating: 0, count: 1 << 16)
        var position = offset
        while position < length {
            let bytes = Array(piece.prefix(Int(min(length - position, 1 << 16))))
            try await receive(AttachmentVersion(length: length), bytes)
            position += Int64(bytes.count)
        }
    }

    func delete(_ id: AttachmentID) async throws { lengths[id] = nil }
}
