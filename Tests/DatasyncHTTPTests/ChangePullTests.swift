import Foundation
import HTTPTransport
import RemoteContract
import SeededNumbers
import SyncContract
import Testing

@testable import DatasyncHTTP

@Suite("Pulls of what changed, while others write")
struct ChangePullTests {
    private static let settings: [StampServer.Settings] = {
        var all: [StampServer.Settings] = []
        for step: Int64 in [10_000, 10, 1] {
            for tellsTime in [true, false] {
                var settings = StampServer.Settings(stampStep: step)
                settings.tellsTime = tellsTime
                settings.commitDelay = 1_500
                settings.latency = 400
                settings.pageSize = 50
                settings.tellsEnd = step != 10
                settings.ignoresCaseOfIDs = step == 1
                all.append(settings)
            }
        }
        return all
    }()

    /// Writers and a client that pulls all the time; how many rows it lacks in the end.
    private func lost(_ settings: StampServer.Settings, seed: UInt64, settlingTime: Duration) async throws -> Int {
        let server = StampServer(settings, seed: seed)
        var mirror = try Mirror(server, settlingTime: settlingTime)
        server.with { state in
            state.duringRequest = { state in
                for _ in 0..<Int.random(in: 0...3, using: &state.random) { state.writeAnything() }
            }
        }
        let pages = { server.with { Int.random(in: 1...40, using: &$0.random) } }
        while server.with({ $0.writes }) < SeededGenerator.rounds(600, all: 1_500) {
            mirror.pageSize = server.with { [nil, 7, 20, 50].randomElement(using: &$0.random) ?? nil }
            try await mirror.pull(pages: pages()) {
                server.with { state in
                    for _ in 0..<Int.random(in: 0...3, using: &state.random) { state.writeAnything() }
                    state.pass(milliseconds: Int64.random(in: 0...300, using: &state.random))
                }
            }
        }
        server.with { state in
            state.duringRequest = nil
            state.pass(milliseconds: 2_000)
        }
        try await mirror.pull()
        let expected = server.versions
        #expect(mirror.versions.count <= expected.count)
        return expected.count { mirror.versions[$0.key] != $0.value }
    }

    @Test("lose nothing that becomes visible late, whatever stamps and dates are like", arguments: settings)
    func lateCommits(_ settings: StampServer.Settings) async throws {
        let seed = SeededGenerator.seed()
        #expect(try await lost(settings, seed: seed, settlingTime: .seconds(10)) == 0, "seed \(seed)")
    }

    @Test("lose rows without a settling time: it is what keeps them")
    func withoutSettlingTime() async throws {
        let settings = try #require(Self.settings.first)
        var lost = 0
        for seed in 1...3 { lost += try await self.lost(settings, seed: UInt64(seed), settlingTime: .zero) }
        #expect(lost > 0)
    }

    @Test("find rows stamped in the future once, and others all the same")
    func futureStamps() async throws {
        let server = StampServer()
        var mirror = try Mirror(server)
        server.with { state in
            state.write("future", stamp: state.now + 86_400_000 * 10_000)
            state.write("now")
        }
        try await mirror.pull()
        for index in 0..<5 {
            server.with { state in
                state.pass(milliseconds: 60_000)
                state.write("r\(index)")
            }
            try await mirror.pull()
            #expect(mirror.versions == server.versions)
        }
    }

    @Test("find what is written after a clock was set back, by less than the settling time")
    func clockSetBack() async throws {
        let seed = SeededGenerator.seed()
        let server = StampServer(StampServer.Settings(commitDelay: 1_000), seed: seed)
        var mirror = try Mirror(server)
        for _ in 0..<60 {
            server.with { state in
                for _ in 0..<5 { state.writeAnything() }
                state.pass(milliseconds: 15_000)
            }
            try await mirror.pull()
            // Nothing is under way: the clock goes back, and rows are stamped behind those that were read.
            server.with { $0.now -= 8_000 * 10_000 }
        }
        server.with { $0.pass(milliseconds: 2_000) }
        try await mirror.pull()
        #expect(mirror.versions == server.versions, "seed \(seed)")
    }

