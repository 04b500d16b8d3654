import DatasyncEmulator
import DatasyncHTTP
import Foundation
import HTTPTransport
import RemoteContract
import Synchronization
import Testing

@Suite("Attachments go up and come down over sockets", .timeLimit(.minutes(5)))
struct AttachmentTransferTests {
    @Test("whole, whatever their size", arguments: [0, 1, 65_536, 1_000_003])
    func whole(_ size: Int) async throws {
        try await AttachmentService.with { service async throws in
            let files = try service.remote.attachments()
            let content = TestContent(size)
            let id = AttachmentID.make()
            #expect(try await files.state(of: id) == .missing)
            try await files.send(id, content)
            #expect(try await files.state(of: id) == .complete(Int64(size)))
            #expect(try service.stored(id) == content.bytes)
            let received = Received()
            try await files.download(id, from: 0) { received.take($0, $1) }
            #expect(received.bytes == content.bytes)
            #expect(received.lengths == [Int64(size)])
            try await files.delete(id)
            try await files.delete(id)
            #expect(try await files.state(of: id) == .missing)
            #expect(try await files.failure().code == .notFound)
        }
    }

    @Test("from any byte on, the end included")
    func fromAnyByte() async throws {
        try await AttachmentService.with { service async throws in
            let files = try service.remote.attachments()
            let content = TestContent(300_000)
            let id = AttachmentID.make()
            try await files.send(id, content)
            for offset in [1, 65_536, 299_999, 300_000] {
                let received = Received()
                try await files.download(id, from: Int64(offset)) { received.take($0, $1) }
                #expect(received.bytes == Array(content.bytes[offset...]))
                #expect(received.lengths == [300_000])
            }
        }
    }

    @Test("cut at every kind of place, they go on where they broke off")
    func cutUploads() async throws {
        try await AttachmentService.with { service async throws in
            let files = try service.remote.attachments()
            let content = TestContent(500_000)
            for place in [0, 1, 65_536, 499_999] {
                let id = AttachmentID.make()
                service.emulator.inject(.cutRequest(after: place) { $0.method == "PATCH" })
                #expect(try await files.sendAll(id, content) == 2)
                #expect(try service.stored(id) == content.bytes)
            }
            // The server has it, and its answer was lost.
            let id = AttachmentID.make()
            service.emulator.inject(.applyThenDrop { $0.method == "PATCH" })
            #expect(try await files.sendAll(id, content) == 1)
            #expect(try service.stored(id) == content.bytes)
        }
    }

    @Test("answers that are cut, reset or slow at every kind of place come whole in the end")
    func cutDownloads() async throws {
        try await AttachmentService.with { service async throws in
            let files = try service.remote.attachments()
            let content = TestContent(500_000)
            let id = AttachmentID.make()
            try await files.send(id, content)
            for place in [0, 1, 100, 300, 70_000, 500_000] {
                service.emulator.inject(.cut(after: place, times: 2) { $0.method == "GET" })
                service.emulator.inject(.reset(after: place, times: 2) { $0.method == "GET" })
                let (received, attempts) = try await files.fetchAll(id)
                #expect(received.bytes == content.bytes)
                #expect(attempts > 1, "nothing was cut after \(place) bytes")
            }
            service.emulator.inject(.dribble(50_000, every: .milliseconds(1)) { $0.method == "GET" })
            #expect(try await files.fetchAll(id).received.bytes == content.bytes)
        }
    }

