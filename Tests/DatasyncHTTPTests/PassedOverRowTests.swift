import RemoteContract
import SyncContract
import Testing

@testable import DatasyncHTTP

/// 120 rows in pages of 50, on a server that may misbehave.
func makeServerOfPages(
    _ settings: StampServer.Settings = StampServer.Settings(),
    stampDistance: Int64 = 10_000_000
) -> StampServer {
    var settings = settings
    settings.pageSize = 50
    let server = StampServer(settings)
    server.with { state in
        let start = state.now
        for index in 0..<120 { state.write("r\(100 + index)", stamp: start + Int64(index) * stampDistance) }
        state.pass(milliseconds: 600_000)
    }
    return server
}

extension StampServer.Settings {
    /// Rows come as they were written first.
    static let withoutOrder: StampServer.Settings = {
        var settings = StampServer.Settings()
        settings.ignoresOrder = true
        return settings
    }()
}

/// Pulls everything; what came, and the error it ended with.
private func pullEverything(
    _ server: StampServer,
    pageSize: Int? = nil,
    between: (Int) -> Void = { _ in }
) async throws -> (ids: Set<String>, error: RemoteError?) {
    let remote = try Mirror(server).remote
    var ids: Set<String> = []
    var position: PullPosition? = .everything
    var pages = 0
    while let current = position {
        do {
            let page = try await remote.page(Query("todo"), of: Mirror.table, at: current, pageSize: pageSize)
            ids.formUnion(page.records.compactMap(\.id.stringValue))
            position = page.next
        } catch let error as RemoteError {
            return (ids, error)
        }
        pages += 1
        between(pages)
    }
    return (ids, nil)
}

@Suite("A pull of everything that could pass rows over")
struct PassedOverRowTests {
    @Test("ends with an error where the order is not the one that was asked for", arguments: [nil, 50, 20] as [Int?])
    func disorder(_ pageSize: Int?) async throws {
        let server = makeServerOfPages(.withoutOrder)
        // The page ends with the greatest id, and nothing seems to be behind it.
        server.with { $0.rename("r\(99 + (pageSize ?? 50))", to: "z") }
        let (ids, error) = try await pullEverything(server, pageSize: pageSize)
        #expect(ids.count < 120)
        #expect(error?.code == .invalidResponse)
        #expect(error?.message.contains("passes rows over") == true)
    }

    @Test("ends with an error also where nothing is counted, when rows come again", arguments: [nil, 50, 20] as [Int?])
    func uncounted(_ pageSize: Int?) async throws {
        var settings = StampServer.Settings.withoutOrder
        settings.tellsEnd = false
        settings.pageSize = 50
        let server = StampServer(settings)
        server.with { state in
            for index in 0..<120 { state.write("r\(300 - index)") }
            state.pass(milliseconds: 600_000)
        }
        let (ids, error) = try await pullEverything(server, pageSize: pageSize)
        #expect(ids.count < 120)
        #expect(error?.code == .invalidResponse)
        #expect(error?.message.contains("does not order rows by 'id'") == true)
        server.with { $0.settings.ignoresOrder = false }
        #expect(try await pullEverything(server, pageSize: pageSize).ids.count == 120)
    }

    @Test("is not mistaken about rows that leave meanwhile", arguments: [nil, 50, 7] as [Int?])
    func removals(_ pageSize: Int?) async throws {
        let server = makeServerOfPages()
        let (ids, error) = try await pullEverything(server, pageSize: pageSize) { page in
            server.with { state in
                state.rows["r\(150 + page)"] = nil
                state.rows["r\(219 - page)"] = nil
                state.rows["r\(99 + page)"] = nil
            }
        }
        #expect(error == nil)
        #expect(ids.isSuperset(of: server.versions.keys))
    }

    @Test("goes on where rows leave with every request", arguments: [nil, 50, 20] as [Int?])
    func steadyRemovals(_ pageSize: Int?) async throws {
        let server = makeServerOfPages()
        server.with { state in
            state.duringRequest = { state in
                for id in state.rows.keys.sorted().suffix(3) { state.rows[id] = nil }
            }
        }
        let (ids, error) = try await pullEverything(server, pageSize: pageSize)
        #expect(error == nil)
        #expect(ids.isSuperset(of: server.versions.keys))
        #expect(!server.versions.isEmpty)
    }

    @Test("asks for each page once", arguments: [nil, 50, 7] as [Int?])
    func requests(_ pageSize: Int?) async throws {
        let server = makeServerOfPages()
        let (ids, error) = try await pullEverything(server, pageSize: pageSize)
        #expect(ids.count == 120 && error == nil)
        #expect(server.requestCount == (120 + (pageSize ?? 50) - 1) / (pageSize ?? 50))
    }

    @Test("goes on behind pages without rows that are not the last", arguments: [nil, 50, 10] as [Int?])
    func emptyPages(_ pageSize: Int?) async throws {
        let server = makeServerOfPages()
        let hidden = Set((110..<160).map { "r\($0)" } + (100..<110).map { "r\($0)" })
        server.with { $0.hidden = hidden }
        let (ids, error) = try await pullEverything(server, pageSize: pageSize)
        #expect(error == nil)
        #expect(ids == Set(server.versions.keys).subtracting(hidden))
    }
}
