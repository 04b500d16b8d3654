import Foundation
import HTTPTransport
import RemoteContract
import SyncContract
import Testing

@testable import DatasyncHTTP

/// What a client has of a server's table: versions by id, and the cursor of its pulls.
struct Mirror {
    static let table = TableDefinition("todo", columns: [])

    let remote: DatasyncRemote
    var pageSize: Int?
    var versions: [String: String] = [:]
    var cursor: String?

    init(_ server: StampServer, settlingTime: Duration = .seconds(10), pageSize: Int? = nil) throws {
        var options = DatasyncOptions()
        options.settlingTime = settlingTime
        let url = try #require(URL(string: "https://example.org"))
        remote = try DatasyncRemote(url, .datasync, options, nil, server, now: server.instant)
        self.pageSize = pageSize
    }

    /// Pulls to the end, or as many pages as are given; says how many rows came.
    @discardableResult
    mutating func pull(pages: Int = .max, between: () -> Void = {}) async throws -> Int {
        var position: PullPosition? = .changes(since: cursor)
        var left = pages
        var received = 0
        while let current = position, left > 0 {
            let page = try await remote.page(Query("todo"), of: Self.table, at: current, pageSize: pageSize)
            #expect(page.setAside.isEmpty)
            received += page.records.count
            for record in page.records { versions[record.id.stringValue ?? ""] = record.version }
            if let next = page.cursor { cursor = next }
            position = page.next
            left -= 1
            between()
        }
        return received
    }
}

extension StampServer {
    var versions: [String: String] { with { $0.rows.mapValues { String($0.version) } } }

    var requestCount: Int { with { $0.requests.count } }
}
