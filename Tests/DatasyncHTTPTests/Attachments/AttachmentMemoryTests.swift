#if os(Linux)
import DatasyncEmulator
import DatasyncHTTP
import Foundation
import HTTPTransport
import RemoteContract
import Synchronization
import Testing

@Suite("Attachments and memory", .timeLimit(.minutes(10)))
struct AttachmentMemoryTests {
    @Test("a file of any size takes no more memory than a piece of it, on both sides")
    func flat() async {
        // A process of its own, because it is the memory of the whole that is looked at.
        await #expect(processExitsWith: .success) {
            let size: Int64 = 200 << 20
            try await AttachmentService.with { service in
                let files = try service.remote.attachments()
                let (small, large) = (AttachmentID.make(), AttachmentID.make())
                // What is there once and for all.
                try await Self.carry(small, 8 << 20, files)
                let before = try Self.peak()
                try await Self.carry(large, size, files)
                let growth = try Self.peak() - before
                print("\(size >> 20) MB up and down: \(growth) KB more at the peak, over \(before) KB")
                #expect(growth < 16 * 1_024)
            }
        }
    }

    private static func carry(_ id: AttachmentID, _ size: Int64, _ files: some AttachmentTransport) async throws {
        let sent = Mutex(Int64(0))
        try await files.upload(id, from: 0, length: size) {
            let first = sent.withLock { sent in
                defer { sent = min(size, sent + 65_536) }
                return sent
            }
            return first == size ? nil : piece(first, count: Int(min(65_536, size - first)))
        }
        let received = Mutex(Int64(0))
        try await files.download(id, from: 0) { version, bytes in
            let first = received.withLock { received in
                defer { received += Int64(bytes.count) }
                return received
            }
            #expect(version.length == size && bytes == piece(first, count: bytes.count))
        }
        #expect(received.withLock { $0 } == size)
    }

    /// The bytes of the file at a place; no two places of it begin alike.
    private static func piece(_ first: Int64, count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            for index in 0..<count {
                let place = UInt64(bitPattern: first) &+ UInt64(index)
                unsafe buffer[index] = UInt8(
                    truncatingIfNeeded: (place / 8 &* 0x9E37_79B9_7F4A_7C15) >> (place % 8 * 8)
                )
            }
            filled = count
        }
    }

    /// The most memory that this process has had, in KB.
    private static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.split(separator: " ")[1]))
    }
}
#endif
