import RemoteContract
import SeededNumbers
import SyncContract
import Testing

@testable import OfflineSync
import QueryEvaluation

/// A server's table as a list: it answers queries in pages and may be finer in time than what it tells.
private struct ListServer {
    var rows: [Record] = []
    var pageSize: Int
    /// How many steps of the server's clock make one millisecond of its answers.
    var stepsPerMillisecond: Int64 = 1
    var saysWhichPageIsLast = true
    private(set) var requests = 0

    init(pageSize: Int) { self.pageSize = pageSize }

    mutating func put(_ id: String, at instant: Int64, version: String = "1") {
        rows.removeAll { $0.id == .string(id) }
        rows.append(
            Record(
                id: .string(id),
                ["updatedAt": .date(Timestamp(milliseconds: instant)), "version": .string(version)]
            )
        )
    }

    mutating func page(_ query: Query) throws -> RemotePage {
        requests += 1
        var scaled = query
        scaled.predicate = query.predicate.map(scale)
        let all = try QueryEvaluator(todoTable).evaluate(scaled, over: rows)
        let page = Array(all.prefix(pageSize))
            .map { row in
                var row = row
                let milliseconds = (row.updatedAt?.milliseconds ?? 0) / stepsPerMillisecond
                row["updatedAt"] = .date(Timestamp(milliseconds: milliseconds))
                return row
            }
        return RemotePage(records: page, isKnownToBeLast: saysWhichPageIsLast && all.count <= page.count)
    }

    /// The client speaks of milliseconds; the rows are compared in the server's own steps.
    private func scale(_ predicate: QueryPredicate) -> QueryPredicate {
        switch predicate {
        case .all(let parts): .all(parts.map(scale))
        case .any(let parts): .any(parts.map(scale))
        case .comparison(let left, let comparison, .value(.date(let date))):
            .comparison(
                left,
                comparison,
                .value(.date(Timestamp(milliseconds: date.milliseconds * stepsPerMillisecond)))
            )
        default: predicate
        }
    }
}

@Suite("What an incremental pull asks for")
struct PullPagerTests {
    /// Pulls to the end and returns what was seen, by id, in the latest version.
    private func pull(
        _ server: inout ListServer,
        since token: Timestamp? = nil,
        between: (inout ListServer, Int) -> Void = { _, _ in }
    ) throws -> (seen: [String: String], token: Timestamp?) {
        var pager = PullPager(Query("TodoItem"), since: token)
        var seen: [String: String] = [:]
        while !pager.isFinished {
            let page = try server.page(pager.query)
            for record in page.records { seen[record.id.stringValue ?? ""] = record.version }
            pager.receive(page)
            between(&server, server.requests)
            try #require(server.requests < 10_000, "the pull does not end")
        }
        return (seen, pager.token)
    }

    @Test("rows that share one millisecond are all seen, whatever the page size", arguments: [1, 2, 3, 7, 50])
    func equalTimestamps(_ pageSize: Int) throws {
        var server = ListServer(pageSize: pageSize)
        for index in 0..<23 { server.put("r\(index)", at: 5) }
        for index in 0..<5 { server.put("s\(index)", at: 6) }
        let result = try pull(&server)
        #expect(result.seen.count == 28)
        #expect(result.token?.milliseconds == 6)
    }

    @Test("a server that never says which page is last is asked until a page is empty", arguments: [1, 2, 5])
    func withoutEnd(_ pageSize: Int) throws {
        var server = ListServer(pageSize: pageSize)
        server.saysWhichPageIsLast = false
        for index in 0..<9 { server.put("r\(index)", at: Int64(index / 3)) }
        #expect(try pull(&server).seen.count == 9)
    }

    @Test("a row that moves behind the page border while pages are fetched hides no other row")
    func movingRows() throws {
        var server = ListServer(pageSize: 4)
        for index in 0..<20 { server.put("r\(index)", at: Int64(index)) }
        let result = try pull(&server) { server, request in
            // Each request is followed by a change to a row that was already seen.
            if request <= 4 { server.put("r\(request)", at: 100 + Int64(request), version: "2") }
        }
        #expect(result.seen.count == 20)
        #expect(result.seen["r1"] == "2" && result.seen["r4"] == "2")
    }

    @Test("a row committed late within the last millisecond of a page is seen")
    func lateCommit() throws {
        var server = ListServer(pageSize: 3)
        for index in 0..<3 { server.put("m\(index)", at: Int64(index)) }
        server.put("z", at: 9)
        let result = try pull(&server) { server, request in
            // Its id comes before the last id of the page that was just fetched.
            if request == 1 { server.put("a-late", at: 2) }
        }
        #expect(result.seen["a-late"] != nil)
        #expect(result.seen.count == 5)
    }

    @Test("a row that appears in the millisecond of the token after the pull is seen by the next")
    func resumeIncludesTheToken() throws {
        var server = ListServer(pageSize: 10)
        server.put("m", at: 5)
        let first = try pull(&server)
        server.put("a", at: 5)
        #expect(try pull(&server, since: first.token).seen["a"] != nil)
    }

    @Test("rows of a server with finer instants are all seen, also when a page lies within a millisecond")
    func finerInstants() throws {
        for pageSize in [1, 2, 4, 9] {
            var server = ListServer(pageSize: pageSize)
            server.stepsPerMillisecond = 10
            for index in 0..<30 { server.put("r\(index * 7 % 30)", at: 41 + Int64(index) / 4) }
            #expect(try pull(&server).seen.count == 30, "page size \(pageSize)")
        }
    }

    @Test("an idle pull takes one request when the server says which page is last")
    func idlePull() throws {
        var server = ListServer(pageSize: 10)
        server.put("a", at: 5)
        let token = try pull(&server).token
        let before = server.requests
        _ = try pull(&server, since: token)
        #expect(server.requests - before == 1)
    }

    @Test("random tables, changes and interruptions lose no row")
    func randomised() throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var server = ListServer(pageSize: Int.random(in: 1...6, using: &random))
            server.stepsPerMillisecond = [1, 1, 4].randomElement(using: &random) ?? 1
            server.saysWhichPageIsLast = Bool.random(using: &random)
            var clock: Int64 = 1
            for index in 0..<Int.random(in: 0...40, using: &random) {
                if Int.random(in: 0...2, using: &random) == 0 { clock += 1 }
                server.put("r\(index)", at: clock)
            }
            // Several pulls, each interrupted after some pages; what was seen must be everything in the end.
            var token: Timestamp?
            var seen: Set<String> = []
            for _ in 0..<6 {
                var pager = PullPager(Query("TodoItem"), since: token)
                for _ in 0..<Int.random(in: 1...8, using: &random) where !pager.isFinished {
                    let page = try server.page(pager.query)
                    for record in page.records { seen.insert(record.id.stringValue ?? "") }
                    pager.receive(page)
                }
                token = pager.token
            }
            let result = try pull(&server, since: token)
            seen.formUnion(result.seen.keys)
            #expect(seen.count == server.rows.count, "seed \(seed)")
        }
    }
}
