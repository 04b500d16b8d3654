import OfflineSync
import RemoteContract
import SyncContract
import Testing

@Suite("Numbers that JSON cannot express")
struct InfiniteNumberTests {
    @Test("are refused before anything is queued: no push could send them, nor what waits behind them")
    func refused() async throws {
        let definition = TableDefinition("TodoItem", columns: [.init("price", .double)])
        let store = try makeStore(definition)
        let table = try SyncContext(store: store, remote: UnavailableRemote.unreachable).table("TodoItem")
        try await table.insert(["price": 1.5], id: "a")
        for number in [Double.infinity, -.infinity, .nan] {
            let inserting = try await syncErrorCode { try await table.insert(["price": .double(number)], id: "b") }
            let updating = try await syncErrorCode {
                try await table.update(Record(id: "a", ["price": .double(number)]))
            }
            #expect(inserting == .invalidItem && updating == .invalidItem)
        }
        #expect(try await table.read(table.query).records.map(\.id) == ["a"])
        #expect(try await table.read("a")?["price"] == 1.5)
    }
}