    @Test(
        "add what stamps lag behind the server's date, once a write to some table has shown it; cursors keep it",
        arguments: [Mirror.table.name, "another"]
    )
    func laggingStamps(_ writtenTable: String) async throws {
        var settings = StampServer.Settings(commitDelay: 1_500)
        settings.stampLead = -60_000
        let server = StampServer(settings)
        var mirror = try Mirror(server)
        showLag(of: server, to: mirror, by: writtenTable)
        for index in 0..<4 {
            server.with { state in
                // Nothing is written for long, so that only the date says what is settled.
                state.write("early\(index)", delay: 0)
                state.write("late\(index)", delay: 1_400)
                state.pass(milliseconds: 10)
                state.write("newest\(index)", delay: 0)
            }
            try await mirror.pull()
            server.with { $0.pass(milliseconds: 1_500) }
            try await mirror.pull()
            #expect(mirror.versions == server.versions)
            // Another process goes on from the cursor.
            let (cursor, versions) = (mirror.cursor, mirror.versions)
            #expect(cursor?.contains(" lag 59") == true)
            mirror = try Mirror(server)
            (mirror.cursor, mirror.versions) = (cursor, versions)
        }
    }

    /// Lets a write to a table show by how much a server's stamps lag behind its date.
    private func showLag(of server: StampServer, to mirror: Mirror, by table: String = Mirror.table.name) {
        let (now, lead) = server.with { ($0.now / 10_000, $0.settings.stampLead) }
        let response = ServerResponse(
            status: 200,
            fields: [.date: Date(timeIntervalSince1970: Double(now / 1_000)).httpText],
            body: [],
            server: "example.org",
            duration: .milliseconds(20)
        )
        mirror.remote.learn(
            Timestamp(milliseconds: now + lead),
            of: TableDefinition(table, columns: []),
            from: response
        )
    }

    @Test("go back by what stamps lag more than the pull before has reckoned with, once")
    func lagShownLate() async throws {
        let server = StampServer(StampServer.Settings(stampLead: -60_000))
        var mirror = try Mirror(server)
        server.with { state in
            state.write("late", delay: 1_400)
            state.pass(milliseconds: 10)
            state.write("newest", delay: 0)
        }
        try await mirror.pull()
        server.with { $0.pass(milliseconds: 1_500) }
        showLag(of: server, to: mirror)
        try await mirror.pull()
        #expect(mirror.versions == server.versions)
        server.with { state in
            state.pass(milliseconds: 200_000)
            state.rowsSent = 0
        }
        for _ in 0..<3 { try await mirror.pull() }
        #expect(server.with { $0.rowsSent } <= 3 * 2, "a pull that goes back each time would bring more and more")
    }

    @Test("ask a server without dates for its newest row before the first page, not after it")
    func newestRowFirst() async throws {
        var settings = StampServer.Settings()
        settings.tellsTime = false
        let server = StampServer(settings)
        var mirror = try Mirror(server)
        server.with { state in
            state.write("late", delay: 8_000)
            state.pass(milliseconds: 1_000)
            state.write("first")
            // After the page was read, before anything else is asked for.
            state.duringRequest = { state in
                state.pass(milliseconds: 20_000)
                state.write("newest")
                state.duringRequest = nil
            }
        }
        try await mirror.pull()
        try await mirror.pull()
        #expect(mirror.versions == server.versions)
    }

    @Test("find what is stamped later than anything seen, though nothing has shown that stamps lag behind the date")
    func unknownLag() async throws {
        let server = StampServer(StampServer.Settings(stampLead: -60_000))
        var mirror = try Mirror(server)
        server.with { state in
            state.write("a")
            state.pass(milliseconds: 100_000)
        }
        try await mirror.pull()
        server.with { $0.write("b") }
        try await mirror.pull()
        #expect(mirror.versions == server.versions)
    }

