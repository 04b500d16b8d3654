import DatasyncEmulator
import OfflineSync
import RemoteContract
import SyncContract
import Synchronization
import Testing

@Suite("Online tables of a server that takes rows out of a page after it has read it")
struct EmptyOnlinePageTests {
    /// A world of 20 rows in pages of 5, some of which nobody is shown.
    private func world(hiding hidden: Range<Int>) throws -> OnlineWorld {
        let ids = Set(hidden.map { "id-\(1_000 + $0)" })
        let world = try OnlineWorld(
            .datasync,
            pageSize: 5,
            answering: SyncWorld.StandIn { request, emulator in
                var response = try await emulator.handle(request)
                guard var page = try JSONValue(parsing: response.body).object, let items = page["items"]?.array else {
                    return response
                }
                page["items"] = .array(items.filter { !ids.contains($0["id"]?.string ?? "") })
                response.body = JSONValue.object(page).encoded
                return response
            }
        )
        try world.seed(20)
        return world
    }

    @Test("bring the rows behind an empty page, by id and in another order", arguments: [0..<5, 5..<10, 3..<14])
    func reading(_ hidden: Range<Int>) async throws {
        let table = try world(hiding: hidden).context.remoteTable("TodoItem")
        let ids = (0..<20).filter { !hidden.contains($0) }.map { RecordID.string("id-\(1_000 + $0)") }
        #expect(try await table.read(table.query).map(\.id) == ids)
        let descending = table.query.ordered(by: "id", .descending)
        #expect(try await table.read(descending).map(\.id) == ids.reversed())
        #expect(try await table.count(table.query) == 20, "the server counts them")
    }

    @Test("hand an empty page out as one of the pages")
    func pages() async throws {
        let table = try world(hiding: 5..<10).context.remoteTable("TodoItem")
        var sizes: [Int] = []
        for try await page in try table.pages(table.query) { sizes.append(page.records.count) }
        #expect(sizes == [5, 0, 5, 5])
    }

    @Test("say on every page how many rows there are in all", arguments: [nil, 7, 30] as [Int?])
    func totals(_ size: Int?) async throws {
        let table = try world(hiding: 5..<10).context.remoteTable("TodoItem")
        for query in [table.query, table.query.ordered(by: "id", .descending), table.query.skipping(2)] {
            var totals: Set<Int?> = []
            for try await page in try table.pages(query, size: size) { totals.insert(page.totalCount) }
            #expect(totals == [20], "\(query)")
        }
    }

    @Test("end with an error when pages without rows follow each other for ever")
    func endless() async throws {
        let requests = Mutex(0)
        let world = try OnlineWorld(
            .datasync,
            answering: SyncWorld.StandIn { _, _ in
                let count = requests.withLock { requests in
                    requests += 1
                    return requests
                }
                return .json(200, ["items": [], "count": 9, "nextLink": .string("$skip=\(count * 10)")])
            }
        )
        let table = try world.context.remoteTable("TodoItem")
        let error = await #expect(throws: RemoteError.self) { try await table.read(table.query) }
        #expect(error?.code == .invalidResponse)
        #expect(requests.withLock { $0 } <= 1_000)
    }

    @Test("end with an error behind an empty page whose link leads nowhere, as pulls do", arguments: ["x", "$skip=0"])
    func noLink(_ link: String) async throws {
        let world = try OnlineWorld(
            .datasync,
            answering: SyncWorld.StandIn { _, _ in
                .json(200, ["items": [], "count": 9, "nextLink": .string(link)])
            }
        )
        let table = try world.context.remoteTable("TodoItem")
        let error = await #expect(throws: RemoteError.self) { try await table.read(table.query) }
        #expect(error?.code == .invalidResponse)
    }
}