    @Test("an offset that is not the server's is a conflict, and nothing is changed")
    func offsets() async throws {
        try await AttachmentService.with { service async throws in
            let files = try service.remote.attachments()
            let content = TestContent(100_000)
            let id = AttachmentID.make()
            for offset in [Int64(1), 100_000] {
                let error = await #expect(throws: RemoteError.self) { try await files.send(id, content, from: offset) }
                #expect(error?.code == .conflict)
            }
            service.emulator.inject(.cutRequest(after: 60_000) { $0.method == "PATCH" })
            await #expect(throws: RemoteError.self) { try await files.send(id, content) }
            #expect(try await files.state(of: id) == .partial(60_000))
            for offset in [Int64(0), 59_999, 60_001] {
                let error = await #expect(throws: RemoteError.self) { try await files.send(id, content, from: offset) }
                #expect(error?.code == .conflict)
                #expect(error?.message.contains("60000 bytes") == true)
            }
            #expect(try await files.failure().code == .notFound)
            try await files.send(id, content, from: 60_000)
            // Whole already, and sent once more.
            for offset in [Int64(0), 100_000] {
                let error = await #expect(throws: RemoteError.self) { try await files.send(id, content, from: offset) }
                #expect(error?.code == .conflict)
            }
            #expect(try service.stored(id) == content.bytes)
        }
    }

    @Test("what the caller's closures throw ends the request and comes out as it is")
    func closures() async throws {
        struct Stop: Error {}
        try await AttachmentService.with { service async throws in
            let files = try service.remote.attachments()
            let content = TestContent(1_000_000)
            let id = AttachmentID.make()
            let pieces = content.pieces()
            let count = Mutex(0)
            await #expect(throws: Stop.self) {
                try await files.upload(id, from: 0, length: 1_000_000) {
                    guard
                        count.withLock({
                            $0 += 1
                            return $0 < 4
                        })
                    else { throw Stop() }
                    return try await pieces()
                }
            }
            #expect(try await files.sendAll(id, content) == 1)
            await #expect(throws: Stop.self) { try await files.download(id, from: 0) { _, _ in throw Stop() } }
            #expect(try await files.fetchAll(id).received.bytes == content.bytes)
        }
    }

    @Test("a body that is not as long as was said is refused, and the file is not complete")
    func wrongLength() async throws {
        try await AttachmentService.with { service async throws in
            let files = try service.remote.attachments()
            for length in [Int64(99_999), 100_001] {
                let id = AttachmentID.make()
                let error = await #expect(throws: RemoteError.self) {
                    try await files.upload(id, from: 0, length: length, content: TestContent(100_000).pieces())
                }
                #expect(error?.code == .invalidRequest)
                if case .complete = try await files.state(of: id) { Issue.record("the file is complete") }
            }
        }
    }

    @Test("a renewed token is used at once where nothing was sent, and else after asking what is there")
    func tokens() async throws {
        let count = Mutex(0)
        let provider: DatasyncRemote.TokenProvider = {
            AccessToken(
                count.withLock {
                    $0 += 1
                    return $0
                } % 2 == 1 ? "old" : "new"
            )
        }
        try await AttachmentService.with(users: ["new": "kate"], token: provider) { service async throws in
            let files = try service.remote.attachments()
            let content = TestContent(400_000)
            let id = AttachmentID.make()
            let error = await #expect(throws: RemoteError.self) { try await files.send(id, content) }
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("token") == true)
            #expect(try await files.sendAll(id, content) == 1)
            #expect(count.withLock { $0 } == 2)
        }
        count.withLock { $0 = 0 }
        try await AttachmentService.with(users: ["new": "kate"], token: provider) { service async throws in
            #expect(try await service.remote.attachments().state(of: .make()) == .missing)
            #expect(count.withLock { $0 } == 2)
        }
    }

    @Test("users have files of their own")
    func users() async throws {
        let users = ["a": "kate", "b": "paul"]
        let token: DatasyncRemote.TokenProvider = { AccessToken("a") }
        try await AttachmentService.with(users: users, token: token) { service async throws in
            let files = try service.remote.attachments()
            let id = AttachmentID.make()
            try await files.send(id, TestContent(10))
            let url = try #require(await service.server.url)
            let other = try DatasyncRemote(baseURL: url, dialect: .datasync) { AccessToken("b") }
            #expect(try await other.attachments().state(of: id) == .missing)
            let stranger = try DatasyncRemote(baseURL: url, dialect: .datasync) { AccessToken("c") }
            let error = await #expect(throws: RemoteError.self) {
                try await stranger.attachments().state(of: id)
            }
            #expect(error?.code == .unauthorized)
        }
    }
}