    @Test("go on behind the last page that came when they are interrupted", arguments: [1, 2, 9])
    func interruptions(_ pageSize: Int) async throws {
        let server = StampServer(StampServer.Settings(stampStep: 10))
        var mirror = try Mirror(server, pageSize: pageSize)
        server.with { state in
            for index in 0..<60 { state.write("r\(index)", stamp: state.now + Int64(index / 5) * 9_000) }
            state.pass(milliseconds: 60_000)
        }
        for pages in [1, 4, 3, 5, 2, 4, 6] { try await mirror.pull(pages: pages) }
        try await mirror.pull()
        #expect(mirror.versions == server.versions)
    }

    @Test("reckon with the time that the first request took")
    func slowRequests() async throws {
        let server = StampServer()
        var mirror = try Mirror(server)
        server.with { state in
            state.write("a")
            // The page is read, then it takes a minute to arrive; meanwhile rows are written and become visible.
            state.duringRequest = { state in
                state.write("b")
                state.pass(milliseconds: 20_000)
                state.write("c")
                state.pass(milliseconds: 40_000)
                state.duringRequest = nil
            }
        }
        try await mirror.pull(pages: 1)
        try await mirror.pull()
        #expect(mirror.versions == server.versions)
    }
}

@Suite("Pulls of what changed, page by page")
struct ChangePageTests {
    @Test("bring one instant larger than a page, though its rows move away", arguments: [10_000, 10, 1] as [Int64])
    func oneInstant(_ step: Int64) async throws {
        for pageSize in [1, 2, 7, 50] {
            var settings = StampServer.Settings(stampStep: step)
            settings.ignoresCaseOfIDs = step == 10
            let server = StampServer(settings)
            var mirror = try Mirror(server, pageSize: pageSize)
            server.with { state in
                for index in 0..<100 {
                    state.write(index % 2 == 0 ? "r\(index)" : "R\(index)", stamp: state.now + Int64(index * 97))
                }
                state.pass(milliseconds: 60_000)
            }
            var moved = 0
            try await mirror.pull {
                guard moved < 20 else { return }
                server.with { $0.write(moved % 2 == 0 ? "r\(moved)" : "R\(moved)") }
                moved += 1
            }
            #expect(mirror.versions.count == 100, "page size \(pageSize)")
            // The last one may have moved after the last page.
            try await mirror.pull()
            #expect(mirror.versions == server.versions)
        }
    }

    @Test("ask once and receive nothing when nothing happened", arguments: [1, 2, 9, 100, 1_000, nil])
    func idle(_ pageSize: Int?) async throws {
        for step: Int64 in [10_000, 1] {
            let server = StampServer(StampServer.Settings(stampStep: step, pageSize: 1_000))
            var mirror = try Mirror(server, pageSize: pageSize)
            server.with { state in
                // The last instant has more rows than a page.
                for index in 0..<1_500 { state.write("r\(index)", stamp: state.now + Int64(index % 3)) }
                state.pass(milliseconds: 60_000)
            }
            #expect(try await mirror.pull() >= 1_500)
            let before = server.requestCount
            #expect(try await mirror.pull() == 0)
            #expect(server.requestCount == before + 1)
            #expect(mirror.versions == server.versions)
        }
    }

    @Test("bring everything whatever the sizes of pages are, asked for and sent", arguments: [1, 2, 3, 10, 999, 1_000])
    func pageSizes(_ pageSize: Int) async throws {
        for (served, tellsEnd) in [(1, true), (2, false), (5, true), (1_000, false)] {
            var settings = StampServer.Settings(stampStep: 10, pageSize: served)
            settings.tellsEnd = tellsEnd
            let server = StampServer(settings)
            var mirror = try Mirror(server, pageSize: pageSize)
            server.with { state in
                for index in 0..<150 { state.write("r\(index)", stamp: state.now + Int64(index / 4) * 5_000) }
            }
            try await mirror.pull()
            #expect(mirror.versions == server.versions, "\(served) \(tellsEnd)")
        }
    }

