import RemoteContract
import SyncContract
import Testing

@testable import DatasyncHTTP

@Suite("A pull of what changed that could pass rows over")
struct PassedOverChangeTests {
    @Test("brings what an empty page stands before", arguments: [nil, 50, 10] as [Int?], [0, 50, 70])
    func emptyPages(_ pageSize: Int?, _ start: Int) async throws {
        let server = makeServerOfPages()
        server.with { $0.hidden = Set((start..<start + 50).map { "r\(100 + $0)" }) }
        var mirror = try Mirror(server, pageSize: pageSize)
        try await mirror.pull()
        #expect(mirror.versions.count == 70)
    }

    @Test("ends with an error behind an empty page whose link leads nowhere")
    func noLink() async throws {
        let remote = try DatasyncRemote.recording(
            .datasync,
            into: RecordingTransport(answer: #"{"items":[],"count":9,"nextLink":"x"}"#)
        )
        for position: PullPosition in [.everything, .changes(since: nil)] {
            let error = await #expect(throws: RemoteError.self) {
                try await remote.page(Query("todo"), of: Mirror.table, at: position, pageSize: nil)
            }
            #expect(error?.code == .invalidResponse)
        }
    }

    /// Pulls until an error ends it.
    private func pullToError(_ mirror: inout Mirror) async throws -> RemoteError? {
        do {
            try await mirror.pull(pages: 100)
            return nil
        } catch let error as RemoteError {
            return error
        }
    }

    @Test("ends with an error where rows come in another order, and its cursor passes none", arguments: [nil, 50, 20])
    func disorder(_ pageSize: Int?) async throws {
        let server = makeServerOfPages(.withoutOrder)
        // By id, their stamps rise; only the last one of a page was changed since.
        server.with { $0.write("r\(99 + (pageSize ?? 50))") }
        var mirror = try Mirror(server, pageSize: pageSize)
        let error = try await pullToError(&mirror)
        #expect(error?.code == .invalidResponse)
        #expect(error?.message.contains("passes rows over") == true)
        server.with { $0.settings.ignoresOrder = false }
        try await mirror.pull()
        #expect(mirror.versions == server.versions)
    }

    @Test("likewise in its middle, behind pages in order")
    func laterDisorder() async throws {
        let server = makeServerOfPages(.withoutOrder)
        server.with { $0.write("r172") }
        var mirror = try Mirror(server, pageSize: 25)
        #expect(try await pullToError(&mirror)?.message.contains("passes rows over") == true)
        #expect(mirror.cursor != nil, "what was seen in order counts")
        #expect(mirror.versions["r173"] != nil, "what was passed over, and then found, is not kept back")
        server.with { $0.settings.ignoresOrder = false }
        try await mirror.pull()
        #expect(mirror.versions == server.versions)
    }

    @Test("ends with an error where rows of one second come in any order")
    func oneSecond() async throws {
        var settings = StampServer.Settings.withoutOrder
        settings.stampStep = 10_000
        let server = makeServerOfPages(settings)
        server.with { state in
            let second = state.now
            for index in 0..<120 { state.write("r\(100 + index)", stamp: second + Int64(index * 77 % 120) * 10_000) }
            state.pass(milliseconds: 60_000)
        }
        var mirror = try Mirror(server)
        #expect(try await pullToError(&mirror)?.code == .invalidResponse)
        server.with { $0.settings.ignoresOrder = false }
        try await mirror.pull()
        #expect(mirror.versions == server.versions)
    }

    @Test("ends with an error where rows of one second run backwards and nothing is counted", arguments: [nil, 50, 20])
    func uncountedSecond(_ pageSize: Int?) async throws {
        var settings = StampServer.Settings.withoutOrder
        settings.tellsEnd = false
        settings.pageSize = 50
        let server = StampServer(settings)
        server.with { state in
            let second = state.now
            for index in 0..<120 { state.write("r\(100 + index)", stamp: second + Int64(900 - index * 7) * 10_000) }
            state.pass(milliseconds: 60_000)
        }
        var mirror = try Mirror(server, pageSize: pageSize)
        let error = try await pullToError(&mirror)
        #expect(error?.code == .invalidResponse)
        #expect(error?.message.contains("from the newest to the oldest") == true)
        server.with { $0.settings.ignoresOrder = false }
        try await mirror.pull()
        #expect(mirror.versions == server.versions)
    }

    @Test("goes on where rows leave with every page", arguments: [nil, 50, 20], [1, 10_000_000] as [Int64])
    func steadyRemovals(_ pageSize: Int?, _ stampDistance: Int64) async throws {
        let server = makeServerOfPages(stampDistance: stampDistance)
        var mirror = try Mirror(server, pageSize: pageSize)
        try await mirror.pull(pages: 200) {
            server.with { state in
                for id in state.rows.keys.sorted().suffix(3) { state.rows[id] = nil }
            }
        }
        #expect(Set(mirror.versions.keys).isSuperset(of: server.versions.keys))
        #expect(!server.versions.isEmpty)
    }

    @Test("is not mistaken about rows that leave meanwhile", arguments: [nil, 50, 7], [0, 1, 10_000_000] as [Int64])
    func removals(_ pageSize: Int?, _ stampDistance: Int64) async throws {
        let server = makeServerOfPages(stampDistance: stampDistance)
        server.with { $0.unstamped = ["r103", "r160"] }
        var mirror = try Mirror(server, pageSize: pageSize)
        var page = 0
        try await mirror.pull {
            page += 1
            guard page % 5 == 1, page < 20 else { return }
            server.with { state in
                for id in ["r\(150 + page)", "r\(219 - page)", "r\(99 + page)"] { state.rows[id] = nil }
                state.write("r\(140 + page)")
            }
        }
        #expect(Set(mirror.versions.keys).isSuperset(of: server.versions.keys))
        try await mirror.pull()
        #expect(server.versions.allSatisfy { mirror.versions[$0.key] == $0.value })
    }
}