    @Test("end with an error where the server does not filter: its first page would come for ever")
    func unfiltered() async throws {
        var settings = StampServer.Settings(pageSize: 5)
        settings.ignoresFilters = true
        let server = StampServer(settings)
        var mirror = try Mirror(server)
        server.with { state in
            for index in 0..<20 { state.write("r\(index)", stamp: state.now + Int64(index) * 10_000) }
        }
        var error: RemoteError?
        do {
            try await mirror.pull(pages: 50)
        } catch let thrown as RemoteError {
            error = thrown
        }
        #expect(error?.code == .invalidResponse)
    }

    @Test("go on from what earlier versions stored, the greatest stamp seen, less the settling time")
    func earlierToken() async throws {
        let server = StampServer()
        var mirror = try Mirror(server)
        server.with { state in
            state.write("old")
            state.pass(milliseconds: 60_000)
            // Stamped before the newest, visible after it was read.
            state.write("late", stamp: state.now - 5_000 * 10_000)
            state.write("newest")
        }
        let newest = server.with { ($0.rows["newest"]?.stamp ?? 0) / 10_000 }
        mirror.cursor = Timestamp(milliseconds: newest).text
        #expect(try await mirror.pull() == 2)
        #expect(Set(mirror.versions.keys) == ["late", "newest"])
        #expect(server.with { $0.requests.count } == 1)
    }

    @Test("start anew from a cursor that cannot be read", arguments: ["", "?", "settled", "settled x", "settled 2024"])
    func unreadableCursor(_ cursor: String) async throws {
        let server = StampServer()
        var mirror = try Mirror(server)
        server.with { $0.write("a") }
        mirror.cursor = cursor
        #expect(try await mirror.pull() == 1)
    }

    @Test("refuse a position that no page gave")
    func unknownPosition() async throws {
        let mirror = try Mirror(StampServer())
        let error = await #expect(throws: RemoteError.self) {
            try await mirror.remote.page(Query("todo"), of: Mirror.table, at: .next("{}"), pageSize: nil)
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test("ask for a page larger than the server allows once", arguments: [1, 3, 10])
    func largestPage(_ maximum: Int) async throws {
        let server = StampServer(StampServer.Settings(maximumTop: maximum))
        var mirror = try Mirror(server, pageSize: 1_000)
        server.with { state in
            for index in 0..<20 { state.write("r\(index)", stamp: state.now + Int64(index) * 10_000) }
            state.pass(milliseconds: 60_000)
        }
        try await mirror.pull()
        #expect(mirror.versions == server.versions)
        let requests = server.requestCount
        #expect(try await mirror.pull() == 0)
        #expect(server.requestCount == requests + 1)
    }
}

@Suite("Pulls of everything")
struct FullPullTests {
    private static let table = TableDefinition("todo", columns: [])

    private func pull(_ server: StampServer, _ query: Query = Query("todo"), pageSize: Int?) async throws -> [PullPage]
    {
        let remote = try Mirror(server).remote
        var pages: [PullPage] = []
        var position: PullPosition? = .everything
        while let current = position {
            pages.append(try await remote.page(query, of: Self.table, at: current, pageSize: pageSize))
            position = pages.last?.next
        }
        return pages
    }

    @Test("bring every row by id, whatever the page size and the order of ids", arguments: [1, 2, 7, 1_000, nil])
    func everything(_ pageSize: Int?) async throws {
        for ignoresCase in [false, true] {
            var settings = StampServer.Settings(pageSize: 30)
            settings.ignoresCaseOfIDs = ignoresCase
            let server = StampServer(settings)
            server.with { state in for index in 0..<90 { state.write(index % 2 == 0 ? "a\(index)" : "B\(index)") } }
            let pages = try await pull(server, pageSize: pageSize)
            #expect(Set(pages.flatMap(\.records).map(\.id)).count == 90)
            #expect(pages.allSatisfy { $0.cursor == nil })
            #expect(try await pull(server, Query("todo").limited(to: 11), pageSize: 4).flatMap(\.records).count == 11)
        }
    }
}
